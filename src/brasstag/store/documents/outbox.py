"""The outbox: what happened in a room, in order, written in the commit that made it happen.

Listeners keep the number of the last event they have read and ask for what came after it. Nothing is delivered, so
nothing is lost while no listener is there; only events beyond the newest ``MOST_KEPT`` are removed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.database.schema import outbox
from brasstag.store.database.statements import Prepared
from brasstag.words.canonical import stored_json

DOCUMENTS = "documents"
"""The topic of changes to documents and to what is said of them."""

MOST_KEPT = 10_000
"""How many events are kept for listeners that were away."""

_insert = Prepared(insert(outbox).values({name: bindparam(name) for name in ("at", "topic", "payload")}))
_since = Prepared(
    select(outbox.c.seq, outbox.c.at, outbox.c.topic, outbox.c.payload)
    .where(outbox.c.seq > bindparam("after"))
    .order_by(outbox.c.seq)
    .limit(bindparam("most"))
)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    seq: int
    at: str
    topic: str
    payload: Mapping[str, Any]


def announce(transaction: Transaction, topic: str, payload: Mapping[str, Any], at: str) -> None:
    """Announce what this commit changes."""
    # Numbers are given out in the order of commits, so that a listener that read one misses no earlier one.
    transaction.lock(Lock.OUTBOX)
    transaction.run(_insert, at=at, topic=topic, payload=stored_json(payload))


def events_since(connection: Connection, seq: int, most: int = 500) -> Sequence[Event]:
    """Return what happened after an event, oldest first."""
    return [
        Event(number, at, topic, json.loads(payload))
        for number, at, topic, payload in _since.rows(connection, after=seq, most=most)
    ]


def newest_event(connection: Connection) -> int:
    """Return the number of the newest event; 0 where nothing has happened yet."""
    return int(connection.execute(select(func.coalesce(func.max(outbox.c.seq), 0))).scalar_one())


def forget_old_events(transaction: Transaction, most: int = MOST_KEPT) -> None:
    """Remove all but the newest events."""
    newest = transaction.execute(select(func.max(outbox.c.seq))).scalar_one_or_none() or 0
    transaction.execute(delete(outbox).where(outbox.c.seq <= newest - most))
