"""scene_draft_validator: a scene against its beat, and against the card of the person who sees it."""

from collections.abc import Iterator

from brasstag.tools.manuscript.checks.point_of_view import point_of_view_slips
from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.facts.stated import among_themselves
from brasstag.tools.manuscript.language.clock import PARTS_OF_DAY
from brasstag.tools.manuscript.parts.beats import StoryBeat
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.text import TextFinding, unique

_PLACE = ("place", "where", "location")


def scene_findings(facts: StoryFacts, scene: StoryScene) -> list[TextFinding]:
    """Return what contradicts the beat of a scene, its head, or its point of view."""
    context = facts.context
    found = list(point_of_view_slips(context, scene))
    for beat in context.story.beats_of(scene):
        found += [
            *_pov(context, scene, beat),
            *_place(context, scene, beat),
            *_when(context, scene, beat),
            *_persons(context, scene, beat),
            *_facts(facts, scene, beat),
        ]
    return unique([*found, *_unknown_pov(context, scene)])


def _pov(context: StoryContext, scene: StoryScene, beat: StoryBeat) -> Iterator[TextFinding]:
    written, planned = scene.field("pov"), beat.field("pov")
    if written is None or planned is None:
        return
    one, other = (
        context.card_named(written.value, "character"),
        context.card_named(planned.value, "character"),
    )
    same = one is other if one is not None and other is not None else _alike(written.value, planned.value)
    if not same:
        message = f"The scene is seen by {written.value}, the beat says {planned.value}."
        yield TextFinding("scene_pov", message, "certain", (written.quote, planned.quote))


def _place(context: StoryContext, scene: StoryScene, beat: StoryBeat) -> Iterator[TextFinding]:
    written, planned = scene.field(*_PLACE), beat.field(*_PLACE)
    if written is None or planned is None:
        return
    one, other = context.card_named(written.value, "place"), context.card_named(planned.value, "place")
    same = one is other if one is not None and other is not None else _alike(written.value, planned.value)
    if not same:
        message = f"The scene is at {written.value}, the beat says {planned.value}."
        yield TextFinding("scene_place", message, "certain", (written.quote, planned.quote))


def _when(context: StoryContext, scene: StoryScene, beat: StoryBeat) -> Iterator[TextFinding]:
    written, planned = scene.field("when", "date"), beat.field("when", "date")
    if written is None or planned is None:
        return
    one, other = context.date_of(written), context.date_of(planned)
    weekday = one.weekday is not None and other.weekday is not None and one.weekday != other.weekday
    if one.contradicts(other) or weekday or not _same_part_of_day(written, planned):
        message = f"The scene is dated {written.value}, the beat says {planned.value}."
        yield TextFinding("scene_when", message, "certain", (written.quote, planned.quote))


def _same_part_of_day(written: HeaderLine, planned: HeaderLine) -> bool:
    hours = [
        [PARTS_OF_DAY[word.lower] for word in line.value_sentence.words if word.lower in PARTS_OF_DAY]
        for line in (written, planned)
    ]
    if not all(hours):
        return True
    (first, until), (other, end) = hours[0][0], hours[1][0]
    return first < end and other < until


def _persons(context: StoryContext, scene: StoryScene, beat: StoryBeat) -> Iterator[TextFinding]:
    """Yield the persons whom the beat has act, but whom the scene never names."""
    named = {
        card.name
        for passage in context.by_scene.get(scene.path, ())
        for mention in passage.mentions
        for card in mention.cards
    }
    pov = context.pov_of(scene)
    if scene not in context.story.judged or not named:
        return
    for passage in context.by_beat[beat]:
        opening = passage.mentions[0] if passage.mentions else None
        if opening is None or opening.first > 1 or len(opening.cards) > 1 or opening.possessive:
            continue
        card = opening.cards[0]
        if card.kind == "character" and card.name not in named and card is not pov:
            message = f"The beat has {card.name} act, but the scene never names {card.name}."
            yield TextFinding(
                "scene_person_missing", message, "likely", (scene.quote, passage.sentence.quote())
            )


def _facts(facts: StoryFacts, scene: StoryScene, beat: StoryBeat) -> Iterator[TextFinding]:
    """Yield facts of the scene that the text of the beat states otherwise."""
    planned = [
        fact
        for fact in facts.stated
        if fact.origin == "outline" and fact.quote.line >= beat.quote.line and fact.quote.path == beat.source.path
        and fact.quote.line <= beat.quote.line + beat.text.count(" ") // 8 + 2
    ]  # fmt: skip
    written = [fact for fact in facts.stated if fact.origin == "scene" and fact.quote.path == scene.path]
    keys = {(fact.key, fact.subjects) for fact in planned}
    yield from among_themselves(
        [*planned, *(fact for fact in written if (fact.key, fact.subjects) in keys)], "scene"
    )


def _unknown_pov(context: StoryContext, scene: StoryScene) -> Iterator[TextFinding]:
    """Yield a point of view that has no card, where the bible has cards of persons."""
    line = scene.field("pov")
    persons = [card for card in context.story.cards if card.kind == "character"]
    if line is not None and persons and context.card_named(line.value, "character") is None:
        message = f"The scene is seen by {line.value}, who has no card."
        yield TextFinding("scene_pov_without_card", message, "likely", (line.quote,))


def _alike(one: str, other: str) -> bool:
    """Say whether two values name the same, one perhaps with more words."""
    first, second = (set(text.lower().replace("the ", "").split()) for text in (one, other))
    return first <= second or second <= first
