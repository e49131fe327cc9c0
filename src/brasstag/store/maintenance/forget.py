"""Forget memories: the rows are deleted; that they were, and by whom, stays on record."""

from collections.abc import Iterable

from brasstag.store.store import Store
from brasstag.store.tasks.memories import Memory, forget_memory
from brasstag.store.tasks.writer import Desk
from brasstag.words.events import EntryKind


def forget(store: Store, names: Iterable[str], by: str, desk: Desk) -> list[Memory]:
    """Delete memories by their ids or the ends of them, and write down at a new desk who did it; return them.

    Where one is not known, none is deleted.
    """
    store.expect_desk(desk)
    found: list[Memory] = []
    try:
        with store.writing(desk.id) as transaction:
            found = [forget_memory(transaction, name) for name in dict.fromkeys(names)]
            said = {
                "type": "forgetting",
                "by": by,
                "forgotten": [memory.id for memory in found],
                "forgotten_calls": [memory.call_id for memory in found],
            }
            store.timeline.append(transaction, desk.id, EntryKind.REDACTED, "", said)
    finally:
        # A desk where nothing was written leaves no trace.
        store.close_task(desk.id, "done", Desk.closing({"forgotten": len(found)}))
    return found
