"""Views: the same text as it reads without separators, without digits for letters, shifted, mirrored or backwards."""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from brasstag.catalog.screen.automaton import occurs
from brasstag.catalog.screen.fold import fold, fold_origins

Gaps = Literal["needed", "optional", "none"]
"""Whether marks and blanks stand between words; none where words have run together and do not even end."""

_LETTERS = string.ascii_lowercase
# Tables of bytes: in UTF-8 no byte of another letter is that of an ASCII letter or digit.
_ROT13 = bytes.maketrans(_LETTERS.encode(), (_LETTERS[13:] + _LETTERS[:13]).encode())
_ATBASH = bytes.maketrans(_LETTERS.encode(), _LETTERS[::-1].encode())
_DIGITS_AS_I = bytes.maketrans(b"01345678@$!|", b"oieasgtbasil")
_DIGITS_AS_L = bytes.maketrans(b"01345678@$!|", b"oleasgtbasil")

# All of these look at single characters on each side, so they take linear time.
_INSIDE_A_WORD = re.compile(r"(?<=[^\W\d])[-.*|/·~^+'\"\\_]{1,3}(?=[^\W\d_])")
_BETWEEN_LETTERS = re.compile(r"(?<=\b\w)(?:\s|\s?[.,*|/·-]\s?)(?=\w\b)")
_MAY_BE_SEPARATED = r"(?:^|[^\pL\pN_])[\pL\pN_][\s.,*|/·-]{1,3}[\pL\pN_](?:[^\pL\pN_]|$)"
_MAY_BE_RUN_TOGETHER = r"[a-z]{18}"
_MAY_BE_DIGITS = r"[a-z][013-8@$!|]|[013-8@$!|][a-z]"


@dataclass(frozen=True)
class TextView:
    """One way to read a text, and how to find the way back to it."""

    data: bytes
    """The text as RE2 reads it."""
    trace: Callable[[], Sequence[int]]
    """Returns where in the source each character stands; it is called only when something was found."""
    gaps: Gaps
    encoding: str | None = None
    """The pattern that reports what is found, where reading this way means decoding."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of ``data`` stands in the source; the piece is not empty."""
        first = len(self.data[:start].decode(errors="replace"))
        last = first + len(self.data[start:end].decode(errors="replace")) - 1
        places = self.trace()
        low, high = sorted((places[first], places[max(first, last)]))
        return low, high + 1


def views(text: str) -> Iterator[TextView]:
    """Yield the ways to read a text, the plain one first; ways that change nothing are left out."""
    folded = fold(text)
    plain = TextView(folded.encode(), cache(lambda: fold_origins(text)), "needed")
    yield plain
    joined = _without_separators(folded, plain)
    yield joined
    if occurs(_MAY_BE_RUN_TOGETHER, joined.data):
        yield TextView(joined.data, joined.trace, "none")
    if occurs(_MAY_BE_DIGITS, joined.data):
        doubled = joined.data.replace(b"11", b"ll")
        yield TextView(doubled.translate(_DIGITS_AS_I), joined.trace, "optional")
        if b"1" in joined.data:
            yield TextView(joined.data.translate(_DIGITS_AS_L), joined.trace, "optional")
    yield TextView(plain.data.translate(_ROT13), plain.trace, "needed", "rot13_payload")
    yield TextView(plain.data.translate(_ATBASH), plain.trace, "needed", "atbash_payload")
    yield TextView(folded[::-1].encode(), cache(lambda: plain.trace()[::-1]), "needed", "reversed_payload")


def _without_separators(folded: str, plain: TextView) -> TextView:
    inside = _INSIDE_A_WORD.sub("", folded)
    data = plain.data if inside == folded else inside.encode()
    between = _BETWEEN_LETTERS.sub("", inside) if occurs(_MAY_BE_SEPARATED, data) else inside

    @cache
    def trace() -> Sequence[int]:
        places = _kept(plain.trace(), _INSIDE_A_WORD, folded)
        return _kept(places, _BETWEEN_LETTERS, inside) if between != inside else places

    return TextView(data if between == inside else between.encode(), trace, "optional")


def _kept(places: Sequence[int], removed: re.Pattern[str], text: str) -> Sequence[int]:
    kept: list[int] = []
    start = 0
    for found in removed.finditer(text):
        kept += places[start : found.start()]
        start = found.end()
    return [*kept, *places[start:]]
