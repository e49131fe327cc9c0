"""Objects that are lost or destroyed in one place and used in a later one."""

from collections.abc import Iterator
from dataclasses import dataclass

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.looks import head_nouns
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.lexicon import STOP_WORDS, singular, stem
from brasstag.tools.manuscript.language.word_lists import word_list, word_set
from brasstag.tools.manuscript.text import TextFinding, TextQuote

_GONE = frozenset(["burned", "burnt", "destroyed", "smashed", "shattered", "sank", "drowned"])
_GONE_WITH = {
    "threw": ("overboard", "sea", "fire", "stove", "water", "away"),
    "tossed": ("overboard", "sea", "fire", "stove", "water", "away"),
    "flung": ("overboard", "sea", "fire", "stove", "water", "away"),
    "left": ("behind",),
    "dropped": ("overboard", "sea", "water", "fire", "stove", "well"),
    "lost": ("overboard", "sea", "water", "storm"),
    "put": ("fire", "stove", "flames"),
    "fell": ("overboard", "sea", "water"),
}
_USES = word_set(
    "took opened read used wore held put unlocked wound turned drew pulled unfolded lit handed laid"
    " carried locked slipped checked"
)
_BACK = frozenset(
    map(stem, word_list("found returned recovered fished replaced copy another new other again back"))
)
_DETERMINERS = frozenset(["the", "his", "her", "their", "this", "that"])
_OWNED = frozenset(["his", "her", "their"])


@dataclass(frozen=True)
class Loss:
    """An object that a sentence says is gone."""

    noun: str
    owner: str
    passage: StoryPassage
    quote: TextQuote
    place: tuple[tuple[int, str], int]


def lost_and_used(context: StoryContext) -> Iterator[TextFinding]:
    """Yield uses of an object after the sentence in which it is gone, with no sentence between that brings it back."""
    told = [passage for passage in context.passages if passage.scene is not None]
    carded = {noun for card in context.story.cards if card.kind == "object" for noun in head_nouns(card)}
    losses: dict[str, Loss] = {}
    for passage in told:
        words = passage.sentence.words
        lowers = [word.lower for word in words]
        if losses:
            yield from _uses(passage, lowers, losses, carded)
        for at, lower in enumerate(lowers):
            if passage.sentence.is_spoken(words[at].start) or _is_unreal(lowers, at):
                continue
            if lower in _GONE or any(word in lowers[at:] for word in _GONE_WITH.get(lower, ())):
                loss = _loss(passage, lowers, at)
                if loss is not None:
                    losses[loss.noun] = loss


def _is_unreal(lowers: list[str], at: int) -> bool:
    return not {"not", "never", "almost", "would", "could", "if", "nearly", "had", "have", "to"}.isdisjoint(
        lowers[max(0, at - 4) : at]
    )


def _loss(passage: StoryPassage, lowers: list[str], at: int) -> Loss | None:
    """Return what is gone: the noun behind the verb, with "the" or a possessive before it."""
    for number in range(at + 1, min(at + 3, len(lowers))):
        if lowers[number] in _DETERMINERS:
            noun_at = number + 1
            while (
                noun_at + 1 < len(lowers) and noun_at < number + 3 and lowers[noun_at + 1] not in STOP_WORDS
            ):
                noun_at += 1
            if noun_at >= len(lowers) or lowers[noun_at] in STOP_WORDS or passage.scene is None:
                return None
            noun = singular(lowers[noun_at])
            word = passage.sentence.words[at]
            place = (passage.scene.order, passage.sentence.start)
            quote = passage.sentence.quote(word.start, word.end)
            return Loss(noun, lowers[number], passage, quote, place)
    return None


def _uses(
    passage: StoryPassage, lowers: list[str], losses: dict[str, Loss], carded: set[str]
) -> Iterator[TextFinding]:
    stems = {stem(word) for word in lowers}
    for at, lower in enumerate(lowers):
        loss = losses.get(singular(lower))
        if loss is None or at == 0:
            continue
        if stems & _BACK:
            del losses[loss.noun]
            continue
        before = lowers[max(0, at - 4) : at]
        used = loss.noun in carded or any(word in _USES for word in lowers[max(0, at - 7) : at])
        used = used and any(word in _DETERMINERS for word in before)
        if (
            used
            and not _is_unreal(lowers, at)
            and not passage.sentence.is_spoken(passage.sentence.words[at].start)
        ):
            quote = passage.sentence.quote(passage.sentence.words[at].start)
            message = f"The {loss.noun} is used here, but it is gone before."
            yield TextFinding("consistency_object", message, "likely", (quote, loss.quote))
            del losses[loss.noun]
