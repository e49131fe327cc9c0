"""One fact that a place states, and how facts of several places are compared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brasstag.tools.manuscript.language.lexicon import AKIN, WOODS
from brasstag.tools.manuscript.text import Confidence, TextFinding, TextQuote

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatedFact:
    """What is said of a card: a key such as ("colour", "eyes"), and the values that were named."""

    key: Key
    subjects: tuple[str, ...]
    """The cards that may be meant; one where it is sure."""
    values: frozenset[str | int]
    quote: TextQuote
    origin: str
    """bible, outline or scene."""
    confidence: Confidence = "likely"

    @property
    def said(self) -> str:
        """The values as a sentence names them."""
        return " or ".join(map(str, sorted(self.values, key=str)))


def compatible(one: frozenset[str | int], other: frozenset[str | int]) -> bool:
    """Say whether two sets of values can both be true."""
    if one & other:
        return True
    if one & WOODS and other & WOODS and "wood" in one | other:
        return True
    return any(frozenset({first, second}) in AKIN for first in one for second in other)


def against_canon(canon: Iterable[StatedFact], stated: Iterable[StatedFact], check: str) -> list[TextFinding]:
    """Report each stated fact that fits none of the cards that may be meant."""
    known: dict[Key, dict[str, list[StatedFact]]] = {}
    for fact in canon:
        for subject in fact.subjects:
            known.setdefault(fact.key, {}).setdefault(subject, []).append(fact)
    found = []
    for fact in stated:
        by_subject = known.get(fact.key, {})
        meant = [subject for subject in fact.subjects if subject in by_subject]
        if not meant or len(meant) < len(fact.subjects):
            continue  # where one that may be meant has no such line, it may be the one
        lines = [line for subject in meant for line in by_subject[subject]]
        if not any(compatible(fact.values, line.values) for line in lines):
            found.append(_contradiction(check, meant, fact, lines))
    return found


def among_themselves(stated: Sequence[StatedFact], check: str) -> list[TextFinding]:
    """Report each fact about one subject that contradicts what most other places say of it."""
    groups: dict[tuple[Key, str], list[StatedFact]] = {}
    for fact in stated:
        if len(fact.subjects) == 1:
            groups.setdefault((fact.key, fact.subjects[0]), []).append(fact)
    found = []
    for (_, subject), facts in groups.items():
        usual = max(facts, key=lambda fact: sum(compatible(fact.values, other.values) for other in facts))
        found += [
            _contradiction(check, [subject], fact, [usual])
            for fact in facts
            if not compatible(fact.values, usual.values)
        ]
    return found


def _contradiction(
    check: str, subjects: Sequence[str], fact: StatedFact, lines: Sequence[StatedFact]
) -> TextFinding:
    about = " ".join(part for part in fact.key if part)
    who = " or ".join(dict.fromkeys(subjects))
    message = f"{who}: {about} is {fact.said} here, but {lines[0].said} there."
    confidence: Confidence = fact.confidence if len(subjects) == 1 else "likely"
    others = list(dict.fromkeys(line.quote for line in lines))[:2]
    return TextFinding(f"{check}_{fact.key[0]}", message, confidence, (fact.quote, *others))
