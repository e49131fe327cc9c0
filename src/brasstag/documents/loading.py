"""Loading: as much of a document as was asked for, and as fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from brasstag.words.errors import Code, ToolError

Count = Callable[[str], int]
"""Says how many tokens a text is."""

Unit = Literal["line", "block"]

FIRST: dict[Unit, int] = {"line": 1, "block": 0}
"""What the first of them is called."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A document in pieces that are only given whole: its lines, or its blocks as texts."""

    unit: Unit
    texts: Sequence[str]
    between: str = ""
    """What stands between two of them."""

    def joined(self, first: int, after: int) -> str:
        """Return some of them as one text."""
        return self.between.join(self.texts[first:after])


@dataclass(frozen=True, slots=True)
class Part:
    """What was given of a document, counted in its pieces."""

    content: str
    first: int
    last: int
    total: int
    next: int | None
    tokens: int
    is_cut: bool = False
    """Whether not even its one piece fits, so that only the beginning of that is given."""


def part_of(
    pieces: Pieces, first: int | None, last: int | None, most_tokens: int | None, count: Count
) -> Part:
    """Return a range of a document, or as much of it from its beginning on as is that many tokens at most."""
    start, end = _bounds(pieces, first, last)
    after = end if most_tokens is None else _fitting(pieces, start, end, most_tokens, count)
    content = pieces.joined(start, after)
    is_cut = after == start < end
    if is_cut:
        content = _beginning(pieces.texts[start], most_tokens or 0, count)
        after = start + 1
    offset = FIRST[pieces.unit]
    total = len(pieces.texts)
    more = is_cut or after < total
    following = after + offset if after < total else None
    return Part(
        content,
        start + offset,
        max(after - 1, 0) + offset if total else offset,
        total,
        following if more else None,
        count(content),
        is_cut,
    )


def _bounds(pieces: Pieces, first: int | None, last: int | None) -> tuple[int, int]:
    offset, total = FIRST[pieces.unit], len(pieces.texts)
    start = 0 if first is None else first - offset
    end = total if last is None else min(total, last - offset + 1)
    if start and start >= total:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"it has {total} {pieces.unit}s, the last one is {total - 1 + offset}; begin there at the latest",
            {"total": total},
        )
    if last is not None and last < start + offset:
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"{pieces.unit} {last} comes before {pieces.unit} {start + offset}"
        )
    return start, end


def _fitting(pieces: Pieces, start: int, end: int, most: int, count: Count) -> int:
    """Return after which piece to stop: a text is at most as many tokens as its parts together."""
    after, sum_so_far = start, 0
    while after < end:
        sum_so_far += count(pieces.texts[after] + pieces.between)
        if sum_so_far > most:
            break
        after += 1
    while after > start and count(pieces.joined(start, after)) > most:
        after -= 1
    return after


def _beginning(text: str, most: int, count: Count) -> str:
    """Return as much of a text as fits."""
    fits, too_long = 0, len(text) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count(text[:middle]) <= most:
            fits = middle
        else:
            too_long = middle
    return text[:fits]
