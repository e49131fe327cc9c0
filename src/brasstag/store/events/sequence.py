"""The sequence of a room's events: each is written in the commit that makes it true.

Watchers keep the id of the last event they have read, and ask for what came after it. Nothing is delivered, so nothing is
lost while no watcher is there. Only the newest ``MOST_KEPT`` are kept; a watcher that fell behind them is told to reload.

On Postgres many transactions commit at once, and a number that was given out early may be committed late. So an id also
holds the number of its transaction, and events are read only up to the oldest transaction that is still open. On SQLite
there is one writer at a time; there the number of the transaction is 0.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    literal_column,
    select,
    tuple_,
    update,
)

from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.database.schema import entries, events, facts
from brasstag.store.database.statements import Prepared, RowBeside
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry, EntryKind

MOST_KEPT = 100_000
"""How many events are kept for watchers that were away."""

MOST_AT_ONCE = 500
"""How many events one look returns."""

Topic = Literal["entry", "task", "documents", "issue", "output"]
"""What an event is about: a new entry, the status of a task, changed documents, an issue, or what a program printed."""

_FORGOTTEN = "events_forgotten"
"""The fact that holds the id of the newest event that was removed."""

_WRITER = literal_column("(pg_current_xact_id()::text)::bigint", BigInteger)
_OLDEST_OPEN = literal_column("(pg_snapshot_xmin(pg_current_snapshot())::text)::bigint", BigInteger)


class EventId(NamedTuple):
    """The place of an event in the sequence; a later event has a larger one."""

    writer: int = 0
    """The number of the transaction that wrote it; 0 on SQLite."""
    seq: int = 0

    def __str__(self) -> str:
        """Return it as one word, which ``parse`` reads."""
        return f"{self.writer}-{self.seq}"

    @classmethod
    def parse(cls, text: str) -> "EventId":
        """Read an id; raise ToolError for what is none."""
        parts = text.split("-")
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
            raise ToolError(
                Code.INVALID_ARGUMENTS, f"{text[:40]!r} is no id of an event; pass one that you were given"
            )
        return cls(int(parts[0]), int(parts[1]))


START = EventId()
"""Before the first event."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a room."""

    id: EventId
    at: str
    topic: Topic
    subject: str
    """The task or the issue it is about; empty for documents."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    """For documents, what changed; for output, what was printed."""
    entry: Entry | None = None
    """The entry that was added to the timeline of a task."""


ENTRY_EVENT = RowBeside(
    events,
    {
        "topic": literal("entry"),
        "subject": bindparam("task_id"),
        "number": bindparam("seq"),
        "at": bindparam("at"),
    },
    {"postgresql": {"writer": _WRITER}},
)
"""The event of an entry, written by the statement that adds the entry."""

_said: dict[str, Any] = {name: bindparam(name) for name in ("at", "topic", "subject", "payload")}
_insert = {
    "sqlite": Prepared(insert(events).values(_said)),
    "postgresql": Prepared(insert(events).values({**_said, "writer": _WRITER})),
}
_all = (
    select(
        events.c.writer,
        events.c.seq,
        events.c.at,
        events.c.topic,
        events.c.subject,
        events.c.payload,
        events.c.number,
        entries.c.kind,
        entries.c.tag,
        entries.c.call_id,
        entries.c.payload,
        entries.c.hash,
    )
    .select_from(
        events.outerjoin(
            entries,
            and_(
                events.c.topic == "entry",
                entries.c.task_id == events.c.subject,
                entries.c.seq == events.c.number,
            ),
        )
    )
    .limit(bindparam("most"))
)
_after = tuple_(events.c.writer, events.c.seq) > tuple_(bindparam("writer"), bindparam("seq"))
_since = {
    "sqlite": Prepared(_all.where(events.c.seq > bindparam("seq")).order_by(events.c.seq)),
    "postgresql": Prepared(
        _all.where(_after, events.c.writer < _OLDEST_OPEN).order_by(events.c.writer, events.c.seq)
    ),
}
_newest = {
    "sqlite": Prepared(select(literal(0), events.c.seq).order_by(events.c.seq.desc()).limit(1)),
    "postgresql": Prepared(
        select(events.c.writer, events.c.seq)
        .where(events.c.writer < _OLDEST_OPEN)
        .order_by(events.c.writer.desc(), events.c.seq.desc())
        .limit(1)
    ),
}
_forgotten = Prepared(select(facts.c.value).where(facts.c.name == _FORGOTTEN))


def announce(
    transaction: Transaction,
    topic: Topic,
    at: str,
    subject: str = "",
    payload: Mapping[str, Any] | None = None,
) -> None:
    """Announce what this commit changes."""
    statement = _insert[transaction.connection.dialect.name]
    said = "" if payload is None else stored_json(payload)
    transaction.run(statement, at=at, topic=topic, subject=subject, payload=said)


def events_since(connection: Connection, after: EventId, most: int = MOST_AT_ONCE) -> Sequence[Event]:
    """Return what happened after an event, oldest first."""
    rows = _since[connection.dialect.name].rows(connection, writer=after.writer, seq=after.seq, most=most)
    return [_event(row) for row in rows]


def newest_event(connection: Connection) -> EventId:
    """Return the id of the newest event; START where nothing has happened yet."""
    rows = _newest[connection.dialect.name].rows(connection)
    return EventId(*rows[0]) if rows else START


def is_kept(connection: Connection, after: EventId) -> bool:
    """Say whether all that came after an event is still there; False also for an id that this room never gave out."""
    return _last_forgotten(connection) <= after <= max(newest_event(connection), _last_forgotten(connection))


def has_old_events(connection: Connection, most: int = MOST_KEPT) -> bool:
    """Say whether there are more events than are kept."""
    return bool(connection.execute(_oldest_but(most)).first())


def forget_old_events(transaction: Transaction, most: int = MOST_KEPT) -> None:
    """Remove all but the newest events, and write down how far."""
    transaction.lock(Lock.FACTS)
    row = transaction.execute(_oldest_but(most)).first()
    if row is None:
        return
    last = EventId(*row)
    old = tuple_(events.c.writer, events.c.seq) <= tuple_(literal(last.writer), literal(last.seq))
    transaction.execute(delete(events).where(old))
    known = transaction.execute(select(func.count()).where(facts.c.name == _FORGOTTEN)).scalar_one()
    change = update(facts).where(facts.c.name == _FORGOTTEN) if known else insert(facts)
    transaction.execute(change.values(name=_FORGOTTEN, value=str(last)))


def _oldest_but(most: int) -> Select[Any]:
    """Select the newest event beyond those that are kept."""
    key = (events.c.writer, events.c.seq)
    return select(*key).order_by(*(column.desc() for column in key)).offset(most).limit(1)


def _last_forgotten(connection: Connection) -> EventId:
    rows = _forgotten.rows(connection)
    return EventId.parse(rows[0][0]) if rows else START


def _event(row: tuple[Any, ...]) -> Event:
    writer, seq, at, topic, subject, payload, number, kind, *entry = row
    event = Event(EventId(writer, seq), at, topic, subject, json.loads(payload) if payload else {})
    if kind is None:
        return event
    tag, call_id, told, chained = entry
    said = json.loads(told) if told else None
    return replace(event, entry=Entry(subject, number, EntryKind(kind), tag, call_id, at, said, chained))
