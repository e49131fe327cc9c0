"""PDF: pages with headings, paragraphs, lists and tables."""

from typing import Any

from pdf_oxide import PdfDocument

from brasstag.documents.converters.pdf.grids import grids_of
from brasstag.documents.converters.pdf.layout import (
    Found,
    Page,
    Sheet,
    in_reading_order,
    lines_of,
    write_pages,
)
from brasstag.documents.converters.writer import BlockWriter, Unreadable

MOST_PAGES = 3_000
_LONGEST_CELL = 60
"""Characters, on average, in cells of tables that no lines are drawn around: with more it is text in columns."""


def pdf(data: bytes, _media_type: str, writer: BlockWriter) -> None:
    """Write the blocks of a PDF."""
    try:
        document = PdfDocument.from_bytes(data)
        count = int(document.page_count)
    except Exception as error:  # noqa: BLE001 - the library says so of every kind of damage
        raise Unreadable("CANNOT_CONVERT", f"it cannot be read as PDF: {error}") from None
    if count > MOST_PAGES:
        writer.leave_out(f"only the first {MOST_PAGES:,} of its {count:,} pages are here")
    if b"%%EOF" not in data[-2048:]:
        writer.leave_out("its end is missing; what could be found of it is here")
    pages = [_page(document, number, writer) for number in range(min(count, MOST_PAGES))]
    if not any(page.has_text for page in pages):
        raise Unreadable("CANNOT_CONVERT", _why_empty(document, count))
    empty = [str(page.number) for page in pages if not page.has_text]
    if empty:
        told = ", ".join(empty[:20]) + (" and others" if len(empty) > 20 else "")
        writer.note(f"no text was found on pages {told}; they may be pictures")
    write_pages(pages, writer)


def _why_empty(document: PdfDocument, count: int) -> str:
    if any(one.get("category") == "encryption" for one in document.structured_warnings()):
        return "it is encrypted; save it without a password"
    return f"none of its {count:,} pages has any text; it may be scanned, or cut off"


def _page(document: PdfDocument, number: int, writer: BlockWriter) -> Page:
    try:
        found = document.extract_spans(number, None, "column_aware")
        spans = in_reading_order([span for span in found if span.text.strip()])
        grids = grids_of(document.extract_paths(number))
        tables = [Sheet(grid.left, grid.bottom, grid.right, grid.top) for grid in grids]
        for table, grid in zip(tables, grids, strict=True):
            table.rows = grid.filled(spans)
        tables = [table for table in tables if table.rows]
        if not tables and spans:
            tables = _unruled(document.extract_tables(number))
    except Exception as error:  # noqa: BLE001 - the library says so of every kind of damage
        writer.leave_out(f"page {number + 1} cannot be read: {' '.join(str(error).split())[:100]}")
        return Page(number + 1, [])
    return Page(number + 1, _in_order(spans, tables))


def _unruled(found: list[dict[str, Any]]) -> list[Sheet]:
    """Return the tables that the library itself has seen, where they are not just columns of text."""
    tables = []
    for one in found:
        rows = [[cell["text"] for cell in row["cells"]] for row in one["rows"]]
        said = [len(cell) for row in rows for cell in row if cell.strip()]
        if len(rows) > 1 and max(map(len, rows)) > 1 and said and sum(said) <= _LONGEST_CELL * len(said):
            left, bottom, width, height = one["bbox"]
            tables.append(Sheet(left, bottom, left + width, bottom + height, rows))
    return tables


def _in_order(spans: list[Any], tables: list[Sheet]) -> list[Found]:
    """Return lines and tables as they are read: a table stands where the first of its words stood."""
    found: list[Found] = []
    pending: list[Any] = []
    seen: set[int] = set()
    for span in spans:
        table = next((one for one in tables if one.holds(span)), None)
        if table is None:
            pending.append(span)
        elif id(table) not in seen:
            seen.add(id(table))
            found += lines_of(pending)
            pending = []
            found.append(table)
    found += lines_of(pending)
    return found
