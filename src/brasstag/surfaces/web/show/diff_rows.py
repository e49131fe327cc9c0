"""Diffs as rows: line numbers of both sides, what was added and removed, and which words differ inside a line."""

import difflib
import re
from collections.abc import Iterator
from typing import Literal

from brasstag.documents import diff_lines
from brasstag.surfaces.web.routes import WebModel

RowKind = Literal["same", "added", "removed", "hunk", "note"]

LONGEST_COMPARED = 400
"""Lines longer than this are not compared word by word."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class DiffPiece(WebModel):
    """A part of a line, and whether it differs."""

    text: str
    differs: bool = False


class DiffRow(WebModel):
    """One line of a diff."""

    kind: RowKind
    old: int | None = None
    new: int | None = None
    pieces: list[DiffPiece]


class FileDiff(WebModel):
    """The diff of one file."""

    rows: list[DiffRow]
    added: int
    removed: int


def file_diff(before: bytes | None, after: bytes | None) -> FileDiff:
    """Return the rows of a diff between two contents; None is what is not kept. It may take long: run it on a thread."""
    rows = [*_with_words([*_rows(diff_lines(before, after))])]
    return FileDiff(
        rows=rows,
        added=sum(row.kind == "added" for row in rows),
        removed=sum(row.kind == "removed" for row in rows),
    )


def _rows(lines: Iterator[str]) -> Iterator[DiffRow]:
    old = new = 0
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk:
            old, new = int(hunk[1]), int(hunk[2])
            yield DiffRow(kind="hunk", pieces=[DiffPiece(text=line)])
        elif line.startswith("@"):
            yield DiffRow(kind="note", pieces=[DiffPiece(text=line[1:].strip())])
        elif line.startswith("+"):
            yield DiffRow(kind="added", new=new, pieces=[DiffPiece(text=line[1:])])
            new += 1
        elif line.startswith("-"):
            yield DiffRow(kind="removed", old=old, pieces=[DiffPiece(text=line[1:])])
            old += 1
        else:
            yield DiffRow(kind="same", old=old, new=new, pieces=[DiffPiece(text=line[1:])])
            old, new = old + 1, new + 1


def _with_words(rows: list[DiffRow]) -> Iterator[DiffRow]:
    """Mark the words that differ where as many lines were added as were removed before them."""
    at = 0
    while at < len(rows):
        removed = _run(rows, at, "removed")
        added = _run(rows, at + len(removed), "added")
        if not removed or len(removed) != len(added):
            taken = len(removed) or 1
            yield from rows[at : at + taken]
            at += taken
            continue
        pairs = [_compared(old, new) for old, new in zip(removed, added, strict=True)]
        yield from (old for old, _ in pairs)
        yield from (new for _, new in pairs)
        at += 2 * len(removed)


def _run(rows: list[DiffRow], at: int, kind: RowKind) -> list[DiffRow]:
    end = at
    while end < len(rows) and rows[end].kind == kind:
        end += 1
    return rows[at:end]


def _compared(old: DiffRow, new: DiffRow) -> tuple[DiffRow, DiffRow]:
    before, after = old.pieces[0].text, new.pieces[0].text
    if max(len(before), len(after)) > LONGEST_COMPARED:
        return old, new
    ours, theirs = _WORDS.findall(before), _WORDS.findall(after)
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    if matcher.quick_ratio() < 0.4:
        return old, new
    left: list[DiffPiece] = []
    right: list[DiffPiece] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if i2 > i1:
            left.append(DiffPiece(text="".join(ours[i1:i2]), differs=tag != "equal"))
        if j2 > j1:
            right.append(DiffPiece(text="".join(theirs[j1:j2]), differs=tag != "equal"))
    return old.model_copy(update={"pieces": left}), new.model_copy(update={"pieces": right})
