"""CSV, TSV, JSON and JSON lines: tables where they are tables, else code."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from brasstag.documents.programs.decoding import decoded
from brasstag.documents.programs.paper import MOST_COLUMNS, Paper

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 64_000
_SAMPLED_ROWS = 100
_LONGEST_FIELD = 1 << 24
_MOST_JSON = 64_000_000


def separated(data: bytes, media_type: str, paper: Paper) -> None:
    """Write a CSV or TSV file as one table."""
    text = decoded(data, paper).replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(_LONGEST_FIELD)
    delimiter = "\t" if media_type == "text/tab-separated-values" else best_delimiter(text[:_SAMPLE])
    if delimiter != "," and media_type == "text/csv":
        paper.note(f"columns are separated by {delimiter!r}")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        first = next(rows, None)
        if first is None:
            return
        header = first if looks_like_names(first) else []
        _tabled(header, _rest(first, rows, has_header=bool(header)), text, paper)
    except csv.Error as error:
        paper.leave_out(f"the rest cannot be read as a table: {error}")


def _tabled(header: list[str], rows: Iterator[list[str]], text: str, paper: Paper) -> None:
    lines = text.count("\n") + (not text.endswith("\n"))
    paper.table(header, rows, {"line": 1, "end_line": lines, "row": 1})


def _rest(first: list[str], rows: Iterator[list[str]], *, has_header: bool) -> Iterator[list[str]]:
    if not has_header:
        yield first
    yield from rows


def best_delimiter(sample: str) -> str:
    """Return what splits most lines into equally many columns."""
    lines = sample.rpartition("\n")[0] or sample

    def score(delimiter: str) -> tuple[float, int]:
        try:
            rows = [
                row
                for row, _ in zip(
                    csv.reader(io.StringIO(lines), delimiter=delimiter), range(_SAMPLED_ROWS), strict=False
                )
            ]
        except csv.Error:
            return 0.0, 0
        widths = [len(row) for row in rows if row]
        usual = max(set(widths), key=widths.count, default=1)
        return (widths.count(usual) / len(widths), usual) if usual > 1 else (0.0, 0)

    return max(_DELIMITERS, key=score)


def looks_like_names(row: Sequence[str]) -> bool:
    """Say whether a first row names columns: texts, no two the same, hardly any empty."""
    said = [cell.strip() for cell in row if cell.strip()]
    is_full = len(said) * 2 > len(row)
    return is_full and len(set(said)) == len(said) and not any(map(_is_number, said))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def json_text(data: bytes, _media_type: str, paper: Paper) -> None:
    """Write JSON as a table where it is a list of flat objects, else as code, indented."""
    text = decoded(data, paper)
    at = {"line": 1, "end_line": text.count("\n") + 1}
    if not text.strip():
        return
    try:
        value = json.loads(text) if len(text) <= _MOST_JSON else _too_long()
        said = "" if _is_flat(value) else json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        paper.note(f"it stands as it is, as it cannot be read as JSON: {_why(error)}")
        paper.code(text, "json", at)
        return
    if said:
        paper.code(said, "json", at)
    else:
        _objects(value, at, paper)


def json_lines(data: bytes, _media_type: str, paper: Paper) -> None:
    """Write JSON lines as a table where they are flat objects, else as code."""
    text = decoded(data, paper)
    at = {"line": 1, "end_line": text.count("\n") + (not text.endswith("\n"))}
    try:
        values = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        paper.note(f"not every line can be read as JSON: {_why(error)}")
        values = []
    if values and _is_flat(values):
        _objects(values, at, paper)
    elif text.strip():
        paper.code(text.removesuffix("\n"), "json", at)


def _objects(values: list[dict[str, Any]], at: dict[str, int], paper: Paper) -> None:
    names = list(dict.fromkeys(name for value in values for name in value))[: MOST_COLUMNS + 1]
    paper.table(names, ([_cell(value.get(name)) for name in names] for value in values), at)


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
