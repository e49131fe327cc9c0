"""Exports: entries with their chain, calls in five fields, the newest seal."""

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, select

from brasstag.store.database.schema import checkpoints, entries
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.events import Entry, EntryKind

_OPEN = {
    EntryKind.ASKED: "waiting",
    EntryKind.CLAIMED: "acting",
    EntryKind.DELEGATED: "waiting",
    EntryKind.QUESTIONED: "waiting",
}
"""How a call stands after an entry that does not end it."""
_CLOSING = frozenset(
    {
        EntryKind.CALLED,
        EntryKind.REFUSED,
        EntryKind.SETTLED,
        EntryKind.DECIDED,
        EntryKind.RETURNED,
        EntryKind.ANSWERED,
    }
)


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
    """Yield every call as one JSON line: type, tool, input, result, timestamp, how it stands, and its tag.

    Calls that have ended come first, in the order of their ends; after them those that have not.
    """
    begun: dict[str, _Begun] = {}
    doubtful: dict[str, tuple[Entry, _Begun | None]] = {}
    ended: set[str] = set()
    for entry in read_entries(connection, task_id):
        if entry.kind in _OPEN:
            _, before = doubtful.pop(entry.call_id, (None, begun.get(entry.call_id)))
            begun[entry.call_id] = _Begun(entry, before)
        elif entry.kind in _CLOSING and _closes(entry):
            whole = begun.pop(entry.call_id, None)
            if _status(entry) == "unknown":
                # A person may still be asked, and their answer then ends it.
                doubtful[entry.call_id] = entry, whole
            else:
                yield _line(entry, whole, _status(entry))
        elif entry.kind is EntryKind.CLOSED:
            ended.add(entry.task_id)
        elif entry.kind is EntryKind.RESUMED:
            ended.discard(entry.task_id)
    for entry, whole in doubtful.values():
        yield _line(entry, whole, _status(entry))
    for call in begun.values():
        status = "cut off" if call.last.task_id in ended else _OPEN[call.last.kind]
        yield _line(call.last, call, _status(call.last, status))


class _Begun:
    """A call that has not ended, as its entries so far tell."""

    def __init__(self, entry: Entry, before: "_Begun | None") -> None:
        payload = entry.payload or {}
        self.last = entry
        self.type: Any = before.type if before else payload.get("type")
        self.tool: Any = before.tool if before else payload.get("tool")
        # A question whether a call has happened is not what the call was made with.
        is_doubt = before is not None and entry.kind is EntryKind.QUESTIONED
        self.input: Any = before.input if before and is_doubt else payload.get("input")


def _closes(entry: Entry) -> bool:
    """Say whether an entry ends its call; for a removed decision this is not known, so what came before it stands."""
    return entry.kind is not EntryKind.DECIDED if entry.payload is None else "outcome" in entry.payload


def _status(entry: Entry, otherwise: str = "done") -> str:
    return "redacted" if entry.payload is None else str(entry.payload.get("outcome", otherwise))


def _line(entry: Entry, begun: _Begun | None, status: str) -> str:
    payload = entry.payload or {}
    found = {
        "type": begun.type if begun else payload.get("type"),
        "tool": begun.tool if begun else payload.get("tool"),
        "input": begun.input if begun else payload.get("input"),
        "result": payload.get("result"),
        "timestamp": entry.at,
        "status": status,
        "tag": entry.tag,
    }
    if "said" in payload:
        found["said"] = payload["said"]
    return json.dumps(found, ensure_ascii=False)


def newest_seal(connection: Connection) -> dict[str, Any] | None:
    """Return the newest link of the room-wide chain."""
    row = connection.execute(select(checkpoints).order_by(checkpoints.c.seq.desc()).limit(1)).one_or_none()
    return dict(row._mapping) if row else None
