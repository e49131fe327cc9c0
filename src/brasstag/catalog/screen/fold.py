"""Fold text so that one phrase has one spelling: case, width, accents, look-alikes, invisible characters."""

import re
import unicodedata
from collections.abc import Sequence

from brasstag.catalog.screen.look_alikes import LOOK_ALIKES

_MOST_KEPT = 120_000
"""More characters than a person can write; it bounds what hostile texts can fill."""

_NOT_ONE = re.compile(rb"[^\x01]")
_REPLACEMENT = "\ufffd"
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5")
_DROPPED = frozenset({"Mn", "Me", "Cf"})
"""Kinds of characters that stand on others or show as nothing."""


class _FoldTable(dict[int, str]):
    """What each character becomes; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        # Ideographs and Hangul have no case and no look-alikes here.
        is_fixed = 0x3400 <= code < 0xA000 or 0xAC00 <= code < 0xD7A4
        folded = letter if is_fixed else _folded(letter)
        if len(self) < _MOST_KEPT:
            self[code] = folded
        return folded


def _folded(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", letter).casefold()
    if plain == letter:
        return _visible(letter)
    return "".join(map(_visible, unicodedata.normalize("NFKD", plain)))


def _visible(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Cs":
        return _REPLACEMENT  # half a pair cannot be encoded
    return "" if kind in _DROPPED or letter in _INVISIBLE else LOOK_ALIKES.get(letter, letter)


_TABLE = _FoldTable()


def fold(text: str) -> str:
    """Return the text as patterns see it."""
    return text.translate(_TABLE)


def fold_origins(text: str) -> Sequence[int]:
    """Return, for each character of the folded text, where it stands in the text."""
    if text.isascii():
        return range(len(text))  # each character becomes one
    lengths = bytes(map(len, map(_TABLE.__getitem__, map(ord, text))))
    places: list[int] = []
    start = 0
    for found in _NOT_ONE.finditer(lengths):
        place = found.start()
        places += range(start, place)
        places += [place] * lengths[place]
        start = place + 1
    return [*places, *range(start, len(text))]
