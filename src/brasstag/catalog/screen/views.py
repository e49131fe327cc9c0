"""Views: the same text as it reads without separators, without digits for letters, shifted, mirrored or backwards."""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from brasstag.catalog.screen.fold import fold, fold_origins

Gaps = Literal["needed", "optional"]

_LETTERS = string.ascii_lowercase
_ROT13 = str.maketrans(_LETTERS, _LETTERS[13:] + _LETTERS[:13])
_ATBASH = str.maketrans(_LETTERS, _LETTERS[::-1])
_DIGITS_AS_I = str.maketrans("01345678@$!|", "oieasgtbasil")
_DIGITS_AS_L = str.maketrans("01345678@$!|", "oleasgtbasil")

# All of these look at single characters on each side, so they take linear time.
_INSIDE_A_WORD = re.compile(r"(?<=[^\W\d])[-.*|/·~^+'\"\\_]{1,3}(?=[^\W\d_])")
_BETWEEN_LETTERS = re.compile(r"(?<=\b\w)[\s.,*|/·-]{1,3}(?=\w\b)")
_DIGIT_IN_A_WORD = re.compile(r"[a-z][013-8@$!|]|[013-8@$!|][a-z]")


@dataclass(frozen=True)
class TextView:
    """One way to read a text, and how to find the way back to it."""

    text: str
    trace: Callable[[], Sequence[int]]
    """Returns where in the source each character of ``text`` stands; it is called only when something was found."""
    gaps: Gaps
    encoding: str | None = None
    """The pattern that reports what is found, where reading this way means decoding."""

    @cached_property
    def data(self) -> bytes:
        """The text as RE2 reads it."""
        return self.text.encode()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of ``data`` stands in the source; the piece is not empty."""
        first = len(self.data[:start].decode(errors="replace"))
        last = first + len(self.data[start:end].decode(errors="replace")) - 1
        places = self._origins
        low, high = sorted((places[first], places[max(first, last)]))
        return low, high + 1

    @cached_property
    def _origins(self) -> Sequence[int]:
        return self.trace()


def views(text: str) -> Iterator[TextView]:
    """Yield the ways to read a text, the plain one first; ways that change nothing are left out."""
    plain = TextView(fold(text), lambda: fold_origins(text), "needed")
    yield plain
    joined = _without_separators(plain)
    yield joined
    if _DIGIT_IN_A_WORD.search(joined.text):
        yield TextView(joined.text.translate(_DIGITS_AS_I), joined.trace, "optional")
        if "1" in joined.text:
            yield TextView(joined.text.translate(_DIGITS_AS_L), joined.trace, "optional")
    yield TextView(plain.text.translate(_ROT13), plain.trace, "needed", "rot13_payload")
    yield TextView(plain.text.translate(_ATBASH), plain.trace, "needed", "atbash_payload")
    yield TextView(plain.text[::-1], lambda: plain.trace()[::-1], "needed", "reversed_payload")


def _without_separators(plain: TextView) -> TextView:
    inside = _INSIDE_A_WORD.sub("", plain.text)
    between = _BETWEEN_LETTERS.sub("", inside)

    def trace() -> Sequence[int]:
        places = _kept(plain.trace(), _INSIDE_A_WORD, plain.text)
        return _kept(places, _BETWEEN_LETTERS, inside)

    return TextView(between, trace, "optional")


def _kept(places: Sequence[int], removed: re.Pattern[str], text: str) -> Sequence[int]:
    kept: list[int] = []
    start = 0
    for found in removed.finditer(text):
        kept += places[start : found.start()]
        start = found.end()
    return [*kept, *places[start:]]
