"""Tables of documents and versions: one line each, as wide as the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.terminal.console import screen, screen_width
from brasstag.surfaces.cli.terminal.numbers import local_time, size
from brasstag.surfaces.visible import one_line

if TYPE_CHECKING:
    from rich.text import Text

    from brasstag.words.documents import Document


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; where it must be cut, the first column loses its beginning, all others their end."""

    heading: str
    style: str = ""
    longest: int | None = None
    """Its width in cells where there is no space for everything."""


_COLUMNS = (
    Column("PATH", "bold"),
    Column("TYPE", longest=14),
    Column("SIZE"),
    Column("V"),
    Column("CHANGED", "dim"),
    Column("BY", longest=14),
    Column("ABOUT"),
)
_LEAST_FIRST, _LEAST_LAST = 16, 10
_DAY, _MINUTE = 10, 16
_WIDE = 100
"""Cells of a terminal with room for the time of the day beside everything else."""
_GAP = "  "


def print_document_table(documents: Sequence["Document"]) -> None:
    """Print a line for each document."""
    moment = _DAY if is_narrow() else _MINUTE
    rows = [
        (
            one.path,
            _short_type(one.mime_type),
            size(one.size_bytes),
            str(one.version),
            local_time(one.updated_at)[:moment],
            one.updated_role or one.updated_by,
            _about(one),
        )
        for one in documents
    ]
    print_rows(_COLUMNS, rows)


def is_narrow() -> bool:
    """Say whether this is a terminal without room for everything."""
    return (screen_width() or _WIDE) < _WIDE


def print_rows(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print each row on one line; at a terminal, what does not fit is cut off."""
    console = screen()
    width = screen_width()
    shown = [[column.heading for column in columns], *([one_line(cell) for cell in row] for row in rows)]
    widths = _widths(columns, shown, width)
    own = [column.style for column in columns]
    for place, (first, *rest) in enumerate(shown):
        styles = own if place else ["bold"] * len(columns)
        line = _line([_ending(first, widths[0]), *rest], widths, styles)
        if width is not None:
            line.truncate(width, overflow="ellipsis")
        console.print(line)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    from rich.cells import cell_len

    needed = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    if width is None:
        return needed
    first, *middle, last = (
        min(cells, column.longest or cells) for cells, column in zip(needed, columns, strict=True)
    )
    room = width - sum(middle) - len(_GAP) * (len(columns) - 1)
    first = min(first, max(room - min(last, _LEAST_LAST), _LEAST_FIRST))
    return [first, *middle, min(last, max(room - first, 1))]


def _ending(path: str, width: int) -> str:
    """Return as much of a path as fits, from its end: the name tells most."""
    from rich.cells import cell_len

    if cell_len(path) <= width:
        return path
    while cell_len(path) >= width:
        path = path[1:]
    return f"…{path}"


def _line(row: Sequence[str], widths: Sequence[int], styles: Sequence[str]) -> "Text":
    from rich.text import Text

    cells = []
    for text, width, style in zip(row, widths, styles, strict=True):
        cell = Text(text, style=style)
        cell.truncate(width, overflow="ellipsis", pad=True)
        cells.append(cell)
    line = Text(_GAP).join(cells)
    line.rstrip()
    return line


def _short_type(media_type: str) -> str:
    """Return what tells types apart: ``csv`` of text/csv, ``sheet`` of the long name of a workbook."""
    subtype = media_type.rpartition("/")[2]
    return subtype.rpartition(".")[2].removeprefix("x-")


def _about(document: "Document") -> str:
    is_pending = document.indexed == "pending"
    said = (
        "(pending)" if is_pending else "",
        " ".join(f"#{tag}" for tag in document.tags),
        " ".join((document.description or document.auto_summary or "").split()),
        "" if is_pending or document.indexed == "whole" else f"({document.indexed})",
    )
    return " ".join(filter(None, said))
