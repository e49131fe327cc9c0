"""Hours, weekdays and travel times that cards give: when a lamp is lit, when a bus leaves, how long a crossing takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.stated import StatedFact
from brasstag.tools.manuscript.language.clock import clock_times_in, durations_in
from brasstag.tools.manuscript.language.dates import WEEKDAYS
from brasstag.tools.manuscript.language.lexicon import STOP_WORDS, stem
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.text import TextFinding

_HALF_DAY = 720
_REACH = 7
"""So many words lie at most between what happens and its hour."""
_TOLERANCE = 0.2
_RIDES = {
    "bus": "bus", "oar": "oar", "oars": "oar", "rowed": "oar", "row": "oar", "rowing": "oar", "boat": "boat",
    "dinghy": "boat", "ferry": "boat", "foot": "foot", "walk": "foot", "walked": "foot", "train": "train",
    "car": "car", "drive": "car", "drove": "car", "horse": "horse", "rode": "horse", "crossing": "boat",
    "crossed": "boat", "cross": "boat",
}  # fmt: skip
_TRIP = word_set("took takes take trip journey way passage ride sail sailed") | _RIDES.keys()
_EVENT_KEYS = ("when", "type", "note", "age", "born", "died")


def hours_on(card: BibleCard) -> Iterator[StatedFact]:
    """Yield the hours and weekdays that a card gives, by the first word of the attribute that carries meaning."""
    if card.kind == "event":
        return
    for line in card.lines:
        words = [word for word in line.key.split() if word not in STOP_WORDS]
        if not words or line.key.startswith(_EVENT_KEYS):
            continue
        times = frozenset[str | int](time.minutes % _HALF_DAY for time in clock_times_in(line.value_sentence))
        if times:
            yield StatedFact(("hour", stem(words[0])), (card.name,), times, line.quote, "bible")
        days = _weekdays(line)
        if days and len(words) > 1:
            key = ("weekday", " ".join(map(stem, words[:2])))
            yield StatedFact(key, (card.name,), days, line.quote, "bible")


def _weekdays(line: HeaderLine) -> frozenset[str | int]:
    words = (word.lower.removesuffix("s") for word in line.value_sentence.words)
    return frozenset(word for word in words if word in WEEKDAYS)


def hours_in(passage: StoryPassage, canon: Mapping[tuple[str, ...], frozenset[str]]) -> Iterator[StatedFact]:
    """Yield the hours and weekdays that a passage gives to what a card gives them to."""
    stems = _verbs(passage.sentence)
    near = {card.name for card in passage.known}
    for time in clock_times_in(passage.sentence):
        at = next(number for number, word in enumerate(passage.sentence.words) if word.end > time.start)
        around = [*reversed(stems[max(0, at - _REACH) : at]), *stems[at + 1 : at + _REACH]]
        for what in dict.fromkeys(around):
            subjects = tuple(name for name in canon.get(("hour", what), ()) if name in near)
            if subjects:
                quote = passage.sentence.quote(time.start, time.end)
                value = frozenset[str | int]({time.minutes % _HALF_DAY})
                yield StatedFact(("hour", what), subjects, value, quote, passage.origin)
                break
    days = [word for word in passage.sentence.words if word.lower.removesuffix("s") in WEEKDAYS]
    for key, names in canon.items() if days else ():
        if key[0] == "weekday" and set(key[1].split()) <= set(stems):
            value = frozenset[str | int](word.lower.removesuffix("s") for word in days)
            quote = passage.sentence.quote(days[0].start, days[0].end)
            yield StatedFact(key, tuple(names), value, quote, passage.origin)


def _verbs(sentence: Sentence) -> list[str]:
    """Return the stems of a sentence, with "light the lamp" as "lit": a light is a thing, too."""
    words = [word.lower for word in sentence.words]
    objects = ("the lamp", "the light", "the fire", "it")
    return [
        "lit" if word == "light" and " ".join(words[at + 1 : at + 3]).startswith(objects) else stem(word)
        for at, word in enumerate(words)
    ]


@dataclass(frozen=True, slots=True)
class Route:
    """How long it takes between two places, by the ways to travel that a card names."""

    places: frozenset[str]
    options: tuple[tuple[str, int], ...]
    """Each way to travel, empty where none is named, with its minutes."""
    line: HeaderLine


def routes(context: StoryContext) -> list[Route]:
    """Return the routes that cards of places give a time for."""
    found = []
    for card in context.story.cards:
        for line in card.lines:
            sentence = line.sentence()
            durations = durations_in(sentence)
            ends = [one.name for mention in context.names.mentions(sentence) for one in mention.cards]
            ends = [name for name in ends if name != card.name]
            if not durations or not ends or card.kind != "place" or line.key.startswith(_EVENT_KEYS):
                continue
            options = []
            for number, one in enumerate(durations):
                after = durations[number + 1].start if number + 1 < len(durations) else len(sentence.text)
                part = [word.lower for word in sentence.words if one.end <= word.start < after]
                ride = next((_RIDES[word] for word in part if word in _RIDES), "")
                options.append((ride, one.minutes))
            found.append(Route(frozenset({card.name, ends[0]}), tuple(options), line))
    return found


def wrong_travel(context: StoryContext, check: str) -> Iterator[TextFinding]:
    """Yield lengths of a journey in prose that no card allows."""
    known = routes(context)
    for passage in context.passages if known else ():
        durations = durations_in(passage.sentence)
        if not durations or not _is_trip(passage):
            continue
        ride = _ride(passage)
        meant = [route for route in known if _may_mean(passage, route, ride)]
        minutes = [
            length for route in meant for way, length in route.options if not ride or not way or way == ride
        ]
        stated = durations[0]
        if minutes and not any(abs(stated.minutes - one) <= one * _TOLERANCE for one in minutes):
            quote = passage.sentence.quote(stated.start, stated.end)
            ends = " and ".join(sorted(meant[0].places))
            message = (
                f"The journey between {ends} takes {stated.minutes} minutes here, {minutes[0]} on the card."
            )
            yield TextFinding(f"{check}_travel", message, "likely", (quote, meant[0].line.quote))


def _is_trip(passage: StoryPassage) -> bool:
    """Say whether a length of time is that of a journey: by a verb, or by "forty minutes to" a place."""
    sentence = passage.sentence
    first = durations_in(sentence)[0]
    behind = sentence.text[first.end : first.end + 4]
    if behind.startswith(" to ") and any(card.kind == "place" for card in passage.cards):
        return True
    words = sentence.vocabulary
    if first.start == 0 and passage.previous is not None:
        words |= passage.previous.vocabulary
    took = {"took", "takes"} & words and _ride(passage)
    return bool(took) or (bool(words & (_TRIP - {"took", "takes", "way", "take"})) and bool(_ride(passage)))


def _ride(passage: StoryPassage) -> str:
    sentences = [passage.sentence, *passage.before[:1]]
    return next((_RIDES[word.lower] for one in sentences for word in one.words if word.lower in _RIDES), "")


def _may_mean(passage: StoryPassage, route: Route, ride: str) -> bool:
    named = {card.name for card in passage.cards} & route.places
    if named:
        return True
    near = {card.name for card in passage.known}
    return bool(ride) and any(way == ride for way, _ in route.options) and bool(near & route.places)
