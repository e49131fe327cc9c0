"""Load as much of a document as was asked for and as fits; the rest is read from where that ended."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.documents.blocks.pieces import Extract, PieceOffset, Pieces, Unit
from brasstag.words.errors import Code, ToolError

Share = Callable[[str], float]
"""Says what share of the room there is a text takes; more than 1 does not fit."""

FIRST: dict[Unit, int] = {"line": 1, "block": 0}
"""What the first of them is called."""

_WORD_END = re.compile(r"\s(?=\S)")
_FAR_BACK = 200
"""So many characters may be left for the next part, so that no word is cut."""


@dataclass(frozen=True, slots=True)
class Part:
    """What was given of a document, counted in its pieces."""

    shown: Extract
    first: int
    last: int
    total: int
    next: int | None
    next_offset: int | None
    notes: tuple[str, ...]
    """Which parts of pieces were given."""


def part_of(
    pieces: Pieces, first: int | None, last: int | None, offset: int = 0, share_of: Share | None = None
) -> Part:
    """Return a range of a document; with ``share_of``, as much of it from its beginning on as fits."""
    start, end = _bounds(pieces, first, last, offset)
    stop = PieceOffset(end) if share_of is None else _stop(pieces, start, end, share_of)
    name, total = FIRST[pieces.unit], len(pieces)
    is_more = stop.piece < total
    return Part(
        pieces.shown(start, stop),
        start.piece + name,
        max(stop.piece - (stop.offset == 0), start.piece) + name,
        total,
        stop.piece + name if is_more else None,
        stop.offset if is_more else None,
        tuple(_cuts_told(pieces, start, stop)),
    )


def _bounds(pieces: Pieces, first: int | None, last: int | None, offset: int) -> tuple[PieceOffset, int]:
    name, total = FIRST[pieces.unit], len(pieces)
    start = 0 if first is None else first - name
    end = total if last is None else min(total, last - name + 1)
    if start and start >= total:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"it has {total} {pieces.unit}s, the last one is {total - 1 + name}; begin there at the latest",
            {"total": total},
        )
    if last is not None and last < start + name:
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"{pieces.unit} {last} comes before {pieces.unit} {start + name}"
        )
    long = pieces.length(start) if total else 0
    if offset and offset >= long:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"offset {offset} is beyond {pieces.unit} {start + name}, in which {long} characters can be counted off; "
            "use next and next_offset of the part before as they are",
            {"length": long},
        )
    return PieceOffset(start, offset), end


def _stop(pieces: Pieces, start: PieceOffset, end: int, share_of: Share) -> PieceOffset:
    """Return how far it fits: whole pieces, then rows or lines of the next, and characters where that is little."""

    def share(stop: PieceOffset) -> float:
        return share_of(pieces.shown(start, stop).text)

    if start.piece >= end:
        return PieceOffset(end)
    stop = _furthest(start, _Spots(range(start.piece + 1, end + 1)), share)
    if stop.piece == end:
        return stop
    long = pieces.length(stop.piece)
    inside = [place for place in pieces.seams(stop.piece) if stop.offset < place < long]
    stop = _furthest(stop, _Spots(inside, stop.piece), share)
    if stop > start and share(stop) > 1 / 2:
        return stop
    ahead = next((place for place in inside if place > stop.offset), long)
    places = range(stop.offset + 1, ahead)
    cut_off = _furthest(stop, _Spots(places, stop.piece), share)
    if cut_off > start:
        return _between_words(pieces, max(start, stop), cut_off, share)
    least = share(PieceOffset(start.piece, start.offset + 1) if places else PieceOffset(start.piece + 1))
    raise ToolError(
        Code.TOO_LARGE,
        f"not even the beginning of {pieces.unit} {start.piece + FIRST[pieces.unit]} fits; it takes {_excess(least)} "
        "is allowed: give a larger max_tokens",
    )


def _excess(share: float) -> str:
    times = f"{share:.1f}"
    return "a little more than" if times == "1.0" else f"about {times} times as much as"


@dataclass(frozen=True, slots=True)
class _Spots(Sequence[PieceOffset]):
    """Places between pieces, or between the characters of one, of which there may be millions."""

    places: Sequence[int]
    piece: int | None = None

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, number: Any) -> Any:
        place = self.places[number]
        return PieceOffset(place) if self.piece is None else PieceOffset(self.piece, place)


def _furthest(
    stop: PieceOffset, candidates: Sequence[PieceOffset], share: Callable[[PieceOffset], float]
) -> PieceOffset:
    """Return the last candidate that fits, or ``stop`` where none does; near ones are tried first, as they are cheap."""
    fitting, too_far = -1, len(candidates)
    used, needed = 0.0, 0.0
    tries = 0
    while too_far - fitting > 1:
        ahead = fitting + 1 if too_far == len(candidates) else (too_far - fitting) // 2
        if needed and tries % 2:
            # Most documents are alike throughout; where one is not, every other try halves what is left.
            ahead = int((too_far - fitting) * (1 - used) / (needed - used))
        tried = min(fitting + max(1, ahead), too_far - 1)
        found = share(candidates[tried])
        if found > 1:
            too_far, needed = tried, found
        else:
            fitting, used = tried, found
        tries += 1
    return stop if fitting < 0 else candidates[fitting]


def _between_words(
    pieces: Pieces, low: PieceOffset, high: PieceOffset, share: Callable[[PieceOffset], float]
) -> PieceOffset:
    """Return a place a little before, if there is one, that cuts no word."""
    begin = low.offset if low.piece == high.piece else 0
    ends = _WORD_END.finditer(pieces.words(high.piece), max(begin, high.offset - _FAR_BACK), high.offset + 1)
    found = [PieceOffset(high.piece, end.end()) for end in ends if begin < end.end() <= high.offset]
    # Rarely, less text is more tokens.
    return found[-1] if found and share(found[-1]) <= 1 else high


def _cuts_told(pieces: Pieces, start: PieceOffset, stop: PieceOffset) -> list[str]:
    name = FIRST[pieces.unit]
    ends = {start.piece: start.offset} if start.offset else {}
    ends |= {stop.piece: ends.get(stop.piece, 0)} if stop.offset else {}
    return [
        f"of {pieces.unit} {piece + name}, this has "
        + pieces.told(piece, begin, stop.offset if piece == stop.piece else pieces.length(piece))
        for piece, begin in ends.items()
    ]
