"""Indexing what a scan could not: texts that have to be converted first, and all of them when an index is made anew."""

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from brasstag.documents.converting import SLOW, Converted, NotConverted
from brasstag.documents.decoding import decoded
from brasstag.documents.intake import CONVERT, NO_TEXT, ONLY_A_LINK
from brasstag.documents.kinds import CONVERTED, is_text_kind
from brasstag.documents.rendering import text_of
from brasstag.documents.searching import Hit, Spot
from brasstag.documents.study import Item, Study
from brasstag.store.books import Books
from brasstag.store.database import View
from brasstag.store.documents import (
    DocumentRow,
    count_noted,
    count_pending,
    noted_rows,
    pending_rows,
    rows_of,
    update_rows,
)
from brasstag.store.fulltext import LONGEST_BODY, Indexed, put_texts
from brasstag.store.reindexing import count_missing, expect_missing
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.previews import digest_in

AT_ONCE = 16
"""How many documents are converted before it is asked whether there is time for more."""


def _told(failed: NotConverted) -> str:
    return f"{failed.code}: {failed.reason}"


_SLOW_NOTE = _told(SLOW)
_FAILED = tuple(
    f"{code}: "
    for code in (
        Code.CANNOT_CONVERT,
        Code.TOO_LARGE,
        Code.TIMEOUT,
        Code.NOT_KEPT,
        Code.NOT_SUPPORTED,
        Code.CANCELLED,
    )
)
"""How notes begin that say why there is no text."""


@dataclass(slots=True)
class Indexing:
    """What became of documents whose text was missing in the index."""

    indexed: int = 0
    failed: int = 0
    """Those of which there is no text; the documents say why."""
    left: int = 0
    """Those that there was no time for, or that cannot be converted here."""


@dataclass(frozen=True, slots=True)
class Failures:
    """Documents of which there should be a text, and is none."""

    count: int
    rows: tuple[DocumentRow, ...]
    """The first of them; the note of each says why, with a code."""


def failures(view: View, most: int) -> Failures:
    """Return what could not be indexed, the first in the order of their paths."""
    return Failures(count_noted(view, _FAILED), tuple(noted_rows(view, _FAILED, most)))


def index_pending(
    books: Books, study: Study, seconds: float, stop: Callable[[], bool] = lambda: False
) -> Indexing:
    """Index what is waiting, converted where it has to be, as long as there is time.

    What took all the time there was once is left to those who have all the time in the world.
    """
    end = time.monotonic() + seconds
    done = Indexing()
    newest = 0
    while not stop() and (left := end - time.monotonic()) > 0:
        waiting = books.read(partial(pending_rows, most=AT_ONCE, after=newest))
        if not waiting:
            break
        newest = waiting[-1].id
        rows = [row for row in waiting if row.note != _SLOW_NOTE or seconds == float("inf")]
        _write(books, rows, _texts(books, study, rows, left), done)
    done.left = books.read(count_pending)
    return done


def notice_missing(books: Books) -> None:
    """Let what the index has lost wait to be indexed again, so that nobody takes an index that is short for a whole one."""
    if books.read(count_missing):
        with books.database.write() as transaction:
            expect_missing(transaction, CONVERTED)


@dataclass(frozen=True, slots=True)
class _Text:
    """What the index gets of a document."""

    body: str
    note: str = ""
    is_final: bool = True
    """False where the same bytes may give more another time."""
    has_failed: bool = False
    """Whether there should have been a text."""


def _texts(books: Books, study: Study, rows: Sequence[DocumentRow], seconds: float) -> list[_Text]:
    converted = [row for row in rows if row.pending == CONVERT]
    answers = dict(
        zip(
            (row.id for row in converted),
            study.blocks_of([item_of(row) for row in converted], seconds),
            strict=True,
        )
    )
    return [_converted(answers[row.id]) if row.id in answers else _own(books, row) for row in rows]


def _converted(answer: Converted) -> _Text:
    if isinstance(answer, NotConverted):
        return _Text("", _told(answer), answer.is_lasting, has_failed=True)
    return _Text(text_of(answer)[0], " ".join(answer.notes))


def _own(books: Books, row: DocumentRow) -> _Text:
    """Return the text of a document that is one itself."""
    if not row.state.startswith("file:"):
        return _Text("", ONLY_A_LINK)
    if not is_text_kind(row.media_type):
        return _Text("", NO_TEXT)
    try:
        with books.blobs.open(item_of(row).digest) as stream:
            data = stream.read(LONGEST_BODY + 1)
    except StoreError as error:
        return _Text("", f"{Code.NOT_KEPT}: {error}", has_failed=True)
    is_whole = len(data) <= LONGEST_BODY
    note = "" if is_whole else f"only its first {LONGEST_BODY:,} bytes are in the index"
    text = decoded(data, is_whole=is_whole)
    return _Text("", NO_TEXT) if text is None else _Text(text, note)


def _write(books: Books, rows: Sequence[DocumentRow], texts: Sequence[_Text], done: Indexing) -> None:
    with books.database.write() as transaction:
        transaction.lock("documents")
        present = rows_of(transaction.connection, [row.id for row in rows])
        changed: dict[int, DocumentRow] = {}
        indexed: list[Indexed] = []
        for row, text in zip(rows, texts, strict=True):
            now = present.get(row.id)
            if now is None or (now.state, now.pending) != (row.state, row.pending):
                # It has changed since; it waits, as it is now.
                continue
            changed[row.id] = replace(now, pending="" if text.is_final else now.pending, note=text.note)
            if text.is_final:
                indexed.append(Indexed(row.id, now.path, now.words, text.body))
                done.indexed += bool(text.body)
                done.failed += text.has_failed
        for number, note in put_texts(transaction, indexed).items():
            changed[number] = replace(changed[number], note=note)
        update_rows(transaction, list(changed.values()))


def item_of(row: DocumentRow) -> Item:
    """Return what a document holds, to be studied."""
    return Item(digest_in(row.state) or "", row.media_type, row.path)


def spotted(study: Study, hit: Hit) -> Hit:
    """Return a hit with the block it is in, where its document was converted to be searched."""
    row, offset = hit.document, hit.snippet.offset
    if offset is None or row.media_type not in CONVERTED:
        return hit
    try:
        blocks = study.blocks(item_of(row))
    except ToolError:
        return hit
    text, starts = text_of(blocks)
    number = max(0, bisect_right(starts, offset) - 1)
    place = blocks.blocks[number].at
    # The cells of a row stand in one line, so lines are rows.
    row_number = place.row and place.row + text.count("\n", starts[number], offset)
    spot = Spot(place.line, 0, number, place.page, place.sheet, row_number, place.paragraph)
    return replace(hit, spot=spot)
