"""Vectors: what Postgres indexes of a text, made of our own lexemes, with marks for the words that stand out.

A tsvector is at most a megabyte, and it counts positions to 16,383 and the places of a lexeme to 256. A text whose places
do not fit is kept a second time, as its lexemes in order, for phrases to be found in; one with more lexemes than
fit is indexed as far as they go, and the caller is told.

BM25 goes by how often a word is in a text and by how long the text is. A mark holds both, coarsely: of very many texts with
a word, those where it stands out most are found by their marks, best first, without looking at the others.
"""

import hashlib
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from brasstag.store.fulltext.lexemes import lexemes_of

PATH, WORDS, BODY = "A", "B", ""
"""What each part of a text is marked with."""

LONGEST_KEY = 200
"""Characters; a longer lexeme is known by its beginning and its digest, for no server indexes any length."""

MOST_PLACES = 255
LAST_POSITION = 16_382

_MOST_BYTES = 900_000
_BYTES_OF_A_LEXEME = 8
_BYTES_OF_A_PLACE = 2
_BETWEEN_PARTS = "\n"
_LABELS = PATH + WORDS


@dataclass(frozen=True, slots=True)
class Vector:
    """A text as Postgres indexes it."""

    lexemes: str
    """The tsvector, written out."""
    length: int
    """How many words the text has, as far as it is indexed."""
    in_order: str
    """The lexemes in order, where the tsvector does not know all their places; otherwise empty."""
    standing: list[str]
    """The marks of words that stand out."""
    is_whole: bool


def vector_of(path: str, words: str, body: str) -> Vector:
    """Return what is indexed of a document."""
    loom = _Loom()
    for text, mark in ((path, PATH), (words, WORDS), (body, BODY)):
        loom.weave([key_of(lexeme) for lexeme in lexemes_of(text)], mark)
    return loom.vector()


def key_of(lexeme: str) -> str:
    """Return what a lexeme is known by in a vector."""
    if len(lexeme) <= LONGEST_KEY:
        return lexeme
    return lexeme[:LONGEST_KEY] + hashlib.sha256(lexeme.encode()).hexdigest()


class _Loom:
    """A vector in the making."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._parts: list[Sequence[str]] = []
        self._position = 0
        self._bytes = 0
        self._has_every_place = True
        self._is_whole = True

    def weave(self, lexemes: Sequence[str], mark: str) -> None:
        """Add the next part of a text; a phrase never reaches from one part into the next."""
        self._position += 1
        woven = next(
            (count for count, lexeme in enumerate(lexemes) if not self._add(lexeme, mark)), len(lexemes)
        )
        self._is_whole = self._is_whole and woven == len(lexemes)
        self._parts.append(lexemes[:woven])

    def vector(self) -> Vector:
        """Return the finished vector."""
        written = " ".join(f"'{lexeme}':{','.join(places)}" for lexeme, places in self._places.items())
        length = sum(len(part) for part in self._parts)
        in_order = "" if self._has_every_place else _BETWEEN_PARTS.join(map(spelled, self._parts))
        standing = marks(((lexeme, _weighed(places)) for lexeme, places in self._places.items()), length)
        return Vector(written, length, in_order, standing, self._is_whole)

    def _add(self, lexeme: str, mark: str) -> bool:
        self._position += 1
        places = self._places.get(lexeme)
        if places is None:
            self._bytes += len(lexeme.encode()) + _BYTES_OF_A_LEXEME
            if self._bytes > _MOST_BYTES:
                return False
            places = self._places[lexeme] = []
        if len(places) >= MOST_PLACES or self._position > LAST_POSITION:
            self._has_every_place = False
        if len(places) < MOST_PLACES and (self._position <= LAST_POSITION or not places):
            self._bytes += _BYTES_OF_A_PLACE
            places.append(f"{min(self._position, LAST_POSITION + 1)}{mark}")
        return True


def _weighed(places: Sequence[str]) -> int:
    return sum(LABEL_WEIGHT if place[-1] in _LABELS else 1 for place in places)


def spelled(lexemes: Sequence[str]) -> str:
    """Return lexemes in order, each between spaces."""
    return f" {' '.join(lexemes)} "


K1, B = 1.2, 0.75
"""What FTS5 scores with: how soon more of the same word counts less, and how much the length of a text matters."""

LABEL_WEIGHT = 4
"""What a word in a path, a description or a tag weighs; one in a body weighs 1."""

SHORT = 64
"""In a text of up to so many words, a word that occurs once stands out; in a longer text it has to occur twice."""

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
        # Other pairs occur in no text. The factor 2 allows for the distance of real numbers from the middles.
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
