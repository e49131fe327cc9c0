"""Indexing what a scan could not: texts that have to be converted first, and all of them when an index is made anew."""

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from brasstag.documents.converting import Converted, NotConverted
from brasstag.documents.decoding import decoded
from brasstag.documents.intake import CONVERT
from brasstag.documents.kinds import CONVERTED
from brasstag.documents.rendering import text_of
from brasstag.documents.searching import Hit, Spot
from brasstag.documents.study import Item, Study
from brasstag.store.books import Books
from brasstag.store.documents import DocumentRow, count_pending, pending_rows, rows_of, update_rows
from brasstag.store.fulltext import LONGEST_BODY, Indexed, put_texts
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.previews import digest_in

AT_ONCE = 16
"""How many documents are converted before it is asked whether there is time for more."""


@dataclass(slots=True)
class Indexing:
    """What became of documents whose text was missing in the index."""

    indexed: int = 0
    failed: int = 0
    """Those of which there is no text; the documents say why."""
    left: int = 0
    """Those that there was no time for, or that cannot be converted here."""


def index_pending(
    books: Books, study: Study, seconds: float, stop: Callable[[], bool] = lambda: False
) -> Indexing:
    """Index what is waiting, converted where it has to be, as long as there is time."""
    end = time.monotonic() + seconds
    done = Indexing()
    newest = 0
    while not stop() and time.monotonic() < end:
        rows = books.read(partial(pending_rows, most=AT_ONCE, after=newest))
        if not rows:
            break
        newest = rows[-1].id
        _write(books, rows, _texts(books, study, rows), done)
    done.left = books.read(count_pending)
    return done


@dataclass(frozen=True, slots=True)
class _Text:
    """What the index gets of a document."""

    body: str
    note: str = ""
    is_final: bool = True
    """False where the same bytes may give more another time."""


def _texts(books: Books, study: Study, rows: Sequence[DocumentRow]) -> list[_Text]:
    converted = [row for row in rows if row.pending == CONVERT]
    answers = dict(
        zip(
            (row.id for row in converted),
            study.blocks_of([item_of(row) for row in converted]),
            strict=True,
        )
    )
    return [_converted(answers[row.id]) if row.id in answers else _own(books, row) for row in rows]


def _converted(answer: Converted) -> _Text:
    if isinstance(answer, NotConverted):
        return _Text("", f"{answer.code}: {answer.reason}", answer.is_lasting)
    return _Text(text_of(answer)[0], " ".join(answer.notes))


def _own(books: Books, row: DocumentRow) -> _Text:
    """Return the text of a document that is one itself."""
    if not row.state.startswith("file:"):
        return _Text("")
    try:
        with books.blobs.open(item_of(row).digest) as stream:
            data = stream.read(LONGEST_BODY + 1)
    except StoreError as error:
        return _Text("", f"{Code.NOT_KEPT}: {error}")
    is_whole = len(data) <= LONGEST_BODY
    note = "" if is_whole else f"only its first {LONGEST_BODY:,} bytes are in the index"
    text = decoded(data, is_whole=is_whole)
    return _Text("") if text is None else _Text(text, note)


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
                done.failed += not text.body and bool(text.note)
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
    _, starts = text_of(blocks)
    number = max(0, bisect_right(starts, offset) - 1)
    place = blocks.blocks[number].at
    return replace(hit, spot=Spot(line=place.line, block=number, page=place.page, sheet=place.sheet))
