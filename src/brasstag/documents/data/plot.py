"""The program behind plot_data: a request on standard input, a picture or an error on standard output.

{"documents": [{path, file | content}], "seconds", "memory_mb", "sql" | null, "kind", "x", "y", "series", "aggregate",
 "title", "x_label", "y_label", "format"}
"""

import base64
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brasstag.documents.data.chart_spec import Chart, Scale, Series
from brasstag.documents.data.query import as_columns, open_tables
from brasstag.documents.data.sources import identifier
from brasstag.documents.data.stdio import reply
from brasstag.documents.data.tables import QueryResult, Tables
from brasstag.words.errors import Code, ToolError

if TYPE_CHECKING:
    from brasstag.documents.data.charts import Picture

MOST: Mapping[str, int] = {
    "bar": 60,
    "pie": 12,
    "line": 20_000,
    "area": 20_000,
    "scatter": 20_000,
    "histogram": 200_000,
}
"""How many rows a chart of each kind can show."""
MOST_LINES = 8
"""How many series one chart can show, each in a colour of its own."""
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|BIGNUM|DECIMAL\(.*\)")
_FLOATS = ("FLOAT", "DOUBLE")
_FIRST_ROWS = 100


@dataclass(frozen=True, slots=True)
class ChartColumns:
    """Which columns are drawn."""

    x: str
    y: tuple[str, ...]
    series: str | None
    is_float: bool
    """Whether there are floats among the numbers."""


def plot(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the picture a request asks for; raise ToolError where there is nothing to draw, or too much."""
    tables = open_tables(request)
    sql = tables.select_in(request["sql"] or _only_table(tables))
    kind = request["kind"]
    wanted = _wanted(tables.query(f"FROM ({sql}) LIMIT 0", 1), request)
    sql = _shaped(sql, wanted, request["aggregate"])
    found = tables.query(sql, MOST[kind] * MOST_LINES if wanted.series else MOST[kind])
    chart = _chart(found, wanted, request)
    _require_drawable(chart, found, kind)
    picture = _drawn(chart, request["format"])
    return {
        "picture": base64.b64encode(picture.data).decode(),
        "width": picture.width,
        "height": picture.height,
        "notes": picture.notes,
        "sql": " ".join(sql.splitlines()) if not request["sql"] else sql,
        "columns": as_columns(found),
        "rows": found.rows[:_FIRST_ROWS],
        "row_count": len(found.rows),
        "tables": [one.as_json() for one in tables.shown],
    }


def _only_table(tables: Tables) -> str:
    first, *others = tables.shown
    if others:
        sheets = ", ".join(f"{one.view} (sheet {one.source.sheet!r})" for one in tables.shown)
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"there are several tables to draw: {sheets}; say with sql which, such as FROM {first.view}",
        )
    return f"FROM {identifier(first.view)}"


def _drawn(chart: Chart, form: str) -> "Picture":
    # Other machines have other fonts. So the fonts of this machine are only used for signs that the bundled
    # font lacks. There is no home directory in which a list of them could be kept.
    os.environ |= {"MPL_IGNORE_SYSTEM_FONTS": "1", "MPLCONFIGDIR": tempfile.gettempdir()}
    # After that: it reads these variables when it is imported.
    from brasstag.documents.data.charts import draw  # noqa: PLC0415

    return draw(chart, form)


def _wanted(found: QueryResult, request: Mapping[str, Any]) -> ChartColumns:
    """Return the columns to draw: those that were named, else the first, and the first of numbers beside it."""
    kinds = dict(found.columns)
    names = list(kinds)
    x = request["x"] or names[0]
    series = request["series"]
    numbers = [name for name in names if name not in (x, series) and _NUMBER.fullmatch(kinds[name])]
    y = tuple(request["y"]) or tuple(numbers[:1])
    if request["kind"] == "histogram":
        y = (x,)
    for name in (x, *y, *([series] if series else [])):
        if name not in kinds:
            raise ToolError(
                Code.INVALID_ARGUMENTS, f"there is no column {name!r} to draw; there are {', '.join(names)}"
            )
    if not y:
        raise ToolError(Code.INVALID_ARGUMENTS, f"no column of numbers is there to draw: {_told(kinds)}")
    counts = request["aggregate"] == "count"
    for name in () if counts else y:
        if not _NUMBER.fullmatch(kinds[name]):
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"{name} holds {kinds[name]}, not numbers; draw another column, or turn it into numbers with sql, such as "
                f"TRY_CAST({identifier(name)} AS DOUBLE)",
            )
    if series and len(y) > 1:
        raise ToolError(Code.INVALID_ARGUMENTS, "series splits one column of numbers; name one in y")
    return ChartColumns(x, y, series, any(kinds[name] in _FLOATS for name in y))


def _shaped(sql: str, wanted: ChartColumns, aggregate: str | None) -> str:
    """Return SQL for just the columns to draw, combined where that is wanted, in the order of the rows they come from."""
    y = list(dict.fromkeys(wanted.y))
    keys = [
        identifier(name) for name in dict.fromkeys((wanted.x, *([wanted.series] if wanted.series else [])))
    ]
    if aggregate is None:
        return f"FROM ({sql}) SELECT {', '.join(dict.fromkeys((*keys, *map(identifier, y))))}"
    # Of two ways to add floats up, the one that does not lose the last cent.
    function = {"mean": "favg", "sum": "fsum" if wanted.is_float else "sum"}.get(aggregate, aggregate)
    sums = [f"{function}({identifier(name)}) AS {identifier(name)}" for name in y]
    columns = ", ".join((*keys, *sums))
    numbered = f'FROM ({sql}) SELECT *, row_number() OVER () AS "row number"'
    return f'FROM ({numbered}) SELECT {columns} GROUP BY {", ".join(keys)} ORDER BY min("row number")'


def _chart(found: QueryResult, wanted: ChartColumns, request: Mapping[str, Any]) -> Chart:
    places = {name: place for place, (name, _) in enumerate(found.columns)}
    kinds = dict(found.columns)
    x = places[wanted.x]
    if wanted.series is not None:
        lines = _split(found.rows, x, places[wanted.y[0]], places[wanted.series])
    else:
        lines = [Series(name, _points(found.rows, x, places[name])) for name in wanted.y]
    if len(lines) > MOST_LINES:
        raise ToolError(
            Code.TOO_LARGE,
            f"{wanted.series} splits it into {len(lines)} series; at most {MOST_LINES} can be told apart",
        )
    return Chart(
        kind=request["kind"],
        title=request["title"],
        x_label=request["x_label"] or wanted.x,
        y_label=request["y_label"] or _y_label(wanted, request),
        scale=_scale(kinds[wanted.x]),
        lines=lines,
    )


def _scale(kind: str) -> Scale:
    if _NUMBER.fullmatch(kind):
        return "number"
    return "time" if kind.startswith(("DATE", "TIMESTAMP")) else "name"


def _y_label(wanted: ChartColumns, request: Mapping[str, Any]) -> str:
    if request["kind"] == "histogram":
        return "count"
    if len(wanted.y) > 1:
        return ""
    return f"{request['aggregate']} of {wanted.y[0]}" if request["aggregate"] in _NAMED else wanted.y[0]


_NAMED = ("mean", "min", "max", "count")
"""Ways to combine that a reader has to be told; a sum is what an amount is taken for."""


def _split(rows: Sequence[Sequence[Any]], x: int, y: int, series: int) -> list[Series]:
    split: dict[str, list[Sequence[Any]]] = {}
    for row in rows:
        split.setdefault("" if row[series] is None else str(row[series]), []).append(row)
    return [Series(name, _points(part, x, y)) for name, part in split.items()]


def _points(rows: Sequence[Sequence[Any]], x: int, y: int) -> list[tuple[Any, float | None]]:
    return [(row[x], None if row[y] is None else float(row[y])) for row in rows]


def _require_drawable(chart: Chart, found: QueryResult, kind: str) -> None:
    if not any(value is not None for line in chart.lines for _, value in line.points):
        raise ToolError(
            Code.INVALID_ARGUMENTS, "there are no rows with numbers in them, so there is nothing to draw"
        )
    if found.is_cut or len(chart.names) > MOST[kind]:
        raise ToolError(
            Code.TOO_LARGE,
            f"a {kind} chart shows at most {MOST[kind]:,} rows, and there are more; combine them with aggregate, or with "
            "GROUP BY or LIMIT in sql",
        )
    if kind in ("bar", "pie", "line", "area"):
        for line in chart.lines:
            seen: set[Any] = set()
            for x, _ in line.points:
                if x in seen:
                    raise ToolError(
                        Code.INVALID_ARGUMENTS,
                        f"{chart.x_label} is {x!r} in several rows; say with aggregate how they are combined, such as "
                        "sum, or split them with series",
                    )
                seen.add(x)
    if kind == "pie" and (
        len(chart.lines) > 1 or any((value or 0) < 0 for _, value in chart.lines[0].points)
    ):
        raise ToolError(
            Code.INVALID_ARGUMENTS, "a pie shows the shares of one column without negative numbers"
        )


def _told(kinds: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in kinds.items())


if __name__ == "__main__":
    reply(plot)
