"""How much words stand out in a text, as marks that Postgres can look up.

BM25 goes by how often a word is in a text and by how long the text is. A mark holds both, coarsely: of very many texts with
a word, those where it stands out most are found by their marks, best first, without looking at the others.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import product

K1, B = 1.2, 0.75
"""What FTS5 scores with: how soon more of the same word counts less, and how much the length of a text matters."""

LABEL_WEIGHT = 4
"""What a word in a path, a description or a tag weighs; one in a body weighs 1."""

SHORT = 64
"""Words of a text in which a word stands out that is there but once; in a longer one it takes two."""

_STEPS_IN_DOUBLE = 4
_MOST_OFTEN, _LONGEST = 1 << 10, 1 << 22


def _bounds(steps_in_double: int, most: int) -> tuple[int, ...]:
    steps = range(steps_in_double * most.bit_length())
    return tuple(dict.fromkeys(round(2 ** (step / steps_in_double)) for step in steps))


FREQUENCIES, LENGTHS = _bounds(4, _MOST_OFTEN), _bounds(2, _LONGEST)
"""Where the classes of frequencies and of lengths begin."""


def marks(frequencies: Iterable[tuple[str, int]], length: int) -> list[str]:
    """Return the marks of those words that stand out in a text of this length."""
    long = bisect_right(LENGTHS, length)
    least = 1 if length <= SHORT else 2
    return [
        f"{word} {bisect_right(FREQUENCIES, frequency)} {long}"
        for word, frequency in frequencies
        if frequency >= least
    ]


def tiers(word: str, average: float) -> list[list[str]]:
    """Return every mark of a word, in groups: first those of texts that BM25 scores best by it."""
    found: dict[int, list[str]] = defaultdict(list)
    for (often, frequency), (long, length) in product(_middles(FREQUENCIES), _middles(LENGTHS)):
        # No text is long enough for the others; the middles are not quite where its own numbers are.
        if frequency <= 2 * LABEL_WEIGHT * length:
            rises = math.log2(frequency / (1 - B + B * length / average))
            found[math.floor(rises * _STEPS_IN_DOUBLE)].append(f"{word} {often} {long}")
    return [found[tier] for tier in sorted(found, reverse=True)]


def _middles(bounds: tuple[int, ...]) -> list[tuple[int, float]]:
    ends = (*(after - 1 for after in bounds[1:]), bounds[-1])
    return [
        (number, math.sqrt(start * end))
        for number, (start, end) in enumerate(zip(bounds, ends, strict=True), start=1)
    ]
