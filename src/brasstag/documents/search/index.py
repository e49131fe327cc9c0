"""Index texts that a scan could not: those to convert first, and all when an index is rebuilt."""

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from brasstag.documents.blocks.render import place_in, text_of
from brasstag.documents.formats.convert import CONVERTER, SLOW, Converted, NotConverted
from brasstag.documents.formats.kinds import CONVERTED, is_text_kind
from brasstag.documents.formats.limits import ONLY_A_LINK, Sizes
from brasstag.documents.formats.text import decoded
from brasstag.documents.scan.walk import ScanProblem
from brasstag.documents.search.search import RowHit, Spot
from brasstag.documents.study.study import ContentToRead, Study
from brasstag.store.database.base import View
from brasstag.store.documents.rows import (
    DocumentRow,
    Pending,
    count_noted,
    count_pending,
    noted_rows,
    pending_rows,
)
from brasstag.store.documents.writer import FoundText
from brasstag.store.maintenance.rebuild_index import expect_outdated
from brasstag.store.store import Store
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.previews import digest_in, is_file

AT_ONCE = 16
"""How many documents are converted before it is asked whether there is time for more."""


_FAILED = tuple(
    f"{code}: "
    for code in (
        Code.CANNOT_CONVERT,
        Code.TOO_LARGE,
        Code.TIMEOUT,
        Code.NOT_KEPT,
        Code.NOT_SUPPORTED,
        Code.CANCELLED,
        Code.BUSY,
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
    problems: tuple[ScanProblem, ...]
    """Why, of the first of them."""


def failures(view: View, most: int) -> Failures:
    """Return what could not be indexed, the first in the order of their paths."""
    return Failures(count_noted(view, _FAILED), tuple(map(_problem, noted_rows(view, _FAILED, most))))


def _problem(row: DocumentRow) -> ScanProblem:
    code, _, reason = row.note.partition(": ")
    return ScanProblem(row.path, Code(code), reason)


@dataclass(frozen=True, slots=True)
class _IndexText:
    """What the index gets of a document."""

    body: str
    note: str = ""
    needs: Pending = Pending.NOTHING
    """What may give more another time."""
    has_failed: bool = False
    """Whether there should have been a text."""


class Indexer:
    """Indexes the documents that wait for it in the store of one room."""

    def __init__(self, store: Store, study: Study, sizes: Sizes) -> None:
        self._store = store
        self._study = study
        self._sizes = sizes

    def index_pending(self, seconds: float | None) -> Indexing:
        """Index what is waiting, converted where it has to be, as long as there is time; None for as long as it takes.

        A document that once took all of the given time is tried again only by a call without a time limit.
        """
        end = float("inf") if seconds is None else time.monotonic() + seconds
        if seconds is None:
            expect_outdated(self._store.database, CONVERTER)
        done = Indexing()
        newest = 0
        while (left := end - time.monotonic()) > 0:
            waiting = self._store.read(partial(pending_rows, most=AT_ONCE, after=newest))
            if not waiting:
                break
            newest = waiting[-1].id
            rows = [row for row in waiting if row.pending != Pending.SLOW or seconds is None]
            self._write(rows, self._texts(rows, left), done)
        done.left = self._store.read(count_pending)
        return done

    def _texts(self, rows: Sequence[DocumentRow], seconds: float) -> list[_IndexText]:
        converted = [row for row in rows if row.pending != Pending.TEXT]
        blocks = self._study.blocks_of([item_of(row) for row in converted], seconds)
        answers = dict(zip((row.id for row in converted), blocks, strict=True))
        return [_converted(answers[row.id]) if row.id in answers else self._own(row) for row in rows]

    def _own(self, row: DocumentRow) -> _IndexText:
        """Return the text of a document that is one itself."""
        if not is_file(row.state):
            return _IndexText("", ONLY_A_LINK)
        text: str | None = None
        if is_text_kind(row.media_type):
            try:
                with self._store.blobs.open(item_of(row).digest) as stream:
                    data = stream.read(self._sizes.indexed)
            except StoreError as error:
                return _IndexText("", f"{Code.NOT_KEPT}: {error}", has_failed=True)
            text = decoded(data, is_whole=len(data) == row.size)
        return _IndexText(text or "", self._sizes.note(row.size, is_text=text is not None))

    def _write(self, rows: Sequence[DocumentRow], texts: Sequence[_IndexText], done: Indexing) -> None:
        written = self._store.documents.index_texts(
            [FoundText(row, text.body, text.note, text.needs) for row, text in zip(rows, texts, strict=True)]
        )
        for row, text in zip(rows, texts, strict=True):
            if row.id in written and text.needs is Pending.NOTHING:
                done.indexed += bool(text.body)
                done.failed += text.has_failed


def _converted(answer: Converted) -> _IndexText:
    if isinstance(answer, NotConverted):
        return _IndexText("", f"{answer.code}: {answer.reason}", _needs(answer), has_failed=True)
    return _IndexText(text_of(answer)[0], " ".join(answer.notes))


def _needs(failed: NotConverted) -> Pending:
    if failed == SLOW:
        return Pending.SLOW
    return Pending.NOTHING if failed.is_lasting else Pending.CONVERT


def item_of(row: DocumentRow) -> ContentToRead:
    """Return what a document holds, to be studied."""
    return ContentToRead(digest_in(row.state) or "", row.media_type, row.path)


def spotted(study: Study, hit: RowHit) -> RowHit:
    """Return a hit with the block it is in, where its document was converted to be searched."""
    row, offset = hit.document, hit.snippet.offset
    if offset is None or row.media_type not in CONVERTED:
        return hit
    try:
        blocks = study.blocks(item_of(row))
    except ToolError:
        return hit
    starts = text_of(blocks)[1]
    number = max(0, bisect_right(starts, offset) - 1)
    place = place_in(blocks.blocks[number], offset - starts[number])
    spot = Spot(place.line, 0, number, place.page, place.sheet, place.row, place.paragraph)
    return replace(hit, spot=spot)
