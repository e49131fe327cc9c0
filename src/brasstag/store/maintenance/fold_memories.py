"""Compare what timelines say of memories with the table that holds them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, select

from brasstag.store.database.schema import memories, tasks
from brasstag.store.maintenance.fold_versions import Difference
from brasstag.store.tasks.memories import is_signed
from brasstag.store.timeline.seals import Key
from brasstag.words.canonical import stored_json

OF_RUN, FOR_GOOD = "save_to_short_term_memory", "save_to_long_term_memory"

_Kept = tuple[Any, str, str]
"""What is kept once: a role, the run or nothing, and what is remembered."""


@dataclass(frozen=True, slots=True)
class _ToldMemory:
    """What one call wanted to be remembered."""

    task_id: str
    at: str
    role: Any
    content: str
    is_of_run: bool
    is_recorded: bool
    """Whether forgetting it leaves a record; earlier releases kept none."""

    def kept(self, trees: dict[str, str]) -> _Kept:
        """Return it as the table has it."""
        return self.role, trees.get(self.task_id, self.task_id) if self.is_of_run else "", self.content


@dataclass(slots=True)
class FoldedMemories:
    """What the timelines tell of memories, entry by entry."""

    _notes: dict[str, _ToldMemory] = field(default_factory=dict)
    """By call."""
    _forgotten: dict[str, str] = field(default_factory=dict)
    """When people forgot memories, by the calls that these were of."""

    def called(self, entry: Row[Any], payload: dict[str, Any]) -> None:
        """Take into account what a call wanted to be remembered."""
        tool, given = payload.get("tool"), payload.get("input")
        if tool in (OF_RUN, FOR_GOOD) and isinstance(given, dict) and payload.get("outcome") == "done":
            content = stored_json(str(given.get("content")))
            self._notes[entry.call_id] = _ToldMemory(
                entry.task_id, entry.at, payload.get("role"), content, tool == OF_RUN, "memory" in payload
            )

    def redacted(self, at: str, payload: dict[str, Any]) -> None:
        """Take into account what a person forgot."""
        self._forgotten |= dict.fromkeys(map(str, payload.get("forgotten_calls") or ()), at)

    def differences(
        self, connection: Connection, keys: Mapping[str, Key], is_untold: Callable[[str], bool]
    ) -> Iterator[Difference]:
        """Yield where and how the table differs from the timelines."""
        columns = (tasks.c.id, tasks.c.tree, tasks.c.signature)
        known = {row.id: row for row in connection.execute(select(*columns))}
        trees = {task_id: row.tree for task_id, row in known.items()}
        held: set[_Kept] = set()
        for row in connection.execute(select(memories).order_by(memories.c.id)):
            kept = (row.role, row.tree, row.content)
            held.add(kept)
            told = self._notes.get(row.call_id)
            is_told = told is not None and (told.kept(trees), told.task_id) == (kept, row.task_id)
            if not is_told and not is_untold(row.call_id):
                yield row.id, "the timelines tell nothing of this memory, or something else"
            key = keys.get(known[row.task_id].signature.partition(":")[0]) if row.task_id in known else None
            if key is not None and not is_signed(row, key):
                yield row.id, "it was changed without the key, so no agent is shown it"
        forgotten = {
            note.kept(trees): at for call, at in self._forgotten.items() if (note := self._notes.get(call))
        }
        for call_id, note in self._notes.items():
            kept = note.kept(trees)
            is_gone = note.is_recorded and kept not in held and forgotten.get(kept, "") < note.at
            if is_gone and not is_untold(call_id):
                yield call_id, "what it asked to remember is gone, and no person has forgotten it on record"
