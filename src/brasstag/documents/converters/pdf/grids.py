"""Tables drawn with lines: which lines belong together, and the text between them."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

_NEAR = 2.0
"""Points; what is closer is the same line."""
_THIN = 2.0
_SHORTEST = 6.0
_MOST_LINES = 600
"""On one page; what has more is a drawing."""
_MOST_PATHS = 20_000


class RuledLine(NamedTuple):
    """A straight line: where it lies across its direction, and from where to where it goes along it."""

    across: float
    start: float
    end: float


class Grid:
    """Columns and rows between lines."""

    def __init__(self, columns: list[float], rows: list[float]) -> None:
        self._columns = columns
        self._rows = rows
        self.left, self.right = columns[0], columns[-1]
        self.bottom, self.top = rows[0], rows[-1]

    def filled(self, spans: Iterable[Any]) -> list[list[str]]:
        """Return the cells, from the top; nothing where it is no table."""
        cells: dict[tuple[int, int], list[str]] = {}
        for span in spans:
            left, bottom, width, height = span.bbox
            column = bisect_right(self._columns, left + min(width, 4.0) / 2) - 1
            row = bisect_right(self._rows, bottom + height / 2) - 1
            if 0 <= column < len(self._columns) - 1 and 0 <= row < len(self._rows) - 1:
                cells.setdefault((row, column), []).append(span.text)
        if len({row for row, _ in cells}) < 2 or len({column for _, column in cells}) < 2:
            return []
        return [
            [" ".join(cells.get((row, column), ())) for column in range(len(self._columns) - 1)]
            for row in reversed(range(len(self._rows) - 1))
        ]


def grids_of(paths: Sequence[dict[str, Any]]) -> list[Grid]:
    """Return the grids on a page, those of more than one row and column."""
    flat: list[RuledLine] = []
    upright: list[RuledLine] = []
    for x0, y0, x1, y1 in _segments(paths[:_MOST_PATHS]):
        if abs(y1 - y0) <= _THIN and abs(x1 - x0) >= _SHORTEST:
            flat.append(RuledLine((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(x1 - x0) <= _THIN and abs(y1 - y0) >= _SHORTEST:
            upright.append(RuledLine((x0 + x1) / 2, min(y0, y1), max(y0, y1)))
    flat, upright = _joined(flat), _joined(upright)
    if len(flat) + len(upright) > _MOST_LINES:
        return []
    found = []
    for across, along in _together(flat, upright):
        columns = _apart([line.across for line in along])
        rows = _apart([line.across for line in across])
        if len(columns) > 2 and len(rows) > 2:
            found.append(Grid(columns, rows))
    return found


def _segments(paths: Iterable[dict[str, Any]]) -> Iterator[tuple[float, float, float, float]]:
    for path in paths:
        x = y = 0.0
        for step in path.get("operations", ()):
            if step["op"] == "rectangle":
                yield from _sides(step["x"], step["y"], step["width"], step["height"])
            elif "x" in step and "y" in step:
                if step["op"] == "line_to":
                    yield x, y, step["x"], step["y"]
                x, y = step["x"], step["y"]


def _sides(x: float, y: float, width: float, height: float) -> Iterator[tuple[float, float, float, float]]:
    if abs(height) <= _THIN or abs(width) <= _THIN:
        yield x, y, x + width, y + height
        return
    yield x, y, x + width, y
    yield x, y + height, x + width, y + height
    yield x, y, x, y + height
    yield x + width, y, x + width, y + height


def _joined(lines: list[RuledLine]) -> list[RuledLine]:
    """Return lines of which none continues another."""
    found: list[RuledLine] = []
    for line in sorted(lines, key=lambda one: (round(one.across / _NEAR), one.start)):
        last = found[-1] if found else None
        if last and abs(last.across - line.across) <= _NEAR and line.start <= last.end + _NEAR:
            found[-1] = RuledLine(last.across, last.start, max(last.end, line.end))
        else:
            found.append(line)
    return found


def _together(
    flat: list[RuledLine], upright: list[RuledLine]
) -> Iterator[tuple[list[RuledLine], list[RuledLine]]]:
    """Yield lines that cross or meet, directly or through others."""
    left = set(range(len(upright)))
    waiting = list(flat)
    while waiting:
        across, along = [waiting.pop()], []
        pending = list(across)
        while pending:
            line = pending.pop()
            for index in [one for one in left if _meet(line, upright[one])]:
                left.discard(index)
                along.append(upright[index])
                met = [one for one in waiting if _meet(one, upright[index])]
                waiting = [one for one in waiting if one not in met]
                across += met
                pending += met
        yield across, along


def _meet(flat: RuledLine, upright: RuledLine) -> bool:
    return (
        flat.start - _NEAR <= upright.across <= flat.end + _NEAR
        and upright.start - _NEAR <= flat.across <= upright.end + _NEAR
    )


def _apart(places: list[float]) -> list[float]:
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > _NEAR:
            found.append(place)
    return found
