"""All facts of a story: what its cards state, and what its sentences state about the same things."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.directions import directions_in, directions_on
from brasstag.tools.manuscript.facts.looks import looks_in, looks_on
from brasstag.tools.manuscript.facts.quantities import quantities_in, quantities_on
from brasstag.tools.manuscript.facts.relatives import relatives_in, relatives_on
from brasstag.tools.manuscript.facts.sides import sides_in, sides_on
from brasstag.tools.manuscript.facts.stated import Key, StatedFact
from brasstag.tools.manuscript.times.schedules import hours_in, hours_on


@dataclass(frozen=True)
class StoryFacts:
    """The facts of one story; each is found once, when a check first asks for it."""

    context: StoryContext

    @cached_property
    def canon(self) -> list[StatedFact]:
        """What the cards state."""
        found: list[StatedFact] = []
        for card in self.context.story.cards:
            if not card.kind:
                continue
            for of_card in (looks_on, sides_on, quantities_on, hours_on, directions_on):
                found += of_card(card)
            found += relatives_on(self.context, card)
        return found

    @cached_property
    def values(self) -> dict[Key, dict[str, frozenset[str | int]]]:
        """What the cards state, by key and card."""
        found: dict[Key, dict[str, frozenset[str | int]]] = {}
        for fact in self.canon:
            by_card = found.setdefault(fact.key, {})
            for name in fact.subjects:
                by_card[name] = by_card.get(name, frozenset()) | fact.values
        return found

    @cached_property
    def having(self) -> dict[Key, frozenset[str]]:
        """Which cards state something, by key."""
        return {key: frozenset(by_card) for key, by_card in self.values.items()}

    @cached_property
    def stated(self) -> list[StatedFact]:
        """What the scenes and beats state."""
        return list(self._stated())

    def _stated(self) -> Iterator[StatedFact]:
        for passage in self.context.passages:
            if not passage.sentence.words:
                continue
            yield from looks_in(passage, self.having)
            yield from sides_in(passage, self.having)
            yield from quantities_in(passage, self.values)
            yield from hours_in(passage, self.having)
            yield from directions_in(passage, self.having)
            yield from relatives_in(passage)
