"""Documents on a shelf: one line each, as wide as the terminal is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.console import screen
from brasstag.surfaces.cli.times import local_time
from brasstag.surfaces.cli.visible import one_line

if TYPE_CHECKING:
    from rich.text import Text

    from brasstag.words.documents import Document

_HEADINGS = ("PATH", "TYPE", "SIZE", "V", "CHANGED", "BY", "ABOUT")
_STYLES = ("bold", "", "", "", "dim", "", "")
_PATH, _ABOUT = 0, len(_HEADINGS) - 1
_LONGEST = {1: 14, 5: 14}
"""Cells of types and roles, where there is not room for everything."""
_LEAST_ABOUT = 10
_LEAST_PATH = 16
_DAY, _MINUTE = 10, 16
_WIDE = 100
"""Cells of a terminal with room for the time of the day."""
_GAP = "  "


def print_shelf(documents: Sequence["Document"], sizes: Sequence[str]) -> None:
    """Print a line for each document; at a terminal, what does not fit is cut off."""
    console = screen()
    width = console.width if console.is_terminal else None
    moment = _DAY if width is not None and width < _WIDE else _MINUTE
    rows = [
        (
            one.path,
            _short_type(one.mime_type),
            size,
            str(one.version),
            local_time(one.updated_at)[:moment],
            one.updated_by,
            _about(one),
        )
        for one, size in zip(documents, sizes, strict=True)
    ]
    shown = [_HEADINGS, *(tuple(map(one_line, row)) for row in rows)]
    widths = _widths(shown, width)
    styles = [["bold"] * len(_HEADINGS), *([_STYLES] * len(rows))]
    for row, styled in zip(shown, styles, strict=True):
        line = _line((_ending(row[_PATH], widths[_PATH]), *row[_PATH + 1 :]), widths, styled)
        if width is not None:
            line.truncate(width, overflow="ellipsis")
        console.print(line)


def _widths(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    from rich.cells import cell_len

    needed = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    if width is None:
        return needed
    needed = [min(cells, _LONGEST.get(place, cells)) for place, cells in enumerate(needed)]
    room = width - sum(needed[_PATH + 1 : _ABOUT]) - len(_GAP) * (len(needed) - 1)
    path = min(needed[_PATH], max(room - _LEAST_ABOUT, _LEAST_PATH))
    return [path, *needed[_PATH + 1 : _ABOUT], min(needed[_ABOUT], max(room - path, 1))]


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
    said = (
        "(pending)" if document.indexed == "pending" else "",
        " ".join(f"#{tag}" for tag in document.tags),
        " ".join((document.description or document.auto_summary or "").split()),
    )
    return " ".join(filter(None, said))
