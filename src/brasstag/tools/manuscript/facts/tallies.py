"""Numbers without a noun that a person has counted: "her legs knew the ninety-three"."""

from collections.abc import Iterator

from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.stated import StatedFact
from brasstag.tools.manuscript.language.lexicon import STOP_WORDS, stem
from brasstag.tools.manuscript.language.numbers import Number
from brasstag.tools.manuscript.text import TextFinding

_COUNTS = stem("counted")
_FEWEST = 12
_NEAR = 0.35
"""A number is taken for a slip of a card's number where it differs by no more than this share of it."""


def wrong_tallies(facts: StoryFacts, check: str) -> Iterator[TextFinding]:
    """Yield counted numbers that no card has, next to one that a card has."""
    known = [fact for fact in facts.canon if fact.key[0] in ("count", "interval")]
    allowed = {value for fact in known for value in fact.values}
    for passage in facts.context.passages if known else ():
        if passage.scene is None or not _is_counted(passage):
            continue
        for number in passage.sentence.numbers:
            if (
                number.ordinal
                or number.value < _FEWEST
                or number.value in allowed
                or not _is_bare(passage, number)
            ):
                continue
            near = _nearest(known, number.value)
            if near is not None:
                place = passage.sentence.words[number.first]
                quote = passage.sentence.quote(place.start, place.end)
                message = f"{number.value} are counted here, {near.said} on the card {near.subjects[0]}."
                yield TextFinding(f"{check}_count", message, "likely", (quote, near.quote))


def _is_counted(passage: StoryPassage) -> bool:
    sentences = (passage.sentence, *passage.before[:1])
    return any(_COUNTS in sentence.stems for sentence in sentences)


def _is_bare(passage: StoryPassage, number: Number) -> bool:
    """Say whether nothing that is counted stands behind a number; "counted to fifty" is no tally."""
    words = passage.sentence.words
    if (
        number.first > 1
        and words[number.first - 1].lower == "to"
        and stem(words[number.first - 2].lower) == _COUNTS
    ):
        return False
    if number.after >= len(words):
        return True
    between = passage.sentence.text[words[number.after - 1].end : words[number.after].start].strip()
    return bool(between) or words[number.after].lower in STOP_WORDS - {"of"}


def _nearest(known: list[StatedFact], value: int) -> StatedFact | None:
    able = [
        (abs(int(one) - value), fact)
        for fact in known
        for one in fact.values
        if int(one) >= _FEWEST and abs(int(one) - value) <= int(one) * _NEAR
    ]
    return min(able, key=lambda one: one[0], default=(0, None))[1]
