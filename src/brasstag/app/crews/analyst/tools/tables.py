"""Tables: sums over a CSV file, and a bar chart of them. Sums are exact; equal files give equal charts."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from math import ceil, floor, log10
from typing import Any

from brasstag import Code, Draft, Limits, ToolError, tool

_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,9})?")
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Row = dict[str, str]


@tool(execution_type="function")
def summarize_csv(
    workspace: Draft,
    limits: Limits,
    document: str,
    group_by: list[str] | None = None,
    where: dict[str, str] | None = None,
) -> dict[str, Any]:
    """summarize_csv"""
    table = _read(workspace, document, limits).where(where or {})
    numbers = table.numbers()
    names = group_by or []
    groups = table.grouped(names, limits.numbers["max_groups"]) if names else {}
    return {
        "rows": len(table.rows),
        "columns": table.columns,
        "totals": _totals(table.rows, numbers),
        "groups": [
            {
                "group": dict(zip(names, values, strict=True)),
                "rows": len(rows),
                "totals": _totals(rows, numbers),
            }
            for values, rows in groups.items()
        ],
    }


@tool(execution_type="function")
def bar_chart(
    workspace: Draft,
    limits: Limits,
    document: str,
    x: str,
    y: str,
    path: str,
    title: str = "",
    where: dict[str, str] | None = None,
) -> dict[str, Any]:
    """bar_chart"""
    table = _read(workspace, document, limits).where(where or {})
    table.require_numbers(y)
    bars = {
        values[0]: _sum(rows, y) for values, rows in table.grouped([x], limits.numbers["max_bars"]).items()
    }
    if not bars:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{document} has no such rows; there is nothing to draw")
    drawing = _Chart(title or f"{y} by {x}", x, y, bars).svg().encode()
    workspace.write_bytes(path, drawing)
    return {
        "path": path,
        "size_bytes": len(drawing),
        "bars": [{"label": label, "value": _plain(value)} for label, value in bars.items()],
        "total": _plain(sum(bars.values(), Decimal())),
    }


@dataclass(frozen=True)
class _Table:
    """Rows of a CSV file, each under the line it ends on."""

    document: str
    columns: list[str]
    rows: dict[int, Row]

    def where(self, wanted: dict[str, str]) -> "_Table":
        self._require(wanted)
        kept = {
            line: row
            for line, row in self.rows.items()
            if all(row[name] == value for name, value in wanted.items())
        }
        return _Table(self.document, self.columns, kept)

    def grouped(self, names: list[str], most: int) -> dict[tuple[str, ...], dict[int, Row]]:
        """Return the rows by their values in these columns, in the order in which the file names them."""
        self._require(names)
        groups: dict[tuple[str, ...], dict[int, Row]] = {}
        for line, row in self.rows.items():
            groups.setdefault(tuple(row[name] for name in names), {})[line] = row
        if len(groups) > most:
            raise ToolError(
                Code.TOO_LARGE,
                f"{', '.join(names)} makes {len(groups)} groups, over the limit of {most}; choose other columns, "
                "or fewer rows with where",
            )
        return groups

    def numbers(self) -> list[str]:
        return [
            name
            for name in self.columns
            if self.rows and all(_NUMBER.fullmatch(row[name]) for row in self.rows.values())
        ]

    def require_numbers(self, name: str) -> None:
        self._require([name])
        for line, row in self.rows.items():
            if not _NUMBER.fullmatch(row[name]):
                raise ToolError(
                    Code.INVALID_ARGUMENTS,
                    f"line {line} of {self.document}: {name} is {row[name]!r}, not a number such as 1200 or 12.50",
                )

    def _require(self, names: "list[str] | dict[str, str]") -> None:
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"{self.document} has no column {', '.join(map(repr, missing))}; it has {', '.join(self.columns)}",
            )


def _read(workspace: Draft, document: str, limits: Limits) -> _Table:
    text = workspace.read_text(document, limits.numbers["max_bytes"]).removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = [name.strip() for name in next(reader, [])]
        rows = {line: cells for line, cells in ((reader.line_num, cells) for cells in reader) if cells}
    except csv.Error as error:
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"line {reader.line_num} of {document} is not CSV: {error}"
        ) from None
    if not all(columns) or not columns or len(set(columns)) < len(columns):
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"the first line of {document} has to name each column, and each differently",
        )
    for line, cells in rows.items():
        if len(cells) != len(columns):
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"line {line} of {document} has {len(cells)} cells, but there are {len(columns)} columns",
            )
    table = {
        line: dict(zip(columns, (cell.strip() for cell in cells), strict=True))
        for line, cells in rows.items()
    }
    return _Table(document, columns, table)


def _totals(rows: dict[int, Row], names: list[str]) -> dict[str, int | float]:
    return {name: _plain(_sum(rows, name)) for name in names}


def _sum(rows: dict[int, Row], name: str) -> Decimal:
    return sum((Decimal(row[name]) for row in rows.values()), Decimal())


def _plain(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


_WIDTH, _HEIGHT = 800, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 96, 24, 72, 88
_MANY_BARS = 12
_LONGEST_LABEL = 14
_INK, _FAINT, _LINE, _BAR = "#1f2933", "#616e7c", "#e4e7eb", "#b08d57"


@dataclass(frozen=True)
class _Chart:
    """A bar chart on its way to SVG."""

    title: str
    x: str
    y: str
    bars: dict[str, Decimal]

    def svg(self) -> str:
        heights = [0.0, *map(float, self.bars.values())]
        ticks = _ticks(min(heights), max(heights))
        foot, head = ticks[0], ticks[-1]
        high = _HEIGHT - _TOP - _BOTTOM
        size = min(20, _WIDTH * 1.5 / len(self.title))

        def up(value: float) -> float:
            return _TOP + high * (head - value) / (head - foot)

        parts = [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
                f'font-family="system-ui, sans-serif" font-size="13" fill="{_INK}">'
            ),
            f"<title>{_xml(self.title)}</title>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
            f'<text x="{_LEFT}" y="36" font-size="{size:g}" font-weight="600">{_xml(self.title)}</text>',
        ]
        for tick in ticks:
            parts.append(
                f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{up(tick):.1f}" y2="{up(tick):.1f}" '
                f'stroke="{_INK if tick == 0 else _LINE}"/>'
            )
            parts.append(_text(_LEFT - 10, up(tick) + 4, _figure(Decimal(f"{tick:.6g}")), anchor="end"))
        parts += self._bars(up)
        middle = _TOP + high / 2
        parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 16, self.x))
        parts.append(_text(20, middle, self.y, turned=-90))
        return "\n".join([*parts, "</svg>\n"])

    def _bars(self, up: Callable[[float], float]) -> list[str]:
        step = (_WIDTH - _LEFT - _RIGHT) / len(self.bars)
        wide = min(step * 0.7, 96)
        crowded = len(self.bars) > _MANY_BARS
        parts = []
        for index, (label, value) in enumerate(self.bars.items()):
            middle = _LEFT + step * (index + 0.5)
            top, bottom = sorted((up(float(value)), up(0.0)))
            parts.append(
                f'<rect class="bar" data-label="{_xml(label)}" data-value="{_plain(value)}" '
                f'x="{middle - wide / 2:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{bottom - top:.1f}" '
                f'fill="{_BAR}"><title>{_xml(label)}: {_figure(value)}</title></rect>'
            )
            if not crowded:
                parts.append(_text(middle, top - 6 if value >= 0 else bottom + 16, _figure(value)))
            short = label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
            foot = _HEIGHT - _BOTTOM + 20
            parts.append(
                _text(middle + 4, foot - 6, short, anchor="end", turned=-45)
                if crowded
                else _text(middle, foot, short)
            )
        return parts


def _text(x: float, y: float, words: str, *, anchor: str = "middle", turned: int = 0) -> str:
    turn = f' transform="rotate({turned} {x:.1f} {y:.1f})"' if turned else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_FAINT}"{turn}>{_xml(words)}</text>'


def _xml(words: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", words))


def _figure(value: Decimal) -> str:
    return f"{value:,f}"


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers, about five of them, from at most ``low`` to at least ``high``."""
    span = (high - low) or 1.0
    unit = 10.0 ** floor(log10(span / 4))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= span / 5)
    first, last = floor(low / step), ceil(high / step)
    return [index * step for index in range(first, max(last, first + 1) + 1)]
