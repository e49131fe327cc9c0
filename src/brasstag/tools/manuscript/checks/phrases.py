"""Phrases that return in another place with another side, colour or material."""

from collections.abc import Iterator

from brasstag.tools.manuscript.facts.context import StoryContext
from brasstag.tools.manuscript.language.lexicon import COLOURS, DIRECTIONS, MATERIALS, SIDES, STOP_WORDS
from brasstag.tools.manuscript.text import TextFinding, TextQuote

_SLOTS = dict.fromkeys(SIDES, "side") | dict.fromkeys(DIRECTIONS, "direction")
_SLOTS |= dict.fromkeys((*COLOURS, *MATERIALS), "look")
_LENGTH = 3


def changed_phrases(context: StoryContext) -> Iterator[TextFinding]:
    """Yield phrases of three words with two that carry meaning, where only the side, direction or look differs."""
    seen: dict[tuple[str, ...], tuple[str, TextQuote]] = {}
    for passage in context.passages:
        words = passage.sentence.words
        for at in range(len(words) - _LENGTH + 1):
            window = words[at : at + _LENGTH]
            slots = [number for number, word in enumerate(window) if word.lower in _SLOTS]
            if len(slots) != 1 or sum(word.lower in STOP_WORDS for word in window) > 0:
                continue
            if passage.sentence.text[window[0].start : window[-1].end].count(",") > 0:
                continue
            key = tuple(
                _SLOTS[word.lower] if number == slots[0] else word.lower for number, word in enumerate(window)
            )
            value = window[slots[0]].lower
            quote = passage.sentence.quote(window[0].start, window[-1].end)
            first = seen.setdefault((str(slots[0]), *key), (value, quote))
            if first[0] != value:
                message = f"The same phrase has {value} here and {first[0]} there."
                yield TextFinding("consistency_phrase", message, "likely", (quote, first[1]))
