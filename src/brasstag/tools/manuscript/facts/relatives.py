"""Who is whose father, sister or wife."""

from collections.abc import Iterator

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.facts.stated import StatedFact
from brasstag.tools.manuscript.language.lexicon import RELATIONS
from brasstag.tools.manuscript.parts.cards import BibleCard

_ONE_ONLY = frozenset({"father", "mother", "husband", "wife"})


def relatives_on(context: StoryContext, card: BibleCard) -> Iterator[StatedFact]:
    """Yield the relatives that a card names."""
    for line in card.lines:
        relation = line.key.split()[-1]
        other = context.card_named(line.value, "character") if relation in RELATIONS else None
        if other is not None:
            key = ("relation", other.name)
            yield StatedFact(key, (card.name,), frozenset({relation}), line.quote, "bible")
            if relation in _ONE_ONLY:
                yield StatedFact((relation,), (card.name,), frozenset({other.name}), line.quote, "bible")


def relatives_in(passage: StoryPassage) -> Iterator[StatedFact]:
    """Yield "her father Aksel" and "Aksel, her father"."""
    words = passage.sentence.words
    for at, word in enumerate(words):
        if word.lower not in RELATIONS or not at:
            continue
        others = [
            mention.cards[0]
            for mention in passage.mentions
            if len(mention.cards) == 1 and (mention.first == at + 1 or mention.after == at - 1)
        ]
        owners = passage.owners(at)
        if len(others) == 1 and owners and others[0] not in owners:
            quote = passage.sentence.quote(word.start, word.end)
            subjects = tuple(card.name for card in owners)
            key = ("relation", others[0].name)
            yield StatedFact(key, subjects, frozenset({word.lower}), quote, passage.origin)
            if word.lower in _ONE_ONLY:
                yield StatedFact((word.lower,), subjects, frozenset({others[0].name}), quote, passage.origin)
