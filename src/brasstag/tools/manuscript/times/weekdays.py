"""Weekdays: against the date beside them, and against the date of the scene."""

import calendar
from collections.abc import Iterator
from datetime import date, timedelta

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.quantities import stems_of
from brasstag.tools.manuscript.language.dates import PartialDate
from brasstag.tools.manuscript.language.sentences import Sentence, sentences_in
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.text import TextFinding

_DAYS_BACK = 7
_PARTS_OF_DAY = frozenset(["morning", "noon", "afternoon", "evening", "night"])
_OTHER_DAY = word_set("had would next last since until every each before after will")
_NEIGHBOURS = {"yesterday": -1, "tomorrow": 1, "today": 0, "tonight": 0}


def wrong_weekdays(context: StoryContext) -> Iterator[TextFinding]:
    """Yield dates whose weekday is not the calendar's, and dates that no calendar has."""
    for scene in context.story.scenes:
        year = context.when(scene).year or context.year
        for sentence in (*(line.sentence() for line in scene.fields), *scene.sentences):
            for one in sentence.dates:
                yield from _wrong(sentence, one, year)
    for text in (*context.story.bible, *context.story.outlines):
        for sentence in sentences_in(text):
            for one in sentence.dates:
                yield from _wrong(sentence, one, context.year)


def _wrong(sentence: Sentence, one: PartialDate, year: int) -> Iterator[TextFinding]:
    quote = sentence.quote(sentence.words[one.first].start, sentence.words[one.after - 1].end)
    if one.is_impossible:
        yield TextFinding("timeline_no_such_day", f"There is no {one}.", "certain", (quote,))
        return
    day = one.in_year(year).exact if year or one.year else None
    if day is not None and one.weekday is not None and day.weekday() != one.weekday:
        right, said = calendar.day_name[day.weekday()], calendar.day_name[one.weekday]
        message = f"{one.in_year(year)} is a {right}, not a {said}."
        yield TextFinding("timeline_weekday", message, "certain" if one.year else "likely", (quote,))


def wrong_scene_weekdays(context: StoryContext) -> Iterator[TextFinding]:
    """Yield weekdays in prose that the date of the scene, or of a scene it looks back to, contradicts."""
    days = {scene.path: day for scene in context.story.scenes if (day := context.day(scene)) is not None}
    for passage in context.passages:
        scene = passage.scene
        if scene is None or scene.path not in days:
            continue
        for one in passage.sentence.dates:
            if one.weekday is not None and not one.month:
                yield from _of_scene(passage, scene, one, days[scene.path])
                yield from _of_earlier(context, passage, scene, one, days)
        yield from _neighbours(passage, scene, days[scene.path])


def _of_scene(passage: StoryPassage, scene: StoryScene, one: PartialDate, day: date) -> Iterator[TextFinding]:
    """Yield "that Thursday" and "By Friday evening" at the beginning of a scene on another day."""
    words = passage.sentence.words
    lowers = [word.lower for word in words]
    spoken = passage.sentence.is_spoken(words[one.first].start)
    if spoken or passage.sentence.paragraph > 1 or not _OTHER_DAY.isdisjoint(lowers):
        return
    before = lowers[max(0, one.first - 2) : one.first]
    behind = lowers[one.after : one.after + 1]
    here = before[-1:] in (["that"], ["this"]) or before[-2:] in (["it", "was"], ["was", "a"])
    here = here or (bool(behind) and behind[0] in _PARTS_OF_DAY and before[-1:] in (["by"], ["on"], []))
    line = scene.field("when", "date")
    if here and line is not None and one.weekday is not None and day.weekday() != one.weekday:
        quote = passage.sentence.quote(words[one.first].start, words[one.first].end)
        message = (
            f"The scene is on a {calendar.day_name[day.weekday()]}, not a {calendar.day_name[one.weekday]}."
        )
        yield TextFinding("timeline_scene_weekday", message, "likely", (quote, line.quote))


def _of_earlier(
    context: StoryContext, passage: StoryPassage, scene: StoryScene, one: PartialDate, days: dict[str, date]
) -> Iterator[TextFinding]:
    """Yield a weekday given to what happened in a scene of the last days, by its title or its place."""
    words = passage.sentence.words
    on = one.first > 0 and words[one.first - 1].lower == "on"
    here = days[scene.path]
    stems = passage.sentence.stems
    if not on or not {"had", "read", "told", "went", "was", "saw", "came"} & passage.sentence.vocabulary:
        return
    told = [
        other
        for other in context.story.scenes
        if other.path in days and 0 < (here - days[other.path]).days <= _DAYS_BACK and _is_about(other, stems)
    ]
    if told and one.weekday not in {days[other.path].weekday() for other in told}:
        line = told[-1].field("when", "date")
        quote = passage.sentence.quote(words[one.first].start, words[one.first].end)
        right = calendar.day_name[days[told[-1].path].weekday()]
        message = f"{told[-1].name} was on a {right}, not on the day that is named here."
        if line is not None:
            yield TextFinding("timeline_scene_weekday", message, "likely", (quote, line.quote))


def _is_about(scene: StoryScene, stems: frozenset[str]) -> bool:
    title = stems_of(scene.title)
    return bool(title) and title <= stems


def _neighbours(passage: StoryPassage, scene: StoryScene, day: date) -> Iterator[TextFinding]:
    """Yield "tomorrow is Friday" and "today, the fourth of October" where the calendar says otherwise."""
    words = [word.lower for word in passage.sentence.words]
    line = scene.field("when", "date")
    for one in passage.sentence.dates:
        before = words[max(0, one.first - 3) : one.first]
        named = next((word for word in reversed(before) if word in _NEIGHBOURS), None)
        if named is None or line is None:
            continue
        meant = day + timedelta(days=_NEIGHBOURS[named])
        said = one.in_year(meant.year).exact if one.day else None
        wrong_day = said is not None and said != meant
        if wrong_day or (one.weekday is not None and not one.month and one.weekday != meant.weekday()):
            quote = passage.sentence.quote(passage.sentence.words[one.first].start)
            message = (
                f"Seen from the day of the scene, {named} is {calendar.day_name[meant.weekday()]}, {meant}."
            )
            yield TextFinding("timeline_scene_weekday", message, "likely", (quote, line.quote))
