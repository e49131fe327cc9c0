"""Fold text so that one phrase has one spelling: case, width, accents, look-alikes, invisible characters."""

import unicodedata
from collections.abc import Sequence

from brasstag.catalog.screen.look_alikes import LOOK_ALIKES

_MOST_KEPT = 50_000
_REPLACEMENT = "\ufffd"
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5")
_UNCHANGED = (range(0x3400, 0xA000), range(0xAC00, 0xD7A4))
"""Ideographs and Hangul have no case and no look-alikes here."""


class _FoldTable(dict[int, str]):
    """What each character becomes; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        folded = letter if any(code in block for block in _UNCHANGED) else _folded(letter)
        if len(self) < _MOST_KEPT:
            self[code] = folded
        return folded


def _folded(letter: str) -> str:
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", letter).casefold())
    return "".join(LOOK_ALIKES.get(one, one) for one in map(_visible, plain))


def _visible(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Cs":
        return _REPLACEMENT  # half a pair cannot be encoded
    return "" if kind in ("Mn", "Me", "Cf") or letter in _INVISIBLE else letter


_TABLE = _FoldTable()


def fold(text: str) -> str:
    """Return the text as patterns see it."""
    return text.translate(_TABLE)


def fold_origins(text: str) -> Sequence[int]:
    """Return, for each character of the folded text, where it stands in the text."""
    return [place for place, letter in enumerate(text) for _ in _TABLE[ord(letter)]]
