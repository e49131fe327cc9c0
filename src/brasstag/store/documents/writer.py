"""Everything that is written about documents outside of calls: one method, one commit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from brasstag.store.contents.blobs import Blobs
from brasstag.store.contents.small import LARGEST, add_contents
from brasstag.store.contents.touched import forget_touched
from brasstag.store.database.base import Database
from brasstag.store.database.locks import Lock
from brasstag.store.documents.conversions import Conversion, learn
from brasstag.store.documents.findings import PathFinding, ScanContext
from brasstag.store.documents.record import Record, RecordedFindings
from brasstag.store.documents.rows import DocumentRow, Pending, rows_of, update_rows
from brasstag.store.fulltext.index import Indexed, put_texts
from brasstag.store.timeline.seals import Key
from brasstag.words.canonical import sha256


@dataclass(frozen=True, slots=True)
class FoundText:
    """The text of a document that waited for the index."""

    row: DocumentRow
    """The document, as it was when its text was read."""
    body: str
    note: str
    pending: Pending
    """What the index needs after this; with anything but ``NOTHING``, only that and the note are written."""


class DocumentWriter:
    """Writes what scans, conversions and the index find out about the documents of one room."""

    def __init__(self, database: Database, blobs: Blobs, key: Key, now: Callable[[], str]) -> None:
        self._database = database
        self._blobs = blobs
        self._key = key
        self._now = now

    def record_scan(self, findings: Sequence[PathFinding], context: ScanContext) -> RecordedFindings:
        """Write down what a scan found at some paths: versions, rows, index and the event."""
        with self._database.write() as transaction:
            return Record(transaction, self._now(), context).write(findings)

    def forget_touched(self, numbers: Iterable[int]) -> None:
        """Forget the touched paths that were noted under these numbers: they have been looked at."""
        with self._database.write() as transaction:
            forget_touched(transaction, numbers)

    def index_texts(self, found: Sequence[FoundText]) -> frozenset[int]:
        """Index documents that have not changed since their texts were read; return the ids of these."""
        with self._database.write() as transaction:
            transaction.lock(Lock.DOCUMENTS)
            present = rows_of(transaction.connection, [one.row.id for one in found])
            changed: dict[int, DocumentRow] = {}
            indexed: list[Indexed] = []
            for one in found:
                now = present.get(one.row.id)
                if now is None or (now.state, now.pending) != (one.row.state, one.row.pending):
                    # It has changed since; it waits, as it is now.
                    continue
                changed[now.id] = replace(now, pending=one.pending, note=one.note)
                if one.pending is Pending.NOTHING:
                    indexed.append(Indexed(now.id, now.path, now.words, one.body))
            for number, note in put_texts(transaction, indexed).items():
                changed[number] = replace(changed[number], note=note)
            update_rows(transaction, list(changed.values()))
            return frozenset(changed)

    def learn(self, known: Conversion, **more: Any) -> Conversion:
        """Write down what was found out about a content beside what is known; return both."""
        with self._database.write() as transaction:
            return learn(transaction, self._key, known, **more)

    def keep_blocks(self, digest: str, media_type: str, converter: str, blocks: bytes) -> None:
        """Keep the blocks that a converter made of a content."""
        is_small = len(blocks) <= LARGEST
        made = sha256(blocks) if is_small else self._blobs.put(blocks)
        with self._database.write() as transaction:
            if is_small:
                add_contents(transaction, {made: blocks}, self._now())
            learn(
                transaction,
                self._key,
                Conversion(digest, media_type),
                converter=converter,
                blocks=made,
                code="",
                reason="",
                # Counted again: what another converter read may have been more, or less.
                tokens=None,
                tokenizer="",
            )
