"""Ages: what prose says of them, and what birth dates and cards allow."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.dates import PartialDate
from brasstag.tools.manuscript.language.numbers import Number
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.text import TextFinding, TextQuote

_OLDEST = 115
_COPULAS = frozenset(["was", "is", "turned", "turns", "be"])
_ADVERBS = frozenset(["perhaps", "only", "just", "now", "already", "barely", "still"])
_MAY_FOLLOW = word_set("and when now that this but then in years")


@dataclass(frozen=True, slots=True)
class StatedAge:
    """An age that a sentence gives to a person; several persons where a pronoun may mean each."""

    persons: tuple[BibleCard, ...]
    value: int
    quote: TextQuote


def stated_ages(passage: StoryPassage) -> Iterator[StatedAge]:
    """Yield the ages that a passage states."""
    sentence = passage.sentence
    words = sentence.words
    for number in sentence.numbers:
        if number.ordinal or not 0 < number.value <= _OLDEST:
            continue
        persons = _whose(passage, number)
        if persons:
            place = words[number.first]
            yield StatedAge(tuple(persons), number.value, sentence.quote(place.start, place.end))


def _whose(passage: StoryPassage, number: Number) -> list[BibleCard]:
    """Return whose age a number is, or nothing where it is no age."""
    words = passage.sentence.words
    before = [word.lower for word in words[: number.first]]
    behind = [word.lower for word in words[number.after : number.after + 2]]
    if before[-1:] == ["aged"] or behind == ["years", "old"]:
        return _subject(passage, _copula(before)) or _nearest(passage, number.first)
    at = _copula(before)
    if at >= 0 and _ends(passage.sentence, number, behind):
        return _subject(passage, at)
    return _between_commas(passage, number)


def _copula(before: Sequence[str]) -> int:
    """Return where the verb before a number stands; -1 where there is none."""
    at = len(before) - 1
    while at >= 0 and before[at] in _ADVERBS:
        at -= 1
    return at if at > 0 and before[at] in _COPULAS else -1


def _ends(sentence: Sentence, number: Number, behind: Sequence[str]) -> bool:
    """Say whether nothing is counted: the number ends the clause."""
    text = sentence.text[sentence.words[number.after - 1].end :].lstrip()
    return not behind or text[:1] in tuple(',.;!?—–"”') or behind[0] in _MAY_FOLLOW - {"years"}


def _subject(passage: StoryPassage, copula: int) -> list[BibleCard]:
    if copula <= 0:
        return []
    lower = passage.sentence.words[copula - 1].lower
    if lower in ("he", "she"):
        return (
            passage.persons(lower)
            if not passage.sentence.is_spoken(passage.sentence.words[copula].start)
            else []
        )
    return [
        card
        for mention in passage.mentions
        if mention.after == copula
        for card in mention.cards
        if card.kind == "character"
    ]


def _nearest(passage: StoryPassage, at: int) -> list[BibleCard]:
    before = [mention for mention in passage.mentions if mention.after <= at]
    return [card for card in before[-1].cards if card.kind == "character"] if before else []


def _between_commas(passage: StoryPassage, number: Number) -> list[BibleCard]:
    """Return the person of "Tormod Lie, 61, …"."""
    text, words = passage.sentence.text, passage.sentence.words
    if text[words[number.after - 1].end :][:1] != "," or not number.first:
        return []
    if text[words[number.first - 1].end : words[number.first].start].strip() != ",":
        return []
    return [
        card
        for mention in passage.mentions
        if mention.after == number.first and not mention.possessive
        for card in mention.cards
        if card.kind == "character"
    ]


def born(card: BibleCard) -> PartialDate | None:
    """Return when a person was born, where the card says at least the year."""
    line = card.line("born", "birth", "date of birth", "birthday")
    found = line.value_sentence.dates if line is not None else []
    return next((one for one in found if one.year), None)


def ages_at(birth: PartialDate, when: PartialDate) -> set[int]:
    """Return the ages that a person may have at a time, as exactly as both dates are known."""
    if not when.year:
        return set()
    years = when.year - birth.year
    if birth.month and when.month:
        if when.month != birth.month:
            return {years - (when.month < birth.month)}
        if birth.day and when.day:
            return {years - (when.day < birth.day)}
    return {years - 1, years}


def allowed_ages(card: BibleCard, whens: Iterable[PartialDate]) -> set[int]:
    """Return the ages that a card allows: its own numbers, and those that its birth date gives for some dates."""
    allowed = {
        number.value
        for line in card.lines
        if line.key.startswith("age")
        for number in line.value_sentence.numbers
    }
    birth = born(card)
    if birth is None:
        return allowed
    own = [one for line in card.lines if line.key != "born" for one in line.value_sentence.dates]
    for when in (*whens, *own):
        allowed |= ages_at(birth, when)
    return allowed


def wrong_ages(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield the ages in prose that fit none of the persons who may be meant."""
    for passage in context.passages:
        for stated in stated_ages(passage):
            nearby = [one for sentence in (passage.sentence, *passage.before) for one in sentence.dates]
            allowed = [allowed_ages(card, [passage.when, *nearby]) for card in stated.persons]
            if all(allowed) and not any(stated.value in ages for ages in allowed):
                person = stated.persons[0]
                line = person.line("born", "age") or person.lines[0]
                message = f"{person.name} is {stated.value} here; the card allows {_listed(allowed[0])}."
                yield TextFinding(f"{check}_age", message, "likely", (stated.quote, line.quote))


def wrong_ages_on_cards(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield the cards whose age does not go with their birth date."""
    whens = [context.when(scene) for scene in context.story.scenes]
    whens = [when for when in whens if when.year] or ([PartialDate(context.year)] if context.year else [])
    for card in context.story.cards:
        birth, line = born(card), card.line("born", "birth", "date of birth", "birthday")
        if birth is None or line is None:
            continue
        for age in card.lines:
            if not age.key.startswith("age"):
                continue
            stated = next((number.value for number in age.value_sentence.numbers), None)
            at = whens if age.key == "age" else _dates_for(card, age)
            allowed = {value for when in at for value in ages_at(birth, when)}
            if stated is not None and allowed and stated not in allowed:
                message = (
                    f"{card.name}: {age.name} says {stated}, but the birth date gives {_listed(allowed)}."
                )
                yield TextFinding(f"{check}_age", message, "certain", (age.quote, line.quote))


def _dates_for(card: BibleCard, age: HeaderLine) -> list[PartialDate]:
    """Return the dates that an attribute such as "Age when lost" speaks of."""
    words = age.key.replace("death", "died").split()
    return [one for line in card.lines if line.key in words for one in line.value_sentence.dates if one.year]


def _listed(ages: set[int]) -> str:
    return " or ".join(map(str, sorted(ages)))
