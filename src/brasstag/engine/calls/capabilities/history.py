"""History: the changes behind a tag, to undo them, and a stored result, to read it again."""

from collections.abc import Callable

from brasstag.engine.transcript.results import ending_text, is_untrusted
from brasstag.store.contents.versions import made_versions
from brasstag.store.database.base import View
from brasstag.store.store import Store
from brasstag.store.tasks.ledger import changes_of
from brasstag.store.tasks.run_changes import RunChanges, run_changes
from brasstag.store.timeline.timeline import find_entry, first_entry
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import not_one
from brasstag.words.previews import Change


class CallHistory:
    """Limited access to the store, given to tools that ask for ``history``."""

    def __init__(self, store: Store, at_once: Callable[[], int]) -> None:
        self._store = store
        self._at_once = at_once

    def changes_behind(self, tag: str) -> tuple[Change, ...]:
        """Return what the call changed that any of its entries, by their tags, belongs to, in the order it was done."""
        with self._store.database.read() as view:
            entry = find_entry(view, tag)
            if entry is None:
                raise ToolError(
                    Code.TAG_NOT_FOUND, not_one("tag", tag), hint="`brasstag timeline show` lists them"
                )
            if not made_versions(view, entry.call_id):
                raise ToolError(
                    Code.CANNOT_UNDO, f"the call behind {tag} changed nothing, so there is nothing to undo"
                )
            return changes_of(view, entry.call_id)

    def changes_of_run(self, run: str) -> RunChanges:
        """Return what a run changed, taken together, and what it did outside."""
        return self._store.read(lambda view: run_changes(view, run))

    def characters_at_once(self) -> int:
        """Return how many characters of a result the caller can read at once."""
        return self._at_once()

    def result_behind(self, tag: str, task_id: str) -> str:
        """Return, as a model reads it, the whole result of a call of a task, or of the one it answers a question for."""
        with self._store.database.read() as view:
            entry = find_entry(view, tag)
            if entry is None or entry.task_id not in _in_sight(view, task_id):
                raise ToolError(
                    Code.TAG_NOT_FOUND, f"no result of this task has the tag {tag}; results name theirs"
                )
        if entry.payload is None:
            raise ToolError(Code.TAG_NOT_FOUND, f"the result behind {tag} was removed by a person")
        if "outcome" not in entry.payload:
            raise ToolError(
                Code.TAG_NOT_FOUND, f"{tag} is not the end of a call, so there is no result behind it"
            )
        return ending_text(entry.payload)

    def is_untrusted(self, tag: str) -> bool:
        """Say whether the result behind a tag was written by strangers."""
        with self._store.database.read() as view:
            entry = find_entry(view, tag)
        return entry is not None and is_untrusted((entry.payload or {}).get("result"))


def _in_sight(view: View, task_id: str) -> tuple[str, ...]:
    opened = first_entry(view, task_id)
    context = ((opened.payload if opened else None) or {}).get("context") or {}
    return (task_id, context.get("task", task_id))
