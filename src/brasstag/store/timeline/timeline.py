"""The timeline: an append-only, hash-chained log of each task, and a feed of what this process adds.

An entry's hash covers the hash before it and the salted digest of its payload. The payload itself can be deleted later
(``redact``) without breaking the chain; its salt goes with it, so that a short secret cannot be guessed from the digest.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import Connection, Row, bindparam, select, update

from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.lookup import rows_named
from brasstag.store.database.schema import entries, tasks
from brasstag.store.database.statements import Guarded, Prepared
from brasstag.store.events.sequence import ENTRY_EVENT
from brasstag.store.timeline.lines import START, EntryLine, Position, entry_hash, line_of, payload_digest
from brasstag.store.timeline.seals import Key, Sealer, is_signed
from brasstag.words.calls import Tag
from brasstag.words.errors import Code, Fenced, StoreError, ToolError, Unproven
from brasstag.words.events import ABOUT_PERMISSIONS, Entry, EntryKind
from brasstag.words.times import Clock, stamp

SEAL_EVERY = 64
"""A long task is sealed each time it has grown by this many entries."""

SEALED_KINDS = frozenset(
    {
        EntryKind.OPENED,
        EntryKind.ASKED,
        EntryKind.REDACTED,
        EntryKind.RESUMED,
        EntryKind.CLOSED,
        EntryKind.RESOLVED,
        *ABOUT_PERMISSIONS,
    }
)

ENDED_STATUSES = ("done", "failed", "cancelled")

NEEDS_OPEN_TASK = frozenset(
    {
        EntryKind.CALLED,
        EntryKind.REFUSED,
        EntryKind.ASKED,
        EntryKind.CLAIMED,
        EntryKind.TURN,
        EntryKind.DELEGATED,
        EntryKind.QUESTIONED,
        EntryKind.COMPACTED,
        EntryKind.NOTICED,
        EntryKind.CHALLENGED,
    }
)
"""Entries that only a task that has not ended may get; a call begun before the end may still settle after it."""

_position = Prepared(
    select(tasks.c.next_seq, tasks.c.head, tasks.c.status, tasks.c.signature, tasks.c.epoch).where(
        tasks.c.id == bindparam("task")
    )
)
_move_head = (
    update(tasks)
    .where(
        tasks.c.id == bindparam("task_id"),
        tasks.c.next_seq == bindparam("seq"),
        tasks.c.head == bindparam("old_head"),
    )
    .values(
        next_seq=bindparam("after"),
        head=bindparam("hash"),
        signature=bindparam("signed"),
        milliseconds=tasks.c.milliseconds + bindparam("worked"),
    )
)
_held = _move_head.where(tasks.c.epoch == bindparam("held"), tasks.c.status == "running")
_append = Guarded(_move_head, entries, ENTRY_EVENT)
_append_open = Guarded(
    _move_head.where(*(tasks.c.status != status for status in ENDED_STATUSES)), entries, ENTRY_EVENT
)
_append_held = Guarded(_held, entries, ENTRY_EVENT)
_append_turn = Guarded(
    _held.values(
        steps=tasks.c.steps + 1,
        tokens=tasks.c.tokens + bindparam("more_tokens"),
        cost=tasks.c.cost + bindparam("more_cost"),
        attempts=0,
    ),
    entries,
    ENTRY_EVENT,
)
"""A turn and what it adds to its task's sums, in one statement."""
_NOTHING: Mapping[str, int] = MappingProxyType({})
SINCE = Prepared(
    select(
        entries.c.seq,
        entries.c.kind,
        entries.c.tag,
        entries.c.call_id,
        entries.c.at,
        entries.c.payload,
        entries.c.hash,
    )
    .where(entries.c.task_id == bindparam("task"), entries.c.seq >= bindparam("at_least"))
    .order_by(entries.c.seq)
)
_erase = Prepared(
    update(entries)
    .where(entries.c.task_id == bindparam("task"), entries.c.seq == bindparam("at_seq"))
    .values(payload=None, salt=None)
)


def _statement(line: EntryLine) -> Guarded:
    if line.spent:
        return _append_turn
    if line.epoch:
        return _append_held
    return _append_open if line.kind in NEEDS_OPEN_TASK else _append


def _is_sealed(line: EntryLine, position: Position) -> bool:
    return line.kind in SEALED_KINDS or position.next_seq % SEAL_EVERY == SEAL_EVERY - 1


class Timeline:
    """Appends to, reads and redacts the chains of a room."""

    def __init__(self, sealer: Sealer, clock: Clock) -> None:
        self._sealer = sealer
        self._clock = clock
        self._known: dict[str, Position] = {}
        self.feeds = Feeds()
        """Copies of what is appended, for the worker that follows a task."""

    def append(
        self,
        transaction: Transaction,
        task_id: str,
        kind: EntryKind,
        call_id: str,
        payload: dict[str, Any],
        *,
        epoch: int = 0,
        spent: Mapping[str, int] = _NOTHING,
    ) -> Tag:
        """Add one entry to a task and return its tag; raise Fenced where the task is not held under ``epoch`` now.

        ``spent`` is what a turn used; it is added to the sums of its task.
        """
        line = line_of(task_id, kind, call_id, payload, stamp(self._clock()), epoch, spent)
        return self._append(transaction, line)

    def append_alone(
        self,
        database: Database,
        task_id: str,
        kind: EntryKind,
        call_id: str,
        payload: dict[str, Any],
        *,
        epoch: int,
        spent: Mapping[str, int] = _NOTHING,
    ) -> Tag:
        """Add one entry as a commit of its own, in a single statement wherever that can be."""
        line = line_of(task_id, kind, call_id, payload, stamp(self._clock()), epoch, spent)
        before = self._known.get(task_id)
        if before is not None and not _is_sealed(line, before):
            after = line.after(before)
            if database.add(_statement(line), **line.values(before, after, self._sealer.key)):
                self._known[task_id] = after
                if feed := self.feeds.of(task_id):
                    feed.add(line.entry(after))
                return Tag(line.tag, after.head)
        # A seal goes with it, or this process does not know where the chain stands now.
        with database.write() as transaction:
            return self._append(transaction, line)

    def _append(self, transaction: Transaction, line: EntryLine) -> Tag:
        task_id = line.task_id
        if line.kind is not EntryKind.OPENED:
            # No other transaction waits for a row that is not there yet.
            transaction.touch_tasks()
        before = self._known.get(task_id) or self._read_position(transaction, task_id, line.kind, line.epoch)
        after = line.after(before)
        while not transaction.run_guarded(_statement(line), **line.values(before, after, self._sealer.key)):
            # Another process appended since we last looked: a person's decision, most often.
            before = self._read_position(transaction, task_id, line.kind, line.epoch)
            after = line.after(before)
        if _is_sealed(line, before):
            transaction.before_commit.append(
                partial(self._sealer.seal, transaction, task_id, before.next_seq, after.head, line.at)
            )
        # Remembered before the commit, as the same transaction may append again. Should it roll back, the head
        # in the table will not match, and the next append reads it anew.
        self._known[task_id] = after
        if feed := self.feeds.of(task_id):
            transaction.after_commit.append(partial(feed.add, line.entry(after)))
        return Tag(line.tag, after.head)

    def erase_payload(self, transaction: Transaction, entry: Entry) -> None:
        """Delete what an entry said; its digest stays in the chain."""
        transaction.run(_erase, task=entry.task_id, at_seq=entry.seq)

    def forget(self, task_id: str) -> None:
        """Drop what is remembered of a task that is over."""
        self._known.pop(task_id, None)

    def seal(self, transaction: Transaction, task_id: str) -> None:
        """Put a task's present head on the room's chain: the next entry may come only after days."""
        next_seq, head, *_ = transaction.run(_position, task=task_id).fetchone()
        at = stamp(self._clock())
        transaction.before_commit.append(
            partial(self._sealer.seal, transaction, task_id, next_seq - 1, head, at)
        )

    def _read_position(self, transaction: Transaction, task_id: str, kind: EntryKind, epoch: int) -> Position:
        row = transaction.run(_position, task=task_id).fetchone()
        if row is None:
            raise StoreError(f"there is no task {task_id}")
        next_seq, head, status, signature, held = row
        if epoch and (held != epoch or status != "running"):
            raise Fenced(task_id)
        if not is_signed(self._sealer.key, task_id, next_seq, head, signature):
            raise Unproven(
                f"the timeline of {task_id} is not signed with this machine's key, so nothing is added to it: it was "
                "tampered with, or begun elsewhere.",
                hint="`brasstag timeline verify` says what does not fit",
            )
        if status in ENDED_STATUSES and kind in NEEDS_OPEN_TASK:
            raise ToolError(
                Code.CANCELLED, f"task {task_id} has ended ({status}); nothing more can be done in it"
            )
        return Position(next_seq, head)


def first_entry(connection: Connection, task_id: str) -> Entry | None:
    """Return what a task was opened with."""
    query = select(entries).where(entries.c.task_id == task_id, entries.c.seq == 0)
    row = connection.execute(query).one_or_none()
    return None if row is None else entry_from(row)


def entries_since(connection: Connection, task_id: str, seq: int) -> list[Entry]:
    """Return a task's entries from a number on, in order."""
    return entries_of(task_id, SINCE.rows(connection, task=task_id, at_least=seq))


def entries_of(task_id: str, rows: list[Any]) -> list[Entry]:
    """Read what SINCE found."""
    return [
        Entry(
            task_id, seq, EntryKind(kind), tag, call_id, at, json.loads(payload) if payload else None, chained
        )
        for seq, kind, tag, call_id, at, payload, chained in rows
    ]


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


def proven_entries(connection: Connection, task_id: str, key: Key, after: Position = START) -> list[Entry]:
    """Return a task's entries, after checking every hash up to its signed head; raise Unproven if any is off.

    Code that acts on an earlier entry, such as a person's decision, takes it from here and from no other table.
    Of a chain that was proven up to ``after``, only what was added to it since is checked and returned.
    """
    task = connection.execute(select(tasks).where(tasks.c.id == task_id)).one_or_none()
    rows = connection.execute(
        select(entries)
        .where(entries.c.task_id == task_id, entries.c.seq >= after.next_seq)
        .order_by(entries.c.seq)
    ).all()
    head = after.head
    length = after.next_seq + len(rows)
    sound = task is not None and is_signed(key, task_id, length, task.head, task.signature)
    for seq, row in enumerate(rows, after.next_seq):
        expected = entry_hash(head, task_id, seq, row.kind, row.tag, row.call_id, row.at, row.digest)
        told = row.payload is None or payload_digest(row.salt or "", row.payload) == row.digest
        sound = sound and told and expected == row.hash and row.seq == seq
        head = row.hash
    if not sound or task is None or task.head != head:
        raise Unproven(
            f"the timeline of {task_id} does not hold, so nothing is done on its word.",
            hint="`brasstag timeline verify` says what does not fit",
        )
    return [entry_from(row) for row in rows]


def find_entry(connection: Connection, tag: str) -> Entry | None:
    """Return the entry with this tag, or with the only tag that ends so."""
    found = rows_named(connection, entries.c.tag, tag)
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


class Feed:
    """The entries this process has added to one task since they were last taken."""

    def __init__(self) -> None:
        self._laid: deque[Entry] = deque()

    def add(self, entry: Entry) -> None:
        """Add an entry whose commit is on disk."""
        self._laid.append(entry)

    def take(self) -> list[Entry]:
        """Return the entries in order, each of them once; what others wrote in between is not among them."""
        # As many as there are now: calls that still run may add to them meanwhile, and not in order.
        taken = [self._laid.popleft() for _ in range(len(self._laid))]
        return sorted(taken, key=lambda entry: entry.seq)


class Feeds:
    """The feeds of the tasks that are followed; a feed that its worker dropped gets no more entries."""

    def __init__(self) -> None:
        self._followed: WeakValueDictionary[str, Feed] = WeakValueDictionary()

    def follow(self, task_id: str) -> Feed:
        """Return a feed of what is added from now on; an earlier feed of the same task gets nothing more."""
        feed = Feed()
        self._followed[task_id] = feed
        return feed

    def of(self, task_id: str) -> Feed | None:
        """Return the feed of a task; None where it is not followed."""
        return self._followed.get(task_id)
