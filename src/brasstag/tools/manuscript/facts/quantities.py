"""Counts and ordinals with their noun, and intervals such as "every fifteen seconds"."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.stated import StatedFact
from brasstag.tools.manuscript.language.lexicon import (
    MEASURES,
    PEOPLE_NOUNS,
    STOP_WORDS,
    TIME_NOUNS,
    singular,
    stem,
)
from brasstag.tools.manuscript.language.numbers import Number
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.text_words import TextWord
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard

_PART = word_set("last first next other another about nearly almost some top bottom few")
_PART_BEHIND = frozenset(["left", "more", "later", "away", "short", "too"])
_WHOLE = word_set("the all his her their these those its my our counted")
_NOT_COUNTS = ("born", "age", "died", "type", "also called", "when", "work")
_VERBS = word_set("lies shows begins opens happens stands limps costs wants knows leaves has is was")
_MANY = 20
_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class CountedNoun:
    """A number with the noun that it counts."""

    value: int
    noun: str
    total: bool
    """Whether the words say that these are all there are."""
    ordinal: bool
    number: Number


def counted_in(sentence: Sentence) -> Iterator[CountedNoun]:
    """Yield the numbers of a sentence that count something."""
    words = sentence.words
    for number in sentence.numbers:
        noun, at = _noun_behind(sentence, words, number)
        if not noun:
            continue
        before = [word.lower for word in words[max(0, number.first - 3) : number.first]]
        behind = [word.lower for word in words[at + 1 : at + 4]]
        if (before[-1:] and before[-1] in _PART) or (behind[:1] and behind[0] in _PART_BEHIND):
            continue
        if behind[:3] == ["at", "a", "time"]:
            continue
        total = bool(before[-1:]) and before[-1] in _WHOLE
        total = total or before[-2:] in (["there", "were"], ["there", "are"], ["of", "the"], ["crew", "of"])
        yield CountedNoun(number.value, noun, total, number.ordinal, number)


def _noun_behind(sentence: Sentence, words: Sequence[TextWord], number: Number) -> tuple[str, int]:
    """Return the noun that a number counts: the next word, or a plural one or two words later."""
    at = number.after
    for step in range(3):
        if at + step >= len(words):
            break
        word = words[at + step]
        between = sentence.text[words[at + step - 1].end : word.start]
        if between.strip() or word.lower in STOP_WORDS or not word.lower[0].isalpha():
            break
        is_plural = singular(word.lower) != word.lower
        if is_plural or (number.ordinal and step == 0):
            return singular(word.lower), at + step
    return "", at


def quantities_on(card: BibleCard) -> Iterator[StatedFact]:
    """Yield the counts that a card states: with a noun, or by the name of the attribute."""
    for line in card.lines:
        if line.key.startswith(_NOT_COUNTS):
            continue
        sentence = line.value_sentence
        numbers = [number for number in sentence.numbers if not number.ordinal]
        counted = list(counted_in(sentence))
        every = frozenset[str | int](number.value for number in numbers)
        name = singular(line.key.split()[-1])
        if numbers and numbers[0].first == 0 and _counts(line.key.split()[-1]):
            yield StatedFact(("count", name), (card.name,), every, line.quote, "bible", "certain")
        for one in counted:
            if one.noun not in TIME_NOUNS and not one.ordinal:
                yield StatedFact(("count", one.noun), (card.name,), every, line.quote, "bible", "certain")
            if one.ordinal:
                value = frozenset[str | int]({one.value})
                yield StatedFact(("ordinal", one.noun), (card.name,), value, line.quote, "bible")
        yield from _intervals(sentence, (card.name,), "bible")
    heading = Sentence(card.source, 0, card.name, 0, ())
    for one in counted_in(heading):
        if not one.ordinal and one.noun not in TIME_NOUNS:
            value = frozenset[str | int]({one.value})
            yield StatedFact(("count", one.noun), (card.name,), value, card.quote, "bible", "certain")


def _counts(name: str) -> bool:
    """Say whether the name of an attribute is a plural, so that a number behind it counts."""
    return name == "crew" or (
        singular(name) != name and name not in _VERBS and singular(name) not in TIME_NOUNS
    )


def quantities_in(
    passage: StoryPassage, canon: Mapping[tuple[str, ...], Mapping[str, frozenset[str | int]]]
) -> Iterator[StatedFact]:
    """Yield the counts of a passage whose noun a card counts, where they mean the whole."""
    sentence = passage.sentence
    for one in counted_in(sentence):
        key = ("ordinal" if one.ordinal else "count", one.noun)
        by_card = canon.get(key)
        if not by_card:
            continue
        subjects = tuple(_meant(passage, one, by_card))
        known = [int(value) for subject in subjects for value in by_card[subject]]
        if subjects and (one.ordinal or _means_all(one, known)):
            place = sentence.words[one.number.first]
            yield StatedFact(
                key, subjects, frozenset({one.value}), sentence.quote(place.start, place.end), passage.origin
            )
    yield from _of_them(passage, canon)
    every = [card.name for card in passage.known if card.name in canon.get(("interval", "second"), {})]
    for fact in _intervals(sentence, (), passage.origin):
        subjects = tuple(
            name for name in canon.get(fact.key, {}) if name in every or len(canon[fact.key]) == 1
        )
        if subjects:
            yield StatedFact(fact.key, subjects, fact.values, fact.quote, fact.origin)


def _meant(
    passage: StoryPassage, one: CountedNoun, by_card: Mapping[str, frozenset[str | int]]
) -> Iterator[str]:
    """Yield the cards whose things a number may count: named in the scene; for ordinals and measures, close by."""
    close = one.ordinal or (one.noun in MEASURES and not _is_distance(passage, one))
    near = {card.name for card in (passage.cards if close else passage.known)}
    yield from (name for name in by_card if name in near)


def _is_distance(passage: StoryPassage, one: CountedNoun) -> bool:
    """Say whether a measure is how far away something is: "at four miles", "four miles out"."""
    words = [word.lower for word in passage.sentence.words]
    before = words[one.number.first - 1] if one.number.first else ""
    behind = words[one.number.after + 1 : one.number.after + 2]
    return before == "at" or (
        bool(behind) and behind[0] in ("off", "out", "away", "west", "east", "north", "south")
    )


def _means_all(one: CountedNoun, known: Sequence[int]) -> bool:
    """Say whether a number speaks of all there are: it says so, or it is too large to be a part."""
    if one.noun in PEOPLE_NOUNS and not one.total:
        return False
    if one.noun in MEASURES:
        return True
    most = max(known, default=0)
    return one.total or one.value > most or (most >= _MANY and one.value >= most * _SHARE)


def _of_them(
    passage: StoryPassage, canon: Mapping[tuple[str, ...], Mapping[str, frozenset[str | int]]]
) -> Iterator[StatedFact]:
    """Yield "There were eleven of them", where the sentence before names what a card counts."""
    words = passage.sentence.words
    if passage.previous is None or not {"of", "them"} <= passage.sentence.vocabulary:
        return
    for number in passage.sentence.numbers:
        before = [word.lower for word in words[max(0, number.first - 2) : number.first]]
        behind = [word.lower for word in words[number.after : number.after + 2]]
        if before != ["there", "were"] or behind != ["of", "them"]:
            continue
        nouns = [singular(word.lower) for one in passage.before[:2] for word in reversed(one.words)]
        for noun in nouns:
            by_card = canon.get(("count", noun))
            if by_card:
                quote = passage.sentence.quote(words[number.first].start, words[number.first].end)
                subjects = tuple(by_card)
                yield StatedFact(("count", noun), subjects, frozenset({number.value}), quote, passage.origin)
                return


def _intervals(sentence: Sentence, subjects: tuple[str, ...], origin: str) -> Iterator[StatedFact]:
    """Yield "every fifteen seconds" as fifteen, by the unit."""
    words = sentence.words
    for number in sentence.numbers:
        unit = singular(words[number.after].lower) if number.after < len(words) else ""
        if (
            number.first
            and words[number.first - 1].lower == "every"
            and unit in TIME_NOUNS
            and not number.ordinal
        ):
            place = words[number.first]
            yield StatedFact(
                ("interval", unit),
                subjects,
                frozenset({number.value}),
                sentence.quote(place.start, place.end),
                origin,
            )


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that carry meaning."""
    words = (word.strip(".,;:!?()*_\"'“”‘’").removesuffix("'s").lower() for word in text.split())
    return frozenset(stem(word) for word in words if word and word not in STOP_WORDS and word[0].isalpha())
