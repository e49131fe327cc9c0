"""How a call of a task ended, read back from its timeline."""

from dataclasses import replace
from typing import Any

from brasstag.engine.transcript.state import CLOSING, is_doubt
from brasstag.store.store import Store
from brasstag.words.calls import Failed, Settled, Tag, from_stored
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import TurnCall


def ending_of(store: Store, call_id: str) -> Settled:
    """Return how a call ended; raise ToolError where it has not."""
    place = TurnCall.of(call_id)
    for entry in reversed([] if place is None else store.entries(place.task_id, call_id)):
        if _closes(entry):
            return _as_outcome(entry)
    raise ToolError(Code.CANCELLED, f"{call_id} has no ending: its task ended first")


def closing_of(store: Store, task_id: str) -> Any:
    """Return the result with which a task ended last."""
    entries = store.entries_since(task_id, 0)
    last = next((entry for entry in reversed(entries) if entry.kind is EntryKind.CLOSED), None)
    return None if last is None else (last.payload or {}).get("result")


def _closes(entry: Entry) -> bool:
    payload = entry.payload or {}
    if entry.kind is EntryKind.DECIDED:
        return entry.payload is None or "outcome" in payload
    return entry.kind in CLOSING and not is_doubt(payload)


def _as_outcome(entry: Entry) -> Settled:
    if entry.payload is None:
        return Failed(Code.CANCELLED, "what came of this call was removed by a person")
    return replace(from_stored(entry.payload), tag=Tag(entry.tag, entry.hash))
