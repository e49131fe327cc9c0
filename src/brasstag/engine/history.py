"""What a tool may know of earlier calls: the changes behind a tag, to take them back, and the result, to read it again."""

from collections.abc import Callable

from brasstag.engine.showing import ending_text, is_untrusted
from brasstag.store.books import Books
from brasstag.store.database import View
from brasstag.store.ledger import changes_of
from brasstag.store.timeline import find_entry, first_entry
from brasstag.store.versions import made_versions
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import not_one
from brasstag.words.previews import Change


class History:
    """A narrow door to the books, handed to tools that ask for ``history``."""

    def __init__(self, books: Books, at_once: Callable[[], int]) -> None:
        self._books = books
        self._at_once = at_once

    def changes_behind(self, tag: str) -> tuple[Change, ...]:
        """Return what the call changed that any of its entries, by their tags, belongs to, in the order it was done."""
        with self._books.database.read() as view:
            entry = find_entry(view, tag)
            if entry is None:
                raise ToolError(
                    Code.TAG_NOT_FOUND, not_one("tag", tag, "`brasstag timeline show` lists them")
                )
            if not made_versions(view, entry.call_id):
                raise ToolError(
                    Code.CANNOT_UNDO, f"the call behind {tag} changed nothing, so there is nothing to undo"
                )
            return changes_of(view, entry.call_id)

    def characters_at_once(self) -> int:
        """Return how many characters of a result whoever calls can read at once."""
        return self._at_once()

    def result_behind(self, tag: str, task_id: str) -> str:
        """Return, as a model reads it, the whole result of a call of a task, or of the one it answers a question for."""
        with self._books.database.read() as view:
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
        with self._books.database.read() as view:
            entry = find_entry(view, tag)
        return entry is not None and is_untrusted((entry.payload or {}).get("result"))


def _in_sight(view: View, task_id: str) -> tuple[str, ...]:
    opened = first_entry(view, task_id)
    context = ((opened.payload if opened else None) or {}).get("context") or {}
    return (task_id, context.get("task", task_id))
