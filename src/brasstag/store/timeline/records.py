"""Fold a timeline into one record for each call; the entries stay as they are."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection

from brasstag.store.timeline.timeline import read_entries
from brasstag.words.events import CallRecord, Entry, EntryKind

_OPEN = {
    EntryKind.ASKED: "waiting",
    EntryKind.CLAIMED: "acting",
    EntryKind.DELEGATED: "waiting",
    EntryKind.QUESTIONED: "waiting",
}
"""How a call stands after an entry that does not end it."""
CLOSING = frozenset(
    {
        EntryKind.CALLED,
        EntryKind.REFUSED,
        EntryKind.SETTLED,
        EntryKind.DECIDED,
        EntryKind.RETURNED,
        EntryKind.ANSWERED,
    }
)
"""Entries that end a call; a decision does so only where it says how."""


def call_records(connection: Connection, task_id: str | None) -> Iterator[CallRecord]:
    """Yield one record for each call of a task, or of the whole room.

    Calls that have ended come first, in the order of their ends; after them those that have not.
    """
    begun: dict[str, _Begun] = {}
    doubtful: dict[str, tuple[Entry, _Begun | None]] = {}
    ended: set[str] = set()
    for entry in read_entries(connection, task_id):
        if entry.kind in _OPEN:
            _, before = doubtful.pop(entry.call_id, (None, begun.get(entry.call_id)))
            begun[entry.call_id] = _Begun(entry, before)
        elif entry.kind in CLOSING and _closes(entry):
            whole = begun.pop(entry.call_id, None)
            if _status(entry) == "unknown":
                # A person may still be asked, and their answer then ends it.
                doubtful[entry.call_id] = entry, whole
            else:
                yield _record(entry, whole, _status(entry))
        elif entry.kind is EntryKind.CLOSED:
            ended.add(entry.task_id)
        elif entry.kind is EntryKind.RESUMED:
            ended.discard(entry.task_id)
    for entry, whole in doubtful.values():
        yield _record(entry, whole, _status(entry))
    for call in begun.values():
        status = "cut off" if call.last.task_id in ended else _OPEN[call.last.kind]
        yield _record(call.last, call, _status(call.last, status))


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


def _record(entry: Entry, begun: _Begun | None, status: str) -> CallRecord:
    payload = entry.payload or {}
    asked = begun or _Begun(entry, None)
    said = str(payload.get("said") or "")
    return CallRecord(
        asked.type,
        asked.tool,
        asked.input,
        payload.get("result"),
        entry.at,
        status,
        entry.tag,
        entry.call_id,
        said,
    )
