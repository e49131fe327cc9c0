"""timeline_validator: weekdays against dates, the order of scenes, relative times, ages and travel."""

import itertools
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.language.clock import clock_times_in
from brasstag.tools.manuscript.language.sentences import Sentence
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.text import TextFinding, unique
from brasstag.tools.manuscript.times.ages import wrong_ages, wrong_ages_on_cards
from brasstag.tools.manuscript.times.events import wrong_dates
from brasstag.tools.manuscript.times.near_dates import (
    cards_that_disagree,
    half_right_years,
    nearly_right_dates,
    wrong_countdowns,
    wrong_starts,
    wrong_to_the_day,
)
from brasstag.tools.manuscript.times.schedules import routes, wrong_travel
from brasstag.tools.manuscript.times.spans import wrong_spans
from brasstag.tools.manuscript.times.weekdays import wrong_scene_weekdays, wrong_weekdays

_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7}
_MOST = 1000
_NEXT = frozenset({"next", "following"})
_PARTS = frozenset(["day", "morning", "evening", "afternoon", "night"])


def timeline_findings(context: StoryContext) -> list[TextFinding]:
    """Return every contradiction in time."""
    return unique(
        [
            *wrong_weekdays(context),
            *wrong_scene_weekdays(context),
            *_order(context),
            *_relative(context),
            *_journeys(context),
            *wrong_ages(context, "timeline"),
            *wrong_ages_on_cards(context, "timeline"),
            *wrong_dates(context, "timeline"),
            *wrong_travel(context, "timeline"),
            *wrong_spans(context, "timeline"),
            *nearly_right_dates(context, "timeline"),
            *wrong_starts(context, "timeline"),
            *wrong_countdowns(context, "timeline"),
            *half_right_years(context, "timeline"),
            *wrong_to_the_day(context, "timeline"),
            *cards_that_disagree(context, "timeline"),
        ]
    )


def timeline_events(context: StoryContext) -> list[dict[str, Any]]:
    """Return the dated events of a story in order: of the cards, the beats and the scenes."""
    found = []
    for card in context.story.cards:
        line = card.line("when", "date") if card.kind == "event" else None
        if line is not None:
            found.append(("event", card.name, context.date_of(line), line.quote))
    for beat in context.story.beats:
        line = beat.field("when", "date")
        if line is not None:
            found.append(("beat", beat.title or str(beat.number), context.date_of(line), line.quote))
    for scene in context.story.scenes:
        line = scene.field("when", "date")
        if line is not None:
            found.append(("scene", scene.name, context.date_of(line), line.quote))
    found.sort(key=lambda one: (one[2].year, one[2].month, one[2].day))
    return [
        {"kind": kind, "what": what, "date": str(when), "evidence": [quote.as_json()]}
        for kind, what, when, quote in found
    ]


def _dated(context: StoryContext) -> list[tuple[StoryScene, date]]:
    return [(scene, day) for scene in context.story.scenes if (day := context.day(scene)) is not None]


def _order(context: StoryContext) -> Iterator[TextFinding]:
    """Yield scenes dated before the scene in front of them; a scene or beat that says so may look back."""
    dated = _dated(context)
    for (before, earlier), (scene, day) in itertools.pairwise(dated):
        if day < earlier and not _looks_back(context, scene):
            lines = [one.field("when", "date") for one in (scene, before)]
            quotes = tuple(line.quote for line in lines if line is not None) or (scene.quote, before.quote)
            message = f"{scene.name} is on {day}, before {before.name} on {earlier}."
            yield TextFinding("timeline_order", message, "likely", quotes)
    beats = [(beat, context.date_of(beat.field("when", "date")).exact) for beat in context.story.beats]
    for (one, first), (other, second) in itertools.pairwise(beats):
        if first and second and second < first:
            lines = [beat.field("when", "date") for beat in (other, one)]
            message = f"Beat {other.number} is on {second}, before beat {one.number} on {first}."
            quotes = tuple(line.quote for line in lines if line is not None)
            yield TextFinding("timeline_order", message, "likely", quotes)


def _looks_back(context: StoryContext, scene: StoryScene) -> bool:
    texts = [scene.title, *(f"{beat.title} {beat.text}" for beat in context.story.beats_of(scene))]
    line = scene.field("when", "date")
    texts.append(line.value if line is not None else "")
    words = {word.strip(".,:;()").lower() for text in texts for word in text.split()}
    return bool(words & {"flashback", "earlier", "memory", "past", "before", "remembers"})


def _relative(context: StoryContext) -> Iterator[TextFinding]:
    """Yield scenes that begin "two days later" where the dates are not two days apart."""
    dated = _dated(context)
    for (before, earlier), (scene, day) in itertools.pairwise(dated):
        if scene not in context.story.judged:
            continue
        for sentence in scene.sentences[:2]:
            gap = _gap(sentence)
            if gap is not None and earlier + timedelta(days=gap) != day:
                lines = [one.field("when", "date") for one in (scene, before)]
                quotes = tuple(line.quote for line in lines if line is not None)
                apart = (day - earlier).days
                message = (
                    f"{scene.name} begins {gap} days after {before.name}, but the dates are {apart} apart."
                )
                yield TextFinding("timeline_gap", message, "likely", (sentence.quote(), *quotes))


def _gap(sentence: Sentence) -> int | None:
    """Return how many days later a sentence says that it is; None where it does not."""
    words = [word.lower for word in sentence.words]
    if words[:1] == ["the"] and words[1:2] and words[1] in _NEXT and words[2:3] and words[2] in _PARTS:
        return 1
    for number in sentence.numbers:
        behind = words[number.after : number.after + 2]
        if (
            number.first <= 1
            and number.value <= _MOST
            and len(behind) == 2
            and behind[0] in _UNITS
            and behind[1] in ("later", "after")
        ):
            return number.value * _UNITS[behind[0]]
    return None


def _journeys(context: StoryContext) -> Iterator[TextFinding]:
    """Yield two scenes of one person on one day, too close in time for the way between their places."""
    known = routes(context)
    dated = _dated(context)
    for (before, earlier), (scene, day) in itertools.pairwise(dated):
        places = [context.place_of(one) for one in (before, scene)]
        if day != earlier or None in places or context.pov_of(before) is not context.pov_of(scene):
            continue
        names = frozenset(place.name for place in places if place is not None)
        minutes = _minutes_between(before, scene)
        needed = [length for route in known if route.places == names for _, length in route.options]
        if minutes is None or not needed or minutes >= min(needed):
            continue
        lines = [one.field("when") for one in (scene, before)]
        quotes = [line.quote for line in lines if line is not None]
        quotes += [route.line.quote for route in known if route.places == names][:1]
        message = f"The way takes {min(needed)} minutes, but only {minutes} lie between the scenes."
        yield TextFinding("timeline_travel", message, "likely", tuple(quotes))


def _minutes_between(before: StoryScene, scene: StoryScene) -> int | None:
    times: list[int] = []
    for one in (before, scene):
        line = one.field("when")
        found: Sequence[int] = (
            [time.minutes for time in clock_times_in(line.value_sentence)] if line is not None else []
        )
        if not found:
            return None
        times.append(found[0])
    return times[1] - times[0] if times[1] >= times[0] else None
