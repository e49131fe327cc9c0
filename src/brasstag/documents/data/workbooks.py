"""Workbooks: each sheet becomes a table of the database."""

import csv
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from tempfile import NamedTemporaryFile
from typing import Any

import duckdb
from python_calamine import CalamineError, CalamineWorkbook

from brasstag.documents.converters.formulas import UNCALCULATED_TOLD, has_uncalculated
from brasstag.documents.converters.limits import MOST_UNPACKED
from brasstag.documents.data.sources import TableFile, ViewSource, identifier, literal, not_a_table
from brasstag.words.errors import Code, ToolError

MOST_CELLS = 5_000_000
"""The largest sheet that is read into memory."""
_TYPES: Mapping[type, str] = {bool: "BOOLEAN", datetime: "TIMESTAMP", date: "DATE", time: "TIME"}


def read_workbook(connection: duckdb.DuckDBPyConnection, table_file: TableFile) -> Iterator[ViewSource]:
    """Yield a table for each sheet that holds anything, its first row taken for the names of its columns."""
    _refuse_bomb(table_file)
    note = UNCALCULATED_TOLD if has_uncalculated(table_file.path) else ""
    try:
        workbook = CalamineWorkbook.from_path(str(table_file.path))
        for number, name in enumerate(workbook.sheet_names):
            sheet = workbook.get_sheet_by_name(name)
            if sheet.height * sheet.width > MOST_CELLS:
                raise ToolError(
                    Code.TOO_LARGE,
                    f"sheet {name!r} of {table_file.document} has {sheet.height * sheet.width:,} cells; "
                    f"at most {MOST_CELLS:,} are read. Save it as CSV, and ask that",
                )
            rows = sheet.to_python(skip_empty_area=True)
            if rows:
                table = _loaded(connection, table_file.path.name, number, rows)
                yield ViewSource(table, sheet=name, note=note, is_stored=True)
    except CalamineError as error:
        raise not_a_table(table_file, f"it cannot be read as a workbook ({error})") from None


def _loaded(
    connection: duckdb.DuckDBPyConnection, name: str, number: int, rows: Sequence[Sequence[Any]]
) -> str:
    """Put the rows of a sheet into a table of the database, by way of a file, which is far faster than one by one."""
    header, *body = rows
    titles = _titles(header)
    types = [_type_of(row[place] for row in body) for place in range(len(titles))]
    with NamedTemporaryFile("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [_cell(value, kind) for value, kind in zip(row, types, strict=True)] for row in body
        )
        file.flush()
        return _copied(connection, f"sheet {name} {number}", file.name, dict(zip(titles, types, strict=True)))


def _copied(connection: duckdb.DuckDBPyConnection, name: str, file: str, types: Mapping[str, str]) -> str:
    table = identifier(name)
    columns = ", ".join(f"{literal(title)}: {literal(kind)}" for title, kind in types.items())
    connection.execute(
        f"CREATE TABLE {table} AS FROM read_csv({literal(file)}, auto_detect=false, delim=',', "
        f"quote='\"', escape='\"', header=false, columns={{{columns}}})"
    )
    return table


def _titles(header: Sequence[Any]) -> list[str]:
    titles: list[str] = []
    for place, value in enumerate(header):
        title = first = " ".join(str(value).split()) or f"column{place}"
        number = 1
        while title.lower() in {known.lower() for known in titles}:
            title, number = f"{first}_{number}", number + 1
        titles.append(title)
    return titles


def _type_of(values: Iterable[Any]) -> str:
    """Return the type that all cells of a column have; text where they differ."""
    kinds = {type(value) for value in values if value != ""}
    if kinds and kinds <= {int, float}:
        return "DOUBLE"
    return _TYPES.get(next(iter(kinds)), "VARCHAR") if len(kinds) == 1 else "VARCHAR"


def _cell(value: Any, kind: str) -> str:
    if kind == "VARCHAR" and isinstance(value, float) and value.is_integer():
        # In a sheet every number is one with a fraction; a column of codes and words means 12, not 12.0.
        return str(int(value))
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def _refuse_bomb(table_file: TableFile) -> None:
    if not zipfile.is_zipfile(table_file.path):
        return
    with zipfile.ZipFile(table_file.path) as box:
        unpacked = sum(part.file_size for part in box.infolist())
    if unpacked > MOST_UNPACKED:
        raise ToolError(
            Code.TOO_LARGE,
            f"{table_file.document} unpacks to {unpacked:,} bytes; at most {MOST_UNPACKED:,} are read",
        )
