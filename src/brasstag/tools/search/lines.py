"""The matching lines of files, as a search shows them.

RE2 cannot be interrupted, and the worst expressions take it seconds for a megabyte. So it gets a file piece by piece,
and the clock is checked in between. It sees what stands around a piece, so no line seems to begin or end there.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

LARGEST_PIECE, SMALLEST_PIECE = 1 << 17, 1 << 14
"""Bytes that RE2 is given at a time, as whole lines. Of a longer line, pieces overlap by half, which is the longest match
that is sure to be found there."""
_BYTES_TIMES_STEPS = 1 << 25


@dataclass(slots=True)
class Matching:
    """The matches found so far, in order."""

    expression: Any
    """What RE2 has compiled."""
    context: int
    """How many lines to show before and after each match."""
    most: int
    longest_line: int
    deadline: float = float("inf")
    """When to stop, by the monotonic clock."""
    matches: list[dict[str, Any]] = field(default_factory=list)

    def occurs_in(self, data: bytes) -> bool:
        """Say whether there is any match."""
        return next(self._lines(data), None) is not None

    def look_into(self, path: str, data: bytes) -> bool:
        """Note the matching lines of a file while there is time; return False once there are enough."""
        start_of_line, line = 0, 1
        for begin, end_of_line in self._lines(data):
            if len(self.matches) == self.most:
                return False
            line += data.count(b"\n", start_of_line, begin)
            start_of_line = data.rfind(b"\n", 0, begin) + 1
            self.matches.append(self._shown(path, data, line, start_of_line, begin, end_of_line))
        return True

    def _lines(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield where the first match of each matching line begins, and where that line ends."""
        size = self._piece_bytes()
        at = 0
        while at <= len(data) and time.monotonic() < self.deadline:
            end, following = _piece(data, at, size)
            match = self.expression.search(data, at, end)
            if match is None:
                at = following
                continue
            begin = match.start()
            end_of_line = data.find(b"\n", begin)
            end_of_line = len(data) if end_of_line < 0 else end_of_line
            yield begin, end_of_line
            at = end_of_line + 1

    def _piece_bytes(self) -> int:
        """Return how much RE2 is given at a time: at worst it tries each of its steps on each byte."""
        if self.expression.options.literal:
            return LARGEST_PIECE
        steps: int = self.expression.programsize
        return max(SMALLEST_PIECE, min(LARGEST_PIECE, _BYTES_TIMES_STEPS // steps))

    def _shown(self, path: str, data: bytes, line: int, start: int, begin: int, end: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "path": path,
            "line": line,
            "column": len(data[start:begin].decode(errors="replace")) + 1,
            "text": self._text(data[start:end]),
        }
        if self.context:
            found["before"] = [self._text(text) for text in _before(data, start, self.context)]
            found["after"] = [self._text(text) for text in _after(data, end, self.context)]
        return found

    def _text(self, line: bytes) -> str:
        text = line.decode(errors="replace").rstrip("\r")
        return text if len(text) <= self.longest_line else f"{text[: self.longest_line]}…"


def _piece(data: bytes, start: int, size: int) -> tuple[int, int]:
    """Return where a piece that starts here ends, and where the next one starts."""
    end = start + size
    if end >= len(data):
        return len(data), len(data) + 1
    last = data.rfind(b"\n", start, end)
    return (end, start + size // 2) if last < 0 else (last, last + 1)


def _before(data: bytes, start: int, count: int) -> list[bytes]:
    first = start
    for _ in range(count):
        first = data.rfind(b"\n", 0, max(first - 1, 0)) + 1
    return data[first:start].split(b"\n")[:-1]


def _after(data: bytes, end: int, count: int) -> list[bytes]:
    if end >= len(data) - 1:
        return []
    last = end
    for _ in range(count):
        last = data.find(b"\n", last + 1)
        if last < 0:
            return data[end + 1 :].split(b"\n")
    return data[end + 1 : last].split(b"\n")
