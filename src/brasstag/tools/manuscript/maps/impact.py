"""scene_impact_analyzer: what a scene introduces or changes, and which later scenes mention it."""

from collections.abc import Iterator
from typing import Any

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.gather import StoryFacts
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.scenes import StoryScene
from brasstag.tools.manuscript.text import TextQuote

_CHANGES = word_set(
    "found lost broke broken burned cut died gave took opened closed locked promised told learned sold stole hid left"
)


def impact(facts: StoryFacts, scene: StoryScene, most: int) -> dict[str, Any]:
    """Return what is new or changed in a scene, each with the later places that speak of it."""
    context = facts.context
    here = context.by_scene.get(scene.path, [])
    later = [other for other in context.story.scenes if other.order > scene.order]
    introduced = [
        _effect(context, name, quote, "introduced", later, most)
        for name, quote in _first_named(context, scene)
    ]
    changed = [_effect(context, name, quote, "changed", later, most) for name, quote in _changed(here)]
    stated = [_fact(facts, fact_key, quote, later, most) for fact_key, quote in _stated(facts, scene)]
    return {
        "scene": scene.path,
        "effects": [*introduced, *changed, *stated],
        "later_scenes": [other.path for other in later],
    }


def _first_named(context: StoryContext, scene: StoryScene) -> Iterator[tuple[str, TextQuote]]:
    """Yield the cards that no earlier scene names."""
    before: set[str] = set()
    for other in context.story.scenes:
        if other.order < scene.order:
            for passage in context.by_scene.get(other.path, ()):
                before.update(card.name for card in passage.cards)
    for passage in context.by_scene.get(scene.path, ()):
        for mention in passage.mentions:
            card = mention.cards[0]
            if card.name not in before:
                before.add(card.name)
                word = passage.sentence.words[mention.first]
                yield card.name, passage.sentence.quote(word.start, word.end)


def _changed(here: list[StoryPassage]) -> Iterator[tuple[str, TextQuote]]:
    """Yield the objects and persons to which something happens in a sentence of the scene."""
    seen = set()
    for passage in here:
        verbs = [word for word in passage.sentence.words if word.lower in _CHANGES]
        for card in passage.cards if verbs else ():
            if card.kind in ("object", "character") and (card.name, verbs[0].lower) not in seen:
                seen.add((card.name, verbs[0].lower))
                yield card.name, passage.sentence.quote(verbs[0].start, verbs[0].end)


def _effect(
    context: StoryContext, name: str, quote: TextQuote, kind: str, later: list[StoryScene], most: int
) -> dict[str, Any]:
    places = []
    for other in later:
        for passage in context.by_scene.get(other.path, ()):
            mention = next((one for one in passage.mentions if one.cards[0].name == name), None)
            if mention is not None:
                word = passage.sentence.words[mention.first]
                places.append(passage.sentence.quote(word.start, word.end))
    return _described(name, kind, quote, places, most)


def _stated(facts: StoryFacts, scene: StoryScene) -> Iterator[tuple[tuple[str, ...], TextQuote]]:
    seen = set()
    for fact in facts.stated:
        if fact.quote.path == scene.path and (fact.key, fact.subjects) not in seen:
            seen.add((fact.key, fact.subjects))
            yield fact.key, fact.quote


def _fact(
    facts: StoryFacts, key: tuple[str, ...], quote: TextQuote, later: list[StoryScene], most: int
) -> dict[str, Any]:
    paths = {other.path for other in later}
    places = [fact.quote for fact in facts.stated if fact.key == key and fact.quote.path in paths]
    return _described(" ".join(part for part in key if part), "fact", quote, places, most)


def _described(name: str, kind: str, quote: TextQuote, places: list[TextQuote], most: int) -> dict[str, Any]:
    return {
        "what": name,
        "kind": kind,
        "evidence": [quote.as_json()],
        "mentioned_in": sorted({place.path for place in places}),
        "mention_count": len(places),
        "mentions": [place.as_json() for place in places[:most]],
    }
