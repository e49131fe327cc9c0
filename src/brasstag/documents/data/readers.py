"""Readers: how a file becomes tables for SQL. What a file is, its first bytes say before its name does."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping

import duckdb

from brasstag.documents.data.recoding import NotUtf8, beginning_of
from brasstag.documents.data.shelf import Shelved, Source, literal, not_a_table
from brasstag.documents.decoding import encoding_of

TABLES = "CSV, TSV, JSON, JSON lines, Parquet, XLSX, XLS and ODS files"

_WHOLE_FILE = -1
_UTF8 = ("utf-8", "utf-8-sig")
_EMPTY = "(empty)"


Reads = Callable[[duckdb.DuckDBPyConnection, Shelved, bool], Iterator[Source]]
"""Yields the tables of a file; with True it looks at all of it, not only its beginning, to find out the types."""


def read_tables(
    connection: duckdb.DuckDBPyConnection, shelved: Shelved, *, thorough: bool
) -> Iterator[Source]:
    """Yield the tables of a file; raise ToolError where it has none, NotUtf8 where it has to be recoded first."""
    head = beginning_of(shelved)
    if not head:
        raise not_a_table(shelved, "it is empty")
    by_bytes = next((reads for mark, reads in _BY_MARK.items() if head.startswith(mark)), None)
    reads = by_bytes or _BY_ENDING.get(shelved.ending)
    if reads is None:
        raise not_a_table(shelved, f"only {TABLES} are")
    if by_bytes is None:
        encoding = encoding_of(head)
        if encoding is None:
            raise not_a_table(shelved, "it is no text, whatever its name says")
        if encoding not in _UTF8:
            raise NotUtf8
    return reads(connection, shelved, thorough)


def _separated(connection: duckdb.DuckDBPyConnection, shelved: Shelved, thorough: bool) -> Iterator[Source]:
    """Find out how a file is written, once; every reading after that goes by it."""
    given = {"compression": literal("gzip" if shelved.is_packed else "none")}
    sampled = given | ({"sample_size": str(_WHOLE_FILE)} if thorough else {})
    sniffed = connection.execute(
        f"FROM sniff_csv({literal(str(shelved.path))}, {_options(sampled)}) "
        "SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, Columns, DateFormat, TimestampFormat"
    ).fetchone()
    assert sniffed is not None  # noqa: S101 - it raises where it finds nothing
    delimiter, quote, escape, comment, skipped, has_header, columns, dates, moments = sniffed
    if len(columns) < 2 and shelved.ending in _ANY_TEXT:
        raise not_a_table(shelved, "no character sets its columns apart")
    types = ", ".join(f"{literal(column['name'])}: {literal(column['type'])}" for column in columns)
    options = given | {
        "auto_detect": "false",
        "delim": literal(delimiter),
        # None in its beginning is not none at all: a quote further down means what it always does.
        "quote": literal('"' if quote == _EMPTY else quote),
        "escape": literal('"' if escape == _EMPTY else escape),
        "comment": literal("" if comment == _EMPTY else comment),
        "skip": str(skipped),
        "header": str(has_header).lower(),
        "columns": f"{{{types}}}",
        **({"dateformat": literal(dates)} if dates else {}),
        **({"timestampformat": literal(moments)} if moments else {}),
    }
    notes = [f"its first {skipped} lines fit no table and are left out"] if skipped else []
    yield Source(
        f"read_csv({literal(str(shelved.path))}, {_options(options)})",
        note="; ".join([*notes, *_encoding_told(shelved)]),
    )


def _objects(_connection: duckdb.DuckDBPyConnection, shelved: Shelved, thorough: bool) -> Iterator[Source]:
    if not shelved.recoded and beginning_of(shelved).startswith(BOM_UTF8):
        # DuckDB takes the mark for a part of the JSON.
        raise NotUtf8
    options = {"compression": literal("gzip" if shelved.is_packed else "none")}
    options |= {"sample_size": str(_WHOLE_FILE)} if thorough else {}
    yield Source(
        f"read_json({literal(str(shelved.path))}, {_options(options)})",
        note="; ".join(_encoding_told(shelved)),
    )


def _columnar(_connection: duckdb.DuckDBPyConnection, shelved: Shelved, _thorough: bool) -> Iterator[Source]:
    yield Source(f"read_parquet({literal(str(shelved.path))})")


def _workbook(connection: duckdb.DuckDBPyConnection, shelved: Shelved, _thorough: bool) -> Iterator[Source]:
    from brasstag.documents.data.workbooks import read_workbook  # noqa: PLC0415 - what it needs is another extra's

    yield from read_workbook(connection, shelved)


def _encoding_told(shelved: Shelved) -> list[str]:
    is_other = shelved.recoded and shelved.recoded not in _UTF8
    return [f"it is not UTF-8, and was read as {shelved.recoded}"] if is_other else []


def _options(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


_ANY_TEXT = frozenset({".txt", ".dat"})
_BY_MARK: Mapping[bytes, Reads] = {
    b"PAR1": _columnar,
    b"PK\x03\x04": _workbook,
    b"\xd0\xcf\x11\xe0": _workbook,
}
_BY_ENDING: Mapping[str, Reads] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", *_ANY_TEXT), _separated),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), _objects),
}
