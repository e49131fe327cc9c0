"""How a file becomes tables for SQL; its first bytes count more than its name."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import duckdb

from brasstag.documents.data.dates import order_told
from brasstag.documents.data.ragged import NotEven, seen_layout
from brasstag.documents.data.recode import NotUtf8, beginning_of, tells_of_encoding
from brasstag.documents.data.sources import TableFile, ViewSource, first_lines, literal, not_a_table
from brasstag.documents.formats.text import encoding_of

TABLES = "CSV, TSV, JSON, JSON lines, Parquet, XLSX, XLS and ODS files"

_WHOLE_FILE = -1
_UTF8 = ("utf-8", "utf-8-sig")
_EMPTY = "(empty)"
_UNFIT = ("fits no table and is left out", "fit no table and are left out")


Reads = Callable[[duckdb.DuckDBPyConnection, TableFile, bool], Iterator[ViewSource]]
"""Yields the tables of a file; with True it looks at all of it, not only its beginning, to find out the types."""


def read_tables(
    connection: duckdb.DuckDBPyConnection, table_file: TableFile, *, thorough: bool
) -> Iterator[ViewSource]:
    """Yield the tables of a file; raise ToolError where it has none, NotUtf8 or NotEven where it must be rewritten."""
    head = beginning_of(table_file)
    if not head:
        raise not_a_table(table_file, "it is empty")
    by_bytes = next((reads for mark, reads in _BY_MARK.items() if head.startswith(mark)), None)
    reads = by_bytes or _BY_ENDING.get(table_file.ending)
    if reads is None:
        raise not_a_table(table_file, f"only {TABLES} are")
    if by_bytes is None:
        encoding = encoding_of(head)
        if encoding is None:
            raise not_a_table(table_file, "it is no text, whatever its name says")
        if encoding not in _UTF8:
            raise NotUtf8
    return reads(connection, table_file, thorough)


def _separated(
    connection: duckdb.DuckDBPyConnection, table_file: TableFile, thorough: bool
) -> Iterator[ViewSource]:
    """Find out how a file is written, once; every reading after that goes by it."""
    given = {"compression": literal("gzip" if table_file.is_packed else "none")}
    given |= {"delim": "','", "quote": "'\"'", "escape": "'\"'"} if table_file.evened else {}
    sampled = given | ({"sample_size": str(_WHOLE_FILE)} if thorough else {})
    found = _sniffed(connection, table_file, _options(sampled))
    if len(found.columns) < 2 and table_file.ending in _ANY_TEXT:
        raise not_a_table(table_file, "no character sets its columns apart")
    types = ", ".join(f"{literal(column['name'])}: {literal(column['type'])}" for column in found.columns)
    options = given | {
        "auto_detect": "false",
        "delim": literal(found.delimiter),
        # None in its beginning is not none at all: a quote further down means what it always does.
        "quote": literal('"' if found.quote == _EMPTY else found.quote),
        "escape": literal('"' if found.escape == _EMPTY else found.escape),
        "comment": literal("" if found.comment == _EMPTY else found.comment),
        "skip": str(found.skipped),
        "header": str(found.has_header).lower(),
        "columns": f"{{{types}}}",
        **({"dateformat": literal(found.dates)} if found.dates else {}),
        **({"timestampformat": literal(found.moments)} if found.moments else {}),
    }
    relation = f"read_csv({literal(str(table_file.path))}, {_options(options)})"
    try:
        told = order_told(connection, relation, found.columns, found.dates or found.moments)
    except duckdb.ConversionException:
        if not thorough:
            # A later date is written in another order than the dates at the beginning.
            yield from _separated(connection, table_file, thorough=True)
            return
        told = []
    if thorough:
        _run(connection, table_file, f"FROM {relation} SELECT count(*)")
    notes = [first_lines(found.skipped, *_UNFIT)] if found.skipped else []
    notes += [table_file.evened] if table_file.evened else []
    yield ViewSource(relation, note="; ".join([*notes, *told, *_encoding_told(table_file)]))


class _Sniffed(NamedTuple):
    """What DuckDB says of how a file is written."""

    delimiter: str
    quote: str
    escape: str
    comment: str
    skipped: int
    has_header: bool
    columns: Sequence[Mapping[str, str]]
    dates: str | None
    moments: str | None


def _sniffed(connection: duckdb.DuckDBPyConnection, table_file: TableFile, options: str) -> _Sniffed:
    """Return what DuckDB finds out; raise NotEven where lines that do not fit make it miss a clear layout."""
    row = _run(
        connection,
        table_file,
        f"FROM sniff_csv({literal(str(table_file.path))}, {options}) "
        "SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, Columns, DateFormat, TimestampFormat",
    )
    # DuckDB raises where it finds nothing, so there is a row.
    found = _Sniffed(*cast("tuple[Any, ...]", row))
    is_odd = len(found.columns) < 2 or found.skipped
    if is_odd and not table_file.evened and _overlooks(table_file, found):
        raise NotEven
    return found


def _run(connection: duckdb.DuckDBPyConnection, table_file: TableFile, sql: str) -> Any:
    """Return the first row; raise NotEven where DuckDB cannot read a line of a file that is not evened yet."""
    try:
        return connection.execute(sql).fetchone()
    except duckdb.InvalidInputException as error:
        if table_file.evened or tells_of_encoding(error):
            raise
        raise NotEven from error


def _overlooks(table_file: TableFile, found: _Sniffed) -> bool:
    """Say whether there are columns that DuckDB does not set apart, or rows among the lines that it would skip."""
    seen = seen_layout(table_file)
    if seen.width < 2 or (table_file.ending in _ANY_TEXT and seen.part < _MOST):
        return False
    has_columns = len(seen.first) > 1
    misses_columns = len(found.columns) < 2 and has_columns and seen.part >= _HALF
    return misses_columns or (found.skipped > seen.above and (has_columns or found.skipped >= seen.begins))


def _objects(
    _connection: duckdb.DuckDBPyConnection, table_file: TableFile, thorough: bool
) -> Iterator[ViewSource]:
    if not table_file.recoded and beginning_of(table_file).startswith(BOM_UTF8):
        # DuckDB takes the mark for a part of the JSON.
        raise NotUtf8
    options = {"compression": literal("gzip" if table_file.is_packed else "none")}
    options |= {"sample_size": str(_WHOLE_FILE)} if thorough else {}
    yield ViewSource(
        f"read_json({literal(str(table_file.path))}, {_options(options)})",
        note="; ".join(_encoding_told(table_file)),
    )


def _columnar(
    _connection: duckdb.DuckDBPyConnection, table_file: TableFile, _thorough: bool
) -> Iterator[ViewSource]:
    yield ViewSource(f"read_parquet({literal(str(table_file.path))})")


def _workbook(
    connection: duckdb.DuckDBPyConnection, table_file: TableFile, _thorough: bool
) -> Iterator[ViewSource]:
    from brasstag.documents.data.workbooks import read_workbook  # noqa: PLC0415 - what it needs is another extra's

    yield from read_workbook(connection, table_file)


def _encoding_told(table_file: TableFile) -> list[str]:
    is_other = table_file.recoded and table_file.recoded not in _UTF8
    return [f"it is not UTF-8, and was read as {table_file.recoded}"] if is_other else []


def _options(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


_ANY_TEXT = frozenset({".txt", ".dat"})
_HALF, _MOST = 0.5, 0.9
"""How many lines have to have equally many values to be believed to be rows, in a table, and in any text."""
_BY_MARK: Mapping[bytes, Reads] = {
    b"PAR1": _columnar,
    b"PK\x03\x04": _workbook,
    b"\xd0\xcf\x11\xe0": _workbook,
}
_BY_ENDING: Mapping[str, Reads] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", *_ANY_TEXT), _separated),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _objects),
}
