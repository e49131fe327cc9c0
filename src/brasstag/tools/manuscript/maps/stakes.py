"""stakes_mapper: who wants what, what it costs, and where each is stated."""

from collections.abc import Iterator
from typing import Any

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.facts.passages import StoryPassage
from brasstag.tools.manuscript.language.word_lists import word_set
from brasstag.tools.manuscript.parts.cards import BibleCard
from brasstag.tools.manuscript.text import TextQuote

_WANTS = ("wants", "want", "goal", "goals", "desire", "needs", "hopes")
_COSTS = ("it costs", "costs", "cost", "stakes", "at stake", "risks", "fears", "price")
_WANT_VERBS = word_set("wanted wants needed needs hoped hopes longed longs wished wishes meant")
_COST_WORDS = word_set("lose loses lost cost costs risk risks price pay")


def stakes(context: StoryContext, most: int) -> dict[str, Any]:
    """Return for each person what they want and what it costs, each with its place; at most so many places each."""
    wants, costs = _in_prose(context)
    people = []
    for card in context.story.cards:
        if card.kind != "character":
            continue
        wanted = [*_lines(card, _WANTS), *wants.get(card.name, [])]
        priced = [*_lines(card, _COSTS), *costs.get(card.name, [])]
        people.append(
            {
                "person": card.name,
                "wants": [quote.as_json() for quote in wanted[:most]],
                "costs": [quote.as_json() for quote in priced[:most]],
            }
        )
    cut = any(len(found) > most for table in (wants, costs) for found in table.values())
    return {
        "people": people,
        "without_want": [one["person"] for one in people if not one["wants"]],
        "without_cost": [one["person"] for one in people if one["wants"] and not one["costs"]],
        "more": cut,
    }


def _lines(card: BibleCard, names: tuple[str, ...]) -> list[TextQuote]:
    return [line.quote for line in card.lines if line.key in names]


def _in_prose(context: StoryContext) -> tuple[dict[str, list[TextQuote]], dict[str, list[TextQuote]]]:
    wants: dict[str, list[TextQuote]] = {}
    costs: dict[str, list[TextQuote]] = {}
    for passage in context.passages:
        for name, quote in _stated(passage, _WANT_VERBS):
            wants.setdefault(name, []).append(quote)
        if "if" in passage.sentence.vocabulary:
            for name, quote in _stated(passage, _COST_WORDS):
                costs.setdefault(name, []).append(quote)
    return wants, costs


def _stated(passage: StoryPassage, verbs: frozenset[str]) -> Iterator[tuple[str, TextQuote]]:
    """Yield who does one of these verbs, where it is sure who is meant."""
    if passage.sentence.vocabulary.isdisjoint(verbs):
        return
    words = passage.sentence.words
    for at, word in enumerate(words):
        if word.lower not in verbs or not at:
            continue
        named = [mention.cards for mention in passage.mentions if mention.after == at]
        persons = list(named[0]) if named else []
        if not persons and words[at - 1].lower in ("he", "she"):
            persons = passage.persons(words[at - 1].lower)
        if len(persons) == 1 and persons[0].kind == "character":
            yield persons[0].name, passage.sentence.quote(word.start, word.end)
            return
