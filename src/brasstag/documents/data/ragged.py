"""Tables whose rows have different lengths, rewritten so that all rows have the same; nothing is lost."""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TextIO

from brasstag.documents.converters.delimiters import LONGEST_FIELD, SAMPLE, UNPARTED, Layout, layout_of
from brasstag.documents.data.recode import MOST_RECODED, NotUtf8
from brasstag.documents.data.sources import TableFile, first_lines, not_a_table
from brasstag.words.errors import Code, ToolError

_TABBED = frozenset({".tsv", ".tab"})
_MOST_BEYOND = 20
"""Columns for values that a line has too many of; all that are beyond stand in the last."""
_LINES_NAMED = 5
_ABOVE = ("stands above the table and is left out", "stand above the table and are left out")


class NotEven(Exception):
    """A file is a table, but DuckDB does not see how: not every line has as many values."""


@dataclass(slots=True)
class _RaggedLines:
    """Lines that do not fit: how many, and the first few."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        self.count += 1
        if len(self.first) < _LINES_NAMED:
            self.first.append(line)

    def told(self, what: str) -> list[str]:
        if not self.count:
            return []
        numbers = ", ".join(f"{line:,}" for line in self.first)
        more = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        has = "line has" if self.count == 1 else "lines have"
        return [f"{self.count:,} {has} {what} (line {numbers}{more})"]


def seen_layout(table_file: TableFile) -> Layout:
    """Return the layout of a file as its beginning shows it."""
    with _opened(table_file, "replace") as file:
        sample = file.read(SAMPLE)
    return layout_of(sample, "\t" if table_file.ending in _TABBED and "\t" in sample else "")


def evened(table_file: TableFile, scratch: Path) -> TableFile:
    """Return a file with the same rows, all of them with as many values, and a word on those that had more or fewer."""
    layout = seen_layout(table_file)
    # Beside the one that it was recoded to.
    place = scratch / f"{table_file.path.name}.even"
    try:
        fewer, more, width = _misfits(table_file, layout)
        _write(table_file, layout, place, width)
    except UnicodeDecodeError:
        raise NotUtf8 from None
    beyond = " to ".join(dict.fromkeys(f"column{number}" for number in (layout.columns, width - 1)))
    notes = [
        *([first_lines(layout.above, *_ABOVE)] if layout.above else ()),
        *fewer.told(f"fewer than {layout.columns} values, and the others are NULL"),
        *more.told(f"more than {layout.columns} values, and the others stand in {beyond}"),
    ]
    return replace(table_file, path=place, evened="; ".join(notes) or "its lines do not all end alike")


def _misfits(table_file: TableFile, layout: Layout) -> tuple[_RaggedLines, _RaggedLines, int]:
    """Return which lines have too few values, which too many, and how many columns all of them take."""
    fewer, more, width = _RaggedLines(), _RaggedLines(), layout.columns
    for line, row in _rows(table_file, layout):
        if len(row) != layout.columns:
            (more if len(row) > layout.columns else fewer).add(line)
        width = max(width, len(row))
    return fewer, more, min(width, layout.columns + _MOST_BEYOND)


def _write(table_file: TableFile, layout: Layout, place: Path, width: int) -> None:
    written = 0
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for number, (_, row) in enumerate(_rows(table_file, layout)):
            whole = _fitted(row, width, layout.delimiter)
            is_named = number == 0 and layout.is_named
            written += writer.writerow(_titled(whole) if is_named else whole)
            if written > MOST_RECODED:
                raise ToolError(
                    Code.TOO_LARGE,
                    f"the lines of {table_file.document} differ in their number of values, and it is too long to correct; "
                    "give every line as many, and ask that",
                )


def _fitted(row: list[str], width: int, delimiter: str) -> list[str]:
    if len(row) > width:
        return [*row[: width - 1], delimiter.join(row[width - 1 :])]
    return row + [""] * (width - len(row))


def _titled(names: list[str]) -> list[str]:
    """Return names of columns, those that have none by their number, as DuckDB has it."""
    return [name.strip() or f"column{number}" for number, name in enumerate(names)]


def _rows(table_file: TableFile, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield all rows but empty ones, each with the line it begins in; raise where a quote is never closed."""
    csv.field_size_limit(LONGEST_FIELD)
    delimiter = layout.delimiter if layout.columns > 1 else UNPARTED
    line = layout.above + 1
    with _opened(table_file, "strict") as file:
        reader = csv.reader(islice(file, layout.above, None), delimiter=delimiter, strict=True)
        try:
            for row in reader:
                # What separates nothing at the end of a line is no value.
                while len(row) > layout.columns and not row[-1]:
                    row.pop()
                if row:
                    yield line, row
                line = layout.above + reader.line_num + 1
        except csv.Error as error:
            raise not_a_table(
                table_file, f"line {line:,} cannot be read ({error}); look at its quotes"
            ) from None


def _opened(table_file: TableFile, errors: str) -> TextIO:
    if table_file.is_packed:
        return gzip.open(table_file.path, "rt", newline="", encoding="utf-8-sig", errors=errors)
    return table_file.path.open(newline="", encoding="utf-8-sig", errors=errors)
