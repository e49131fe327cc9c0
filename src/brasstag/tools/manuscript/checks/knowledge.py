"""Objects before they are found, and secrets in the mind of a person who cannot know them yet."""

from collections.abc import Iterator
from datetime import date

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.quantities import stems_of
from brasstag.tools.manuscript.language.lexicon import stem
from brasstag.tools.manuscript.parts.beats import StoryBeat
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.parts.headers import HeaderLine
from brasstag.tools.manuscript.text import TextFinding, TextQuote

_FINDS = frozenset(map(stem, ["finds", "discovers", "finding", "learns", "discovered"]))


def objects_too_early(context: StoryContext) -> Iterator[TextFinding]:
    """Yield mentions of an object in a scene before the one in which it is found."""
    first: dict[str, tuple[date | None, tuple[int, str] | None, TextQuote]] = {}
    for card in context.story.cards:
        line = card.line("found", "discovered", "learned", "revealed")
        dates = [one.exact for one in line.value_sentence.dates] if line is not None else []
        if line is not None and dates and dates[0] is not None and card.kind == "object":
            first[card.name] = (dates[0], None, line.quote)
    for beat in context.story.beats:
        for card in _found_in(context, beat):
            scene = next((one for name in beat.scene_files if (one := context.story.scene_named(name))), None)
            if card.name not in first and scene is not None:
                first[card.name] = (None, scene.order, beat.quote)
    for passage in context.passages if first else ():
        if passage.scene is None:
            continue
        day = passage.when.exact
        for mention in passage.mentions:
            found, order, quote = first.get(mention.cards[0].name, (None, None, None))
            early = (found and day and day < found) or (order and passage.scene.order < order)
            if (
                early
                and quote is not None
                and _is_full_name(passage, mention.cards[0], mention.first, mention.after)
            ):
                word = passage.sentence.words[mention.first]
                here = passage.sentence.quote(word.start, word.end)
                message = f"{mention.cards[0].name} is mentioned here before it is found."
                yield TextFinding("canon_knowledge", message, "likely", (here, quote))


def _is_full_name(passage: StoryPassage, card: BibleCard, first: int, after: int) -> bool:
    """Say whether an object is named so that no other is meant."""
    said = " ".join(word.lower for word in passage.sentence.words[first:after])
    return said in (name.lower().removeprefix("the ") for name in card.names) and after - first > 1


def _found_in(context: StoryContext, beat: StoryBeat) -> Iterator[BibleCard]:
    """Yield the objects that a beat says are found in it."""
    for passage in context.by_beat[beat]:
        words = [stem(word.lower) for word in passage.sentence.words]
        at = next((number for number, word in enumerate(words) if word in _FINDS), len(words))
        for mention in passage.mentions:
            if mention.first > at and mention.cards[0].kind == "object":
                yield mention.cards[0]


def knowledge_too_early(context: StoryContext) -> Iterator[TextFinding]:
    """Yield sentences that give away what a card says only one person knows, in a scene seen by another."""
    for card in context.story.cards:
        for line in card.lines:
            keeper = _only_knower(context, line)
            if keeper is None:
                continue
            secret = _secret(context, card, line)
            for passage in context.passages:
                if passage.scene is None or passage.pov in (None, keeper):
                    continue
                stems = passage.sentence.stems
                about = stems & stems_of(" ".join(card.names))
                if about and stems & secret:
                    message = f"Only {keeper.name} knows this, by the card {card.name}."
                    yield TextFinding(
                        "canon_knowledge", message, "likely", (passage.sentence.quote(), line.quote)
                    )


def _only_knower(context: StoryContext, line: HeaderLine) -> BibleCard | None:
    """Return who alone knows what a line says: "only Tormod Lie knows that", "Known to: Tormod Lie"."""
    sentence = line.sentence()
    words = [word.lower for word in sentence.words]
    persons = [one for one in context.names.mentions(sentence) if one.cards[0].kind == "character"]
    for mention in persons:
        only = mention.first > 0 and words[mention.first - 1] == "only"
        if only and words[mention.after : mention.after + 1] in (["knows"], ["knew"]):
            return mention.cards[0]
    if line.key in ("known to", "known only to", "known by") and len(persons) == 1:
        return persons[0].cards[0]
    return None


def _secret(context: StoryContext, card: BibleCard, line: HeaderLine) -> frozenset[str]:
    """Return the stems of a line that no name has: those of the card itself and of places are no secret."""
    names = stems_of(" ".join(name for other in context.story.cards for name in other.names))
    return frozenset(
        stems_of(line.value) - names - stems_of(card.name) - stems_of("only knows that kept behind")
    )
