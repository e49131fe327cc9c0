"""Fonts for a text: one is shipped; fonts of the machine are used for what it lacks."""

import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.font_manager import findfont, fontManager
from matplotlib.ft2font import FT2Font

BUNDLED = "DejaVu Sans"
PLACES: Sequence[Path] = (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
"""Where the fonts of the machine are; a module job sees them, too."""
_ENDINGS = frozenset({".ttf", ".otf", ".ttc"})
_MOST_LOOKED_AT = 1000
_NOT_DRAWN = ("Cc", "Cf", "Z", "M")
"""Classes of signs that need no picture of their own: controls, spaces, marks."""


@dataclass(frozen=True, slots=True)
class Fonts:
    """What a text is drawn with beside the font that comes along."""

    families: tuple[str, ...]
    lacking: str
    """Its signs that no font has."""


def fonts_for(text: str) -> Fonts:
    """Return which other fonts a text needs, and what none of them has."""
    lacking = {sign for sign in text if not unicodedata.category(sign).startswith(_NOT_DRAWN)}
    lacking -= _signs(FT2Font(findfont(BUNDLED)))
    families: list[str] = []
    for path in _files() if lacking else ():
        try:
            font = FT2Font(str(path))
        except (RuntimeError, OSError):
            continue
        found = lacking & _signs(font)
        if found and font.scalable:
            _let_system_fonts_be_found()
            fontManager.addfont(str(path))
            families.append(font.family_name)
            lacking -= found
        if not lacking:
            break
    return Fonts(tuple(dict.fromkeys(families)), "".join(sorted(lacking)))


def _let_system_fonts_be_found() -> None:
    # Where they are ignored, so are those that were added by hand. None but these is known by now.
    os.environ.pop("MPL_IGNORE_SYSTEM_FONTS", None)


def _signs(font: FT2Font) -> set[str]:
    return set(map(chr, font.get_charmap()))


def _files() -> Iterator[Path]:
    """Yield the fonts of the machine, regular ones first, in an order that is always the same."""
    found = (path for place in PLACES for path in place.rglob("*") if path.suffix.lower() in _ENDINGS)
    yield from sorted(found, key=lambda path: ("regular" not in path.name.lower(), path))[:_MOST_LOOKED_AT]
