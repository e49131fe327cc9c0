"""Dates of events: what a card says of birth, death, loss and the like, against what prose says."""

from collections.abc import Iterator

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.quantities import stems_of
from brasstag.tools.manuscript.language.dates import PartialDate
from brasstag.tools.manuscript.language.lexicon import stem
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.text import TextFinding, TextQuote

_BIRTH = stem("born")
_SPECIFIC = frozenset(map(stem, ("built", "launched", "founded", "married", "sank", "wrecked")))
"""What happens to few things; so a scene that has named one of them need not name it again."""
_NOT_EVENTS = ("when", "type", "note", "work", "limps", "age")


def _dated_lines(card: BibleCard) -> Iterator[tuple[str, HeaderLine, list[PartialDate]]]:
    """Yield the lines of a card that date something, each with the stem of what happened."""
    for line in card.lines:
        dates = [one for one in line.value_sentence.dates if one.year or one.month]
        if dates and not line.key.startswith(_NOT_EVENTS):
            yield stem(line.key.split()[0]), line, dates


def wrong_dates(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield dates in prose that contradict the date of the same event on a card."""
    known: dict[str, list[tuple[BibleCard, HeaderLine, list[PartialDate]]]] = {}
    for card in context.story.cards:
        for what, line, dates in _dated_lines(card):
            known.setdefault(what, []).append((card, line, dates))
    named = [(stems_of(card.name), card) for card in context.story.cards if _names_a_card(context, card)]
    for passage in context.passages:
        said = [one for one in passage.sentence.dates if one.month or one.year]
        if said:
            yield from _of_attributes(passage, said, known, check)
        weekdays = [one for one in passage.sentence.dates if one.weekday is not None or one.day]
        if weekdays:
            yield from _of_events(context, passage, weekdays, named, check)


def _names_a_card(context: StoryContext, event: BibleCard) -> bool:
    """Say whether the name of an event holds a name: words such as "the order" alone may speak of anything."""
    heading = Sentence(event.source, event.heading[0], event.name, 0, ())
    mentioned = [card for mention in context.names.mentions(heading) for card in mention.cards]
    return event.kind == "event" and any(card.name != event.name for card in mentioned)


def _of_attributes(
    passage: StoryPassage,
    said: list[PartialDate],
    known: dict[str, list[tuple[BibleCard, HeaderLine, list[PartialDate]]]],
    check: str,
) -> Iterator[TextFinding]:
    words = passage.sentence.words
    for at, word in enumerate(words):
        lines = known.get(stem(word.lower))
        if not lines:
            continue
        meant = _meant(passage, at, word.lower, lines)
        near = [one for one in said if one.first > at and one.first - at <= 6]
        if not meant or not near:
            continue
        if all(one.contradicts(date) for one in near for _, _, dates in meant for date in dates):
            card, line, dates = meant[0]
            quote = _quote(passage, near[0])
            message = f"{card.name}: {line.name.lower()} {near[0]} here, but {dates[0]} on the card."
            yield TextFinding(f"{check}_date", message, "likely", (quote, line.quote))
            return


def _meant(
    passage: StoryPassage, at: int, word: str, lines: list[tuple[BibleCard, HeaderLine, list[PartialDate]]]
) -> list[tuple[BibleCard, HeaderLine, list[PartialDate]]]:
    """Return the lines that a verb may speak of: of its subject, where that is a person, else of what is in play."""
    if stem(word) == _BIRTH or word == "died":
        owners = {card.name for card in passage.owners(at)}
        meant = [one for one in lines if one[0].name in owners]
        return meant if len(meant) == len(owners) else []
    names = {card.name for card in (passage.known if stem(word) in _SPECIFIC else passage.in_play)}
    return [one for one in lines if one[0].name in names]


def _of_events(
    context: StoryContext,
    passage: StoryPassage,
    said: list[PartialDate],
    named: list[tuple[frozenset[str], BibleCard]],
    check: str,
) -> Iterator[TextFinding]:
    """Yield dates and weekdays of a sentence that names an event, but gives it another day."""
    stems = passage.sentence.stems
    for name, card in named:
        when = context.date_of(card.line("when", "date"))
        if len(name) < 2 or not name <= stems or not when.day:
            continue
        line = card.line("when", "date")
        weekday = when.exact.weekday() if when.exact else when.weekday
        wrong = [
            one
            for one in said
            if (one.day and one.in_year(when.year).contradicts(when))
            or (not one.day and one.weekday is not None and one.weekday != weekday)
        ]
        if len(wrong) == len(said) and line is not None:
            message = f"{card.name}: the day here is not the day on the card, {when}."
            yield TextFinding(f"{check}_date", message, "likely", (_quote(passage, wrong[0]), line.quote))


def _quote(passage: StoryPassage, one: PartialDate) -> TextQuote:
    words = passage.sentence.words
    return passage.sentence.quote(words[one.first].start, words[one.after - 1].end)
