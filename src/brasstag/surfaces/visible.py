"""Text with every invisible character made visible."""

import re
import unicodedata

_HIDING = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Control, format and direction, half of a pair, private or no use, and the two separators that break lines."""

_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U000e0100-\U000e01ef]"
)
"""What counts as a letter or a mark, and yet is drawn as nothing; U+FE0F is left out, as every emoji uses it."""


def visible(text: str) -> str:
    """Return text with control, direction and blank characters written out; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _harmless(char) else f"⟨U+{ord(char):04X}⟩" for char in text)


def one_line(text: str) -> str:
    """Return visible text in which line breaks are written out too."""
    return visible(text).replace("\n", "⟨U+000A⟩")


def _harmless(char: str) -> bool:
    if char in "\n\t":
        return True
    return unicodedata.category(char) not in _HIDING and not _BLANK.match(char)
