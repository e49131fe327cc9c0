"""Exports: entries with their chain, calls in S1's five fields, the newest seal."""

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, select

from brasstag.store.schema import checkpoints, entries
from brasstag.store.timeline import read_entries
from brasstag.words.events import EntryKind

_FIRST = frozenset({EntryKind.CLAIMED, EntryKind.ASKED})
_CLOSING = frozenset({EntryKind.CALLED, EntryKind.REFUSED, EntryKind.SETTLED, EntryKind.DECIDED})


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
    """Yield every call that ended as one JSON line: type, tool, input, result, timestamp, and its tag."""
    begun: dict[str, dict[str, Any]] = {}
    for entry in read_entries(connection, task_id):
        payload = entry.payload or {}
        if entry.kind in _FIRST:
            begun[entry.call_id] = payload
        if entry.kind in _CLOSING and "outcome" in payload:
            whole = begun.pop(entry.call_id, {}) | payload
            yield json.dumps(
                {
                    "type": whole.get("type") if entry.kind is not EntryKind.DECIDED else "function_tool",
                    "tool": whole.get("tool"),
                    "input": whole.get("input"),
                    "result": payload.get("result"),
                    "timestamp": entry.at,
                    "tag": entry.tag,
                },
                ensure_ascii=False,
            )


def newest_seal(connection: Connection) -> dict[str, Any] | None:
    """Return the newest link of the room-wide chain."""
    row = connection.execute(select(checkpoints).order_by(checkpoints.c.seq.desc()).limit(1)).one_or_none()
    return dict(row._mapping) if row else None
