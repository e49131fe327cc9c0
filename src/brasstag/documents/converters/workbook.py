"""Workbooks: each sheet becomes a heading and a table."""

import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import CalamineWorkbook

from brasstag.documents.converters.delimiters import looks_like_names
from brasstag.documents.converters.formulas import UNCALCULATED_TOLD, has_uncalculated
from brasstag.documents.converters.limits import refuse_bomb
from brasstag.documents.converters.writer import BlockWriter, Unreadable


def workbook(data: bytes, _media_type: str, writer: BlockWriter) -> None:
    """Write every sheet of a workbook."""
    if data.startswith(b"PK"):
        refuse_bomb(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = book.sheet_names
    except Exception as error:  # noqa: BLE001 - the library says so of every kind of damage
        raise Unreadable("CANNOT_CONVERT", f"it cannot be read as a workbook: {_why(error)}") from None
    if has_uncalculated(io.BytesIO(data)):
        writer.note(UNCALCULATED_TOLD)
    for name in names:
        try:
            sheet = book.get_sheet_by_name(name)
        except Exception as error:  # noqa: BLE001 - the library says so of every kind of damage
            writer.leave_out(f"sheet {name!r} cannot be read: {_why(error)}")
            continue
        writer.heading(name, 2, {"sheet": name})
        _write(sheet, name, writer)


def _write(sheet: Any, name: str, writer: BlockWriter) -> None:
    start = sheet.start
    if start is None:
        return
    rows = (list(map(_cell, row)) for row in _used(sheet.iter_rows(), start[0]))
    first = next(rows, None)
    if first is None:
        return
    header = first if looks_like_names(first) else []
    at = {"sheet": name, "row": start[0] + 1}
    writer.table(header, rows if header else _with(first, rows), at)


def _used(rows: Iterator[list[Any]], skipped: int) -> Iterator[list[Any]]:
    """Yield the rows that are used: the reader counts from the first of the sheet, which may be empty."""
    for number, row in enumerate(rows):
        if number >= skipped:
            yield row


def _with(first: list[str], rows: Iterator[list[str]]) -> Iterator[list[str]]:
    yield first
    yield from rows


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, timedelta) else f"{value}"


def _why(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
