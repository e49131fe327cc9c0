"""Dates that nearly agree with a card: the right day in a wrong year, a start or a countdown on another day."""

from collections.abc import Iterator
from datetime import timedelta

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.quantities import stems_of
from brasstag.tools.manuscript.language.dates import PartialDate
from brasstag.tools.manuscript.language.lexicon import stem
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.text import TextFinding, TextQuote
from brasstag.tools.manuscript.times.spans import YearSpan, spans_on

_MOST = 1000
"""Days or weeks of a countdown; what is longer is no date."""
_NEAR_YEARS = 3
_STARTS = frozenset(map(stem, ("started", "began", "begun")))
_DAYS = {"day": (1, 1), "days": (1, 1), "week": (7, 3), "weeks": (7, 3)}
"""Units of a countdown: days of one, and by how many days it may be off."""


def nearly_right_dates(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield dates whose day and month a card has, with another year, in a sentence on the same matter."""
    known: dict[tuple[int, int], list[tuple[PartialDate, HeaderLine, frozenset[str]]]] = {}
    exact = set()
    for card in context.story.cards:
        for line in card.lines:
            for one in line.value_sentence.dates:
                if one.year and one.month and one.day:
                    about = stems_of(f"{card.name} {line.value}")
                    known.setdefault((one.month, one.day), []).append((one, line, about))
                    exact.add((one.year, one.month, one.day))
    for passage in context.passages if known else ():
        for one in passage.sentence.dates:
            if not one.year or (one.year, one.month, one.day) in exact:
                continue
            stems = passage.sentence.stems
            for date, line, about in known.get((one.month, one.day), ()):
                if abs(date.year - one.year) <= _NEAR_YEARS and about & stems:
                    quote = passage.sentence.quote(passage.sentence.words[one.first].start)
                    message = f"The date is {one} here, but {date} on the card."
                    yield TextFinding(f"{check}_date", message, "likely", (quote, line.quote))
                    break


def wrong_starts(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield "started on the first of June" where the person's card has another day for it."""
    spans = [span for card in context.story.cards for span in spans_on(card) if span.first.month]
    for passage in context.passages if spans else ():
        words = passage.sentence.words
        at = next((number for number, word in enumerate(words) if stem(word.lower) in _STARTS), None)
        dates = [
            one for one in passage.sentence.dates if at is not None and one.month and 0 < one.first - at <= 5
        ]
        meant = [span for span in spans if dates and _speaks_of(passage, span)]
        if meant and all(dates[0].contradicts(span.first) for span in meant):
            quote = passage.sentence.quote(words[dates[0].first].start)
            message = f"{meant[0].card.name} starts on {dates[0]} here, on {meant[0].first} on the card."
            yield TextFinding(f"{check}_date", message, "likely", (quote, meant[0].line.quote))


def _speaks_of(passage: StoryPassage, span: YearSpan) -> bool:
    people = {card.name for card in passage.setting.people}
    return span.card.name in people and bool(span.stems & passage.sentence.stems)


def wrong_countdowns(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield "the service is in two weeks" where the event's date is not so far away."""
    events = [
        (stems_of(card.name), line, day)
        for card in context.story.cards
        if card.kind == "event" and (line := card.line("when", "date")) is not None
        if (day := context.date_of(line).exact) is not None
    ]
    counts: dict[str, int] = {}
    for stems, _, _ in events:
        for one in stems:
            counts[one] = counts.get(one, 0) + 1
    names = stems_of(" ".join(card.name for card in context.story.cards if card.kind != "event"))
    for passage in context.passages if events else ():
        here = passage.when.exact
        words = [word.lower for word in passage.sentence.words]
        for number in passage.sentence.numbers if here is not None else ():
            unit = words[number.after] if number.after < len(words) else ""
            if (
                unit not in _DAYS
                or number.value > _MOST
                or number.ordinal
                or words[max(0, number.first - 1)] != "in"
                or here is None
            ):
                continue
            length, slack = _DAYS[unit]
            then = here + timedelta(days=number.value * length)
            rare = {one for one in passage.sentence.stems if counts.get(one) == 1 and one not in names}
            for about, line, day in events:
                if about & rare and abs((day - then).days) > slack and day > here:
                    quote = passage.sentence.quote(passage.sentence.words[number.first].start)
                    message = f"Counted from the scene this is {then}, but the event is on {day}."
                    evidence = (quote, line.quote, *_scene_date(passage))
                    yield TextFinding(f"{check}_date", message, "likely", evidence)


def _scene_date(passage: StoryPassage) -> list[TextQuote]:
    line = passage.scene.field("when", "date") if passage.scene is not None else None
    return [line.quote] if line is not None else []


def half_right_years(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield "the first in 1945 and the last in 1953" where a card named in the scene has one of the years, not the other."""
    pairs = []
    for card in context.story.cards:
        for line in card.lines:
            years = [one.year for one in line.value_sentence.dates if one.year and not one.month]
            if len(years) == 2:
                pairs.append((card, line, years[0], years[1]))
    for passage in context.passages if pairs else ():
        said = [one for one in passage.sentence.dates if one.year and not one.month]
        if len(said) != 2:
            continue
        start, end = said[0].year, said[1].year
        if any((start, end) == (first, last) for _, _, first, last in pairs):
            continue
        named = {card.name for card in (*passage.known, *passage.setting.people)}
        for card, line, first, last in pairs:
            about = stems_of(f"{card.name} {line.key}") & passage.sentence.stems
            if (start == first) != (end == last) and (card.name in named or about):
                wrong = said[1] if start == first else said[0]
                quote = passage.sentence.quote(passage.sentence.words[wrong.first].start)
                message = f"The years are {start} and {end} here, {first} and {last} on the card {card.name}."
                yield TextFinding(f"{check}_date", message, "likely", (quote, line.quote))
                break


def wrong_to_the_day(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield "four weeks to the day" where no date of the scene or of an event is that far away."""
    events = {
        context.date_of(card.line("when", "date")).exact
        for card in context.story.cards
        if card.kind == "event"
    }
    for passages in context.by_scene.values():
        here = passages[0].when.exact
        told = {
            one.in_year(passages[0].when.year).exact for passage in passages for one in passage.sentence.dates
        }
        for passage in passages if here is not None else ():
            words = [word.lower for word in passage.sentence.words]
            for number in passage.sentence.numbers:
                unit, *rest = [*words[number.after : number.after + 4], ""]
                if unit not in _DAYS or rest[:3] != ["to", "the", "day"] or number.value > _MOST:
                    continue
                days = timedelta(days=number.value * _DAYS[unit][0])
                if here is not None and not {here + days, here - days} & (told | events):
                    quote = passage.sentence.quote(passage.sentence.words[number.first].start)
                    message = f"No date that is named lies exactly {days.days} days from the scene."
                    yield TextFinding(f"{check}_date", message, "likely", (quote, *_scene_date(passage)))


def cards_that_disagree(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield events whose day is not the day that the card of the person or thing gives for the same."""
    for event in context.story.cards:
        when = event.line("when", "date") if event.kind == "event" else None
        if when is None:
            continue
        day, stems = context.date_of(when), stems_of(event.name)
        for card in context.story.cards:
            if card.kind == "event" or not stems_of(card.name) & stems or not stems_of(card.name) <= stems:
                continue
            for line in card.lines:
                dates = line.value_sentence.dates
                if (
                    stem(line.key.split()[0]) in stems
                    and dates
                    and all(day.contradicts(one) for one in dates)
                ):
                    message = f"{event.name}: {day} here, {dates[0]} on the card {card.name}."
                    yield TextFinding(f"{check}_date", message, "certain", (when.quote, line.quote))
