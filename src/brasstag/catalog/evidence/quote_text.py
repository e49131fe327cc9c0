"""Compare a quote with lines of a file: Unicode forms, quote marks, dashes and white space count alike, letters never."""

import unicodedata
from collections.abc import Mapping

_SINGLE_MARKS = "‘’‚‛′‵´`ʼ＇"
_DOUBLE_MARKS = "“”„‟«»″‶〝〞〟＂"
_DASHES = "‐‑‒–—―−﹘﹣－⁃"
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner, byte order mark: they do not show, so no reader can copy them."""

_ALIKE = str.maketrans(
    dict.fromkeys(_SINGLE_MARKS, "'")
    | dict.fromkeys(_DOUBLE_MARKS, '"')
    | dict.fromkeys(_DASHES, "-")
    | dict.fromkeys(_INVISIBLE, "")
)


_IN_WORDS = frozenset({"Lu", "Ll", "Lt", "Nd"})
"""Letters with case, and digits; scripts without case often have no spaces between words."""


def folded(text: str) -> str:
    """Return a text in the form in which quotes are compared; case and every letter are kept."""
    if text.isascii():
        return " ".join(text.replace("`", "'").split())
    # Some of these marks would be taken apart by NFKC, others come out of it.
    plain = unicodedata.normalize("NFKC", text.translate(_ALIKE)).translate(_ALIKE)
    return " ".join(plain.split())


class FoldedLines:
    """The lines of a file in the form in which quotes are compared, each made when it is needed first."""

    def __init__(self, lines: Mapping[int, str]) -> None:
        self.numbers = sorted(lines)
        self._lines = lines
        self._folded: dict[int, str] = {}

    def line(self, number: int) -> str:
        """Return a line; nothing where the file has no such line."""
        if number not in self._folded:
            self._folded[number] = folded(self._lines.get(number, ""))
        return self._folded[number]

    def beginning_at(self, number: int, size: int) -> str:
        """Return so many characters, or more, from a line on, with one space between lines that are not empty."""
        found: list[str] = []
        while size >= 0 and number in self._lines:
            if line := self.line(number):
                found.append(line)
                size -= len(line) + 1
            number += 1
        return " ".join(found)


def stands_in_line(text: str, lines: FoldedLines, number: int) -> bool:
    """Say whether a text stands in a line, or begins there and goes on in the next ones; it has whole words only.

    Part of a word may say the opposite: "able to" stands in "unable to".
    """
    wanted, first = folded(text), lines.line(number)
    if not wanted or not first:
        return False
    there = lines.beginning_at(number, len(first) + len(wanted))
    begin = there.find(wanted)
    while 0 <= begin < len(first):
        if not (_is_inside_word(there, begin) or _is_inside_word(there, begin + len(wanted))):
            return True
        begin = there.find(wanted, begin + 1)
    return False


def lines_with(text: str, lines: FoldedLines, most: int = 3) -> list[int]:
    """Return the first lines that a text stands in, or begins in."""
    found: list[int] = []
    beginning = folded(text).partition(" ")[0]
    for number in lines.numbers:
        # Most lines do not even have its first word.
        if beginning in lines.line(number) and stands_in_line(text, lines, number):
            found.append(number)
            if len(found) == most:
                break
    return found


def _is_inside_word(text: str, place: int) -> bool:
    """Say whether a place is in the middle of a letter, a number, or a word of a script that has spaces between words."""
    if not 0 < place < len(text):
        return False
    before, after = unicodedata.category(text[place - 1]), unicodedata.category(text[place])
    if after.startswith("M"):
        return before != "Zs"
    return before in _IN_WORDS and after in _IN_WORDS
