"""Lengths of time in years: "for thirty-two years" against the years that a card gives."""

from collections.abc import Iterator
from dataclasses import dataclass

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.dates import PartialDate, find_dates
from brasstag.tools.manuscript.language.lexicon import STOP_WORDS, stem
from brasstag.tools.manuscript.language.text_words import TextWord
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.text import TextFinding

_OPENERS = frozenset({"from", "since"})
_SHORTEST = 2


@dataclass(frozen=True)
class YearSpan:
    """A time in years that a card gives to some work or state."""

    card: BibleCard
    line: HeaderLine
    stems: frozenset[str]
    first: PartialDate
    last: PartialDate | None


def spans_on(card: BibleCard) -> Iterator[YearSpan]:
    """Yield the times of a card's lines: "district nurse from 1937 to 1969", "harbour master since 1952"."""
    for line in card.lines:
        start = 0
        words = line.value_sentence.words
        for at, word in enumerate(words):
            if word.lower not in _OPENERS:
                continue
            dates = [one for one in find_dates(words) if one.year and one.first > at]
            if not dates:
                continue
            stems = _stems(words[start:at]) or _stems_of_key(line)
            ends = len(dates) > 1 and dates[1].first - dates[0].after <= 2
            yield YearSpan(card, line, stems, dates[0], dates[1] if ends else _end_of(card, words, dates[0]))
            start = dates[1].after if ends else dates[0].after


def _end_of(card: BibleCard, words: list[TextWord], first: PartialDate) -> PartialDate | None:
    """Return when a time ends that lasts "until his death"."""
    if "death" not in {word.lower for word in words[first.after :]}:
        return None
    line = card.line("died", "lost")
    return next(iter(find_dates(line.value_sentence.words)), None) if line is not None else None


def _stems(words: list[TextWord]) -> frozenset[str]:
    return frozenset(
        stem(word.lower) for word in words if word.lower not in STOP_WORDS and word.lower[0].isalpha()
    )


def _stems_of_key(line: HeaderLine) -> frozenset[str]:
    return frozenset(stem(word) for word in line.key.split() if word not in STOP_WORDS)


def wrong_spans(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield numbers of years in prose that a card's years do not give."""
    spans = [span for card in context.story.cards for span in spans_on(card)]
    for passage in context.passages if spans else ():
        if "years" not in passage.sentence.vocabulary:
            continue
        words = passage.sentence.words
        for number in passage.sentence.numbers:
            is_years = number.after < len(words) and words[number.after].lower == "years"
            if not is_years or number.value < _SHORTEST or number.ordinal:
                continue
            if number.after + 1 < len(words) and words[number.after + 1].lower in ("old", "ago", "later"):
                continue
            meant = _meant(passage, spans)
            if meant and not any(number.value in _years(span, passage) for span in meant):
                place = words[number.first]
                quote = passage.sentence.quote(place.start, place.end)
                message = f"{meant[0].card.name}: {number.value} years here do not go with the card."
                yield TextFinding(f"{check}_years", message, "likely", (quote, meant[0].line.quote))


def _meant(passage: StoryPassage, spans: list[YearSpan]) -> list[YearSpan]:
    """Return the times whose words the sentence uses, of a person who may be meant."""
    stems = {stem(word) for word in passage.sentence.vocabulary}
    names = {card.name for card in passage.known}
    return [
        span
        for span in spans
        if span.card.name in names and len(span.stems & stems) >= min(2, len(span.stems))
    ]


def _years(span: YearSpan, passage: StoryPassage) -> range:
    last = span.last.year if span.last is not None else passage.when.year
    if not last:
        return range(0)
    return range(last - span.first.year - 1, last - span.first.year + 2)
