"""Redact: the payload of a call's entries is deleted; that it was, and by whom, stays on record."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from brasstag.store.contents.versions import digests_only_of
from brasstag.store.store import Store
from brasstag.store.tasks.approvals import erase_arguments
from brasstag.store.tasks.permissions import erase_permissions
from brasstag.store.tasks.rows import get_task, hold_task
from brasstag.store.timeline.spending import TELLS_LIMITS
from brasstag.store.timeline.timeline import proven_entries, read_entries
from brasstag.words.budgets import TaskLimits
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import TurnCall


@dataclass(frozen=True, slots=True)
class Redaction:
    """What was deleted: of how many entries the payload, and how many kept contents."""

    entries: int
    contents: int


def redact(store: Store, entry: Entry, by: str, reason: str, *, contents: bool = False) -> Redaction:
    """Delete what a call's entries said, and say in the same commit that this was done.

    With ``contents`` also delete the kept bytes that only this call names. Limits are not
    deleted: a task keeps the limits it has.
    """
    with store.database.write() as transaction:
        view = transaction.connection
        hold_task(transaction, entry.task_id)
        told = list(read_entries(view, entry.task_id, entry.call_id)) if entry.call_id else [entry]
        told += _turn_of(view, entry)
        erased = [one for one in told if one.payload is not None and one.kind is not EntryKind.REDACTED]
        if not erased:
            raise ToolError(Code.INVALID_ARGUMENTS, f"{entry.tag} has nothing left to redact")
        if entry.call_id:
            erase_arguments(transaction, entry.call_id)
            erase_permissions(transaction, entry.call_id)
        payload: dict[str, Any] = {
            "type": "redaction",
            "redacted": entry.tag,
            "redacted_seqs": [one.seq for one in erased],
            "by": by,
            "reason": reason,
        }
        if any(one.kind in TELLS_LIMITS for one in erased):
            entries = proven_entries(view, entry.task_id, store.sealer.key)
            payload["limits"] = TaskLimits.told_by(entries).as_json()
        for one in erased:
            store.timeline.erase_payload(transaction, one)
        store.timeline.append(transaction, entry.task_id, EntryKind.REDACTED, entry.call_id, payload)
        named = digests_only_of(view, entry.call_id) if contents and entry.call_id else ()
    return Redaction(len(erased), sum(store.blobs.drop(digest) for digest in named))


def _turn_of(view: Connection, entry: Entry) -> list[Entry]:
    """Return the turn in which a model made a call: it holds the call's arguments, too.

    Raises ToolError for a turn that is not over: its other calls would be forgotten.
    """
    turns = [one for one in read_entries(view, entry.task_id) if one.kind is EntryKind.TURN]
    place = TurnCall.of(entry.call_id)
    if entry.kind is EntryKind.TURN:
        mine = [entry]
    elif place is not None and place.turn < len(turns):
        mine = [turns[place.turn]]
    else:
        return []
    task = get_task(view, entry.task_id)
    if not task.has_ended and mine[0].seq == turns[-1].seq:
        raise ToolError(Code.BUSY, "the turn this call was made in is not over; redact it when it is")
    return mine if entry.kind is not EntryKind.TURN else []
