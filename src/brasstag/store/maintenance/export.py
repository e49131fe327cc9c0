"""Exports: entries with their chain, calls in five fields, the newest seal."""

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, select

from brasstag.store.database.schema import checkpoints, entries
from brasstag.store.timeline.records import call_records


def export_entries(connection: Connection, task_id: str | None) -> Iterator[str]:
    """Yield every entry, and after them every seal, as one JSON line each, exactly as stored."""
    query = select(entries).order_by(entries.c.task_id, entries.c.seq)
    seals = select(checkpoints).order_by(checkpoints.c.seq)
    if task_id is not None:
        query = query.where(entries.c.task_id == task_id)
        seals = seals.where(checkpoints.c.task_id == task_id)
    for row in connection.execute(query):
        yield json.dumps({"record": "entry", **row._mapping}, ensure_ascii=False)
    for row in connection.execute(seals):
        yield json.dumps({"record": "seal", **row._mapping}, ensure_ascii=False)


def export_calls(connection: Connection, task_id: str | None) -> Iterator[str]:
    """Yield every call as one JSON line: type, tool, input, result, timestamp, how it stands, and its tag."""
    for record in call_records(connection, task_id):
        yield json.dumps(record.as_json(), ensure_ascii=False)


def newest_seal(connection: Connection) -> dict[str, Any] | None:
    """Return the newest link of the room-wide chain."""
    row = connection.execute(select(checkpoints).order_by(checkpoints.c.seq.desc()).limit(1)).one_or_none()
    return dict(row._mapping) if row else None
