"""Brace expansion: one word that the shell makes several of, as in ``{a,b}c`` and ``x{1..3}``.

A word is given as its pieces: single letters that stand outside of quotes, and words for all that is quoted or computed.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from brasstag.policy.shell.commands import Word

MOST_WORDS = 128
MOST_PIECES = 300
"""A word that is longer, or becomes more words, is not expanded: the work grows with the square of it."""

Piece = str | Word
"""A bare letter, or a part that braces have no meaning in."""
_Pieces = tuple[Piece, ...]

_NUMBERS = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.(-?\d{1,6}))?")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,6}))?")


class _Unclear(Exception):
    """Bash reads braces in its own way here, which depends on its version."""


def expand(pieces: Sequence[Piece]) -> list[_Pieces] | None:
    """Return what a word becomes, in order; None where that is over a limit, or not clear."""
    if len(pieces) > MOST_PIECES:
        return None
    try:
        found = list(islice(_expanded(tuple(pieces), 0), MOST_WORDS + 1))
    except _Unclear:
        return None
    return found if len(found) <= MOST_WORDS else None


def _expanded(pieces: _Pieces, start: int) -> Iterator[_Pieces]:
    for opened in range(start, len(pieces)):
        if pieces[opened] != "{":
            continue
        choices, closed = _choices(pieces, opened)
        if choices:
            for choice in choices:
                # Braces inside a choice are expanded first; those behind it, for each of its words.
                for inside in _expanded(choice, 0):
                    head = (*pieces[:opened], *inside)
                    yield from _expanded((*head, *pieces[closed + 1 :]), len(head))
            return
    yield pieces


def _choices(pieces: _Pieces, opened: int) -> tuple[list[_Pieces], int]:
    """Return what stands between two braces, cut at its commas or counted up; nothing where it is no choice."""
    depth = 0
    cuts = [opened]
    for index in range(opened, len(pieces)):
        piece = pieces[index]
        if piece == "{":
            depth += 1
        elif piece == "," and depth == 1:
            cuts.append(index)
        elif piece == "}":
            depth -= 1
            if depth == 0:
                cuts.append(index)
                choices = [pieces[low + 1 : high] for low, high in pairwise(cuts)]
                found = choices if len(choices) > 1 else _counted(choices[0])
                if not found:
                    _require_clear(choices[0], pieces[index + 1 :])
                return found, index
    return [], opened


def _require_clear(inside: _Pieces, behind: _Pieces) -> None:
    """Raise where braces without a choice are not taken as they stand: in ``{..{a,b}}`` and ``{a},b}``."""
    has_dots = any(one == other == "." for one, other in pairwise(inside))
    if (has_dots and "{" in inside) or ("," in behind and "}" in behind):
        raise _Unclear


def _counted(inside: _Pieces) -> list[_Pieces]:
    text = "".join(piece if isinstance(piece, str) else "\0" for piece in inside)
    if numbers := _NUMBERS.fullmatch(text):
        low, high, step = int(numbers[1]), int(numbers[2]), abs(int(numbers[3] or 1)) or 1
        wide = max(map(len, numbers.groups()[:2])) if re.search(r"(?:^|\.)-?0\d", text) else 0
        return [tuple(f"{number:0{wide}d}") for number in _span(low, high, step)]
    if letters := _LETTERS.fullmatch(text):
        step = abs(int(letters[3] or 1)) or 1
        return [(chr(number),) for number in _span(ord(letters[1]), ord(letters[2]), step)]
    return []


def _span(low: int, high: int, step: int) -> Iterator[int]:
    way = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    return islice(iter(way), MOST_WORDS + 1)
