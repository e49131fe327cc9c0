"""The timeline: an append-only, hash-chained log per task.

An entry's hash covers the hash before it and the salted digest of its payload. The payload itself can be deleted later
(``redact``) without breaking the chain; its salt goes with it, so that a short secret cannot be guessed from the digest.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from brasstag.store.database import Transaction
from brasstag.store.prepared import Prepared
from brasstag.store.schema import entries, tasks
from brasstag.store.seals import GENESIS, Sealer, head_signature
from brasstag.words.calls import Tag
from brasstag.words.canonical import stored_json
from brasstag.words.errors import StoreError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import new_id
from brasstag.words.times import Clock, stamp

SEAL_EVERY = 64
"""A long task is sealed each time it has grown by this many entries."""

SEALED_KINDS = frozenset({EntryKind.OPENED, EntryKind.ASKED, EntryKind.REDACTED, EntryKind.CLOSED})

_position = Prepared(select(tasks.c.next_seq, tasks.c.head).where(tasks.c.id == bindparam("task")))
_advance = Prepared(
    update(tasks)
    .where(
        tasks.c.id == bindparam("task"),
        tasks.c.next_seq == bindparam("seq"),
        tasks.c.head == bindparam("old_head"),
    )
    .values(next_seq=bindparam("after"), head=bindparam("new_head"), signature=bindparam("signed"))
)
_insert = Prepared(
    insert(entries).values({column.name: bindparam(column.name) for column in entries.columns})
)
_erase = Prepared(
    update(entries)
    .where(entries.c.task_id == bindparam("task"), entries.c.seq == bindparam("at_seq"))
    .values(payload=None, salt=None)
)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a task's chain stands."""

    next_seq: int
    head: str


START = Position(0, GENESIS)
"""Where every chain begins."""


def payload_digest(salt: str, payload: str) -> str:
    """Return the salted digest that stands in the chain for a payload."""
    return hashlib.sha256(f"{salt}{payload}".encode()).hexdigest()


def entry_hash(
    previous: str, task_id: str, seq: int, kind: str, tag: str, call_id: str, at: str, digest: str
) -> str:
    """Return the hash of an entry, over everything it says and the hash before it."""
    said = "\n".join((previous, task_id, str(seq), kind, tag, call_id, at, digest))
    return hashlib.sha256(said.encode()).hexdigest()


class Timeline:
    """Appends to, reads and redacts the chains of a room."""

    def __init__(self, sealer: Sealer, clock: Clock) -> None:
        self._sealer = sealer
        self._clock = clock
        self._known: dict[str, Position] = {}

    def append(
        self, transaction: Transaction, task_id: str, kind: EntryKind, call_id: str, payload: dict[str, Any]
    ) -> Tag:
        """Add one entry to a task and return its tag."""
        at = stamp(self._clock())
        text = stored_json(payload | {"timestamp": at})
        salt = os.urandom(16).hex()
        digest = payload_digest(salt, text)
        tag = new_id("tag")
        position = self._known.get(task_id) or self._read_position(transaction, task_id)
        while True:
            seq = position.next_seq
            head = entry_hash(position.head, task_id, seq, kind, tag, call_id, at, digest)
            moved = transaction.run(
                _advance,
                task=task_id,
                seq=seq,
                old_head=position.head,
                after=seq + 1,
                new_head=head,
                signed=head_signature(self._sealer.key, task_id, seq + 1, head),
            )
            if moved.rowcount == 1:
                break
            # Another process appended since we last looked: a person's decision, most often.
            position = self._read_position(transaction, task_id)
        transaction.run(
            _insert,
            task_id=task_id,
            seq=seq,
            kind=kind.value,
            tag=tag,
            call_id=call_id,
            at=at,
            payload=text,
            salt=salt,
            digest=digest,
            hash=head,
        )
        if kind in SEALED_KINDS or seq % SEAL_EVERY == SEAL_EVERY - 1:
            self._sealer.seal(transaction, task_id, seq, head, at)
        # Remembered before the commit, as the same transaction may append again. Should it roll back, the head
        # in the table will not match, and the next append reads it anew.
        self._known[task_id] = Position(seq + 1, head)
        return Tag(tag, head)

    def erase_payload(self, transaction: Transaction, entry: Entry) -> None:
        """Delete what an entry said; its digest stays in the chain."""
        transaction.run(_erase, task=entry.task_id, at_seq=entry.seq)

    def forget(self, task_id: str) -> None:
        """Drop what is remembered of a task that is over."""
        self._known.pop(task_id, None)

    def _read_position(self, transaction: Transaction, task_id: str) -> Position:
        row = transaction.run(_position, task=task_id).fetchone()
        if row is None:
            raise StoreError(f"there is no task {task_id}")
        return Position(*row)


def read_entries(
    connection: Connection, task_id: str | None = None, call_id: str | None = None, newest: int | None = None
) -> Iterator[Entry]:
    """Yield entries in order of time and chain; the newest only, where a number is given."""
    query = select(entries)
    if task_id is not None:
        query = query.where(entries.c.task_id == task_id)
    if call_id is not None:
        query = query.where(entries.c.call_id == call_id)
    if newest is None:
        for row in connection.execute(query.order_by(entries.c.at, entries.c.task_id, entries.c.seq)):
            yield entry_from(row)
        return
    backwards = query.order_by(entries.c.at.desc(), entries.c.task_id.desc(), entries.c.seq.desc()).limit(
        newest
    )
    yield from reversed([entry_from(row) for row in connection.execute(backwards)])


def find_entry(connection: Connection, tag: str) -> Entry | None:
    """Return the entry with this tag, or with the only tag that ends so."""
    exact = connection.execute(select(entries).where(entries.c.tag == tag)).one_or_none()
    if exact is not None:
        return entry_from(exact)
    found = connection.execute(
        select(entries).where(entries.c.tag.endswith(tag, autoescape=True)).limit(2)
    ).all()
    return entry_from(found[0]) if len(found) == 1 else None


def entry_from(row: Row[Any]) -> Entry:
    """Read a row of the entries table."""
    return Entry(
        task_id=row.task_id,
        seq=row.seq,
        kind=EntryKind(row.kind),
        tag=row.tag,
        call_id=row.call_id,
        at=row.at,
        payload=None if row.payload is None else json.loads(row.payload),
        hash=row.hash,
    )
