"""Rows of separated values: their delimiter, where they begin, and whether the first row names the columns."""

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

SAMPLE = 64_000
"""Characters of a text that are enough to say how it is laid out."""
UNPARTED = "\x1f"
"""Stands for the delimiter of a table that has only one column."""
LONGEST_FIELD = 1 << 24

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLED_ROWS = 100
_MOST_ABOVE = 20
_ROWS_BELOW = 10
_COMMENT = "#"


class Layout(NamedTuple):
    """How the rows of a text are laid out."""

    delimiter: str
    width: int
    """Columns of most rows."""
    part: float
    """How many of the rows have as many."""
    above: int
    """Lines above the table, which say something about it."""
    begins: int
    """The first line with as many columns as most."""
    first: Sequence[str]
    """The row that the table begins with."""
    is_named: bool
    """Whether that row names its columns."""

    @property
    def columns(self) -> int:
        """How many values a row should have."""
        return len(self.first) if self.is_named else self.width


def layout_of(text: str, delimiter: str = "") -> Layout:
    """Return how a text is laid out, of which SAMPLE characters are looked at."""
    sample = text[:SAMPLE]
    delimiter = delimiter or best_delimiter(sample)
    rows = _sampled(sample, delimiter)
    width, part = _usual(row for _, row in rows)
    start = _begins(rows, width)
    told = [row for _, row in rows[start:] if row]
    first: Sequence[str] = told[0] if told else ()
    above = rows[start][0] - 1 if start else 0
    begins = next((line for line, row in rows if len(row) == width), 1)
    return Layout(delimiter, width, part, above, begins, first, _names(first, told[1 : 1 + _ROWS_BELOW]))


def best_delimiter(sample: str) -> str:
    """Return what splits most lines into equally many columns."""

    def score(delimiter: str) -> tuple[float, int]:
        usual, part = _usual(row for _, row in _sampled(sample, delimiter))
        return (part, usual) if usual > 1 else (0.0, 0)

    return max(_DELIMITERS, key=score)


def looks_like_names(row: Sequence[str]) -> bool:
    """Say whether a first row names columns: texts, no two the same, hardly any empty."""
    said = [cell.strip() for cell in row if cell.strip()]
    return _is_full_of_words(row) and len(set(said)) == len(said)


def _names(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Say whether a row names columns, also where two have one name: then only numbers below tell."""
    return looks_like_names(first) or (_is_full_of_words(first) and any(map(_has_number, below)))


def _is_full_of_words(row: Sequence[str]) -> bool:
    said = [cell.strip() for cell in row if cell.strip()]
    return len(said) * 2 > len(row) and not any(map(_is_number, said))


def _sampled(sample: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the first rows, each with the line that it begins in."""
    whole = sample.rpartition("\n")[0] or sample
    reader = csv.reader(io.StringIO(whole, newline=""), delimiter=delimiter)
    found: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for row in islice(reader, _SAMPLED_ROWS):
            found.append((line, row))
            line = reader.line_num + 1
    except csv.Error:
        # What can be read before has to tell.
        pass
    return found


def _usual(rows: Iterable[Sequence[str]]) -> tuple[int, float]:
    """Return how many columns most rows have, and how many of the rows have them."""
    widths = [len(row) for row in rows if row]
    usual = max(sorted(set(widths)), key=widths.count, default=1)
    return usual, widths.count(usual) / max(1, len(widths))


def _begins(rows: Sequence[tuple[int, Sequence[str]]], width: int) -> int:
    """Return the place of the row that a table begins with: words above it are narrower, and set apart from it."""
    start = next((place for place, (_, row) in enumerate(rows) if len(row) >= width), 0)
    above = [row for _, row in rows[:start]]
    if not any(above):
        return start
    if start > _MOST_ABOVE or not looks_like_names(rows[start][1]):
        return 0
    is_comment = all(row[0].lstrip().startswith(_COMMENT) for row in above if row)
    below = [row for _, row in rows[start + 1 : start + 1 + _ROWS_BELOW]]
    return start if is_comment or not all(above) or any(map(_has_number, below)) else 0


def _has_number(row: Sequence[str]) -> bool:
    return any(map(_is_number, row))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
