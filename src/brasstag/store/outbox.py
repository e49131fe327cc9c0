"""The outbox: what happened in a room, in order, for whoever listens; written in the commit that made it so.

Listeners keep the number of the last event they have heard and ask for what came after it. Nothing is delivered, so
nothing is lost while nobody listens; only what is older than anybody cares for is removed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from brasstag.store.database import Transaction
from brasstag.store.locks import Lock
from brasstag.store.prepared import Prepared
from brasstag.store.schema import outbox
from brasstag.words.canonical import stored_json

DOCUMENTS = "documents"
"""The topic of what becomes of documents, and is said of them."""

MOST_KEPT = 10_000
"""How many events stay for those who were away."""

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
    """Say what this commit makes so."""
    # Numbers are given out in the order of commits, so that nobody who has heard one misses an earlier one.
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
