"""CSV, TSV, JSON and JSON lines: as tables where they are tables, else as code."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from brasstag.documents.converters.delimiters import LONGEST_FIELD, layout_of
from brasstag.documents.converters.text import decoded, paragraphs
from brasstag.documents.converters.writer import MOST_COLUMNS, BlockWriter

_MOST_JSON = 64_000_000


def separated(data: bytes, media_type: str, writer: BlockWriter) -> None:
    """Write a CSV or TSV file as one table, below what stands above it."""
    text = decoded(data, writer).replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(LONGEST_FIELD)
    layout = layout_of(text, "\t" if media_type == "text/tab-separated-values" else "")
    if layout.delimiter != "," and media_type == "text/csv":
        writer.note(f"columns are separated by {layout.delimiter!r}")
    above, below = _parted(text, layout.above)
    paragraphs(above, writer)
    rows = csv.reader(io.StringIO(below, newline=""), delimiter=layout.delimiter)
    begins = layout.above + 1
    at = {"line": begins, "end_line": text.count("\n") + (not text.endswith("\n")), "row": begins}
    try:
        header = next(filter(None, rows), []) if layout.is_named else []
        writer.table(header, _closed(rows, writer) if text.count('"') % 2 else rows, at)
    except csv.Error as error:
        writer.leave_out(f"the rest cannot be read as a table: {error}")


def _closed(rows: Iterable[list[str]], writer: BlockWriter) -> Iterator[list[str]]:
    """Yield rows of which one may have a quote that is never closed, and has swallowed all lines behind it."""
    last: list[str] = []
    for last in rows:
        yield last
    if last and "\n" in last[-1]:
        lines = last[-1].count("\n")
        writer.note(f"a quote is opened and never closed, so that the last {lines:,} lines stand in one cell")


def _parted(text: str, lines: int) -> tuple[str, str]:
    """Return the first lines of a text, and what is below them."""
    place = 0
    for _ in range(lines):
        place = text.index("\n", place) + 1
    return text[:place], text[place:]


def json_text(data: bytes, _media_type: str, writer: BlockWriter) -> None:
    """Write JSON as a table where it is a list of flat objects, else as code, indented."""
    text = decoded(data, writer)
    at = {"line": 1, "end_line": text.count("\n") + 1}
    if not text.strip():
        return
    try:
        value = json.loads(text) if len(text) <= _MOST_JSON else _too_long()
        said = "" if _is_flat(value) else json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        writer.note(f"it stands as it is, as it cannot be read as JSON: {_why(error)}")
        writer.code(text, "json", at)
        return
    if said:
        writer.code(said, "json", at)
    else:
        _objects(value, at, writer)


def json_lines(data: bytes, _media_type: str, writer: BlockWriter) -> None:
    """Write JSON lines as a table where they are flat objects, else as code."""
    text = decoded(data, writer)
    at = {"line": 1, "end_line": text.count("\n") + (not text.endswith("\n"))}
    try:
        values = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        writer.note(f"not every line can be read as JSON: {_why(error)}")
        values = []
    if values and _is_flat(values):
        _objects(values, at, writer)
    elif text.strip():
        writer.code(text.removesuffix("\n"), "json", at)


def _objects(values: list[dict[str, Any]], at: dict[str, int], writer: BlockWriter) -> None:
    names = list(dict.fromkeys(name for value in values for name in value))[: MOST_COLUMNS + 1]
    writer.table(names, ([_cell(value.get(name)) for name in names] for value in values), at)


def _is_flat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and one for one in value)
        and not any(isinstance(cell, dict | list) for one in value for cell in one.values())
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _too_long() -> Any:
    raise ValueError(f"it is longer than {_MOST_JSON:,} characters")


def _why(error: Exception) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
