"""delete_file, move_file, undo and undo_run."""

from typing import TYPE_CHECKING, Any, Protocol

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, DIRECTORY, Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brasstag.store.tasks.run_changes import RunChange, RunChanges


class UndoHistory(Protocol):
    """What undo needs to know of the past; the engine hands it in."""

    def changes_behind(self, tag: str) -> "Sequence[Change]":
        """Return what the call with this tag changed."""

    def changes_of_run(self, run: str) -> "RunChanges":
        """Return what a run changed, taken together, and what it did outside."""


@tool(execution_type="function")
def delete_file(workspace: Draft, path: str, recursive: bool = False) -> dict[str, Any]:
    """delete_file"""
    return {"deleted": workspace.remove(path, recursive=recursive)}


@tool(execution_type="function")
def move_file(workspace: Draft, source: str, target: str, overwrite: bool = False) -> dict[str, Any]:
    """move_file"""
    workspace.move(source, target, overwrite=overwrite)
    return {"from": source, "to": target}


@tool(execution_type="function")
def undo(workspace: Draft, history: UndoHistory, tag: str) -> dict[str, Any]:
    """undo"""
    changes = history.changes_behind(tag)
    for change in changes:
        if not change.undoable:
            raise ToolError(
                Code.CANNOT_UNDO,
                f"{change.path} was too large to keep a copy of, so that call cannot be taken back",
            )
    restored: list[str] = []
    removed: list[str] = []
    for change in reversed(changes):
        for path in workspace.take_back(change):
            was_absent = path == change.path and change.before == ABSENT
            (removed if was_absent else restored).append(path)
    return {"restored": restored, "removed": removed}


@tool(execution_type="function")
def undo_run(workspace: Draft, history: UndoHistory, run: str) -> dict[str, Any]:
    """undo_run"""
    found = history.changes_of_run(run)
    if not found.changes:
        raise ToolError(
            Code.CANNOT_UNDO, f"{found.run} left every file as it was, so there is nothing to undo"
        )
    restored: list[str] = []
    removed: list[str] = []
    left: list[dict[str, str]] = []
    for one in _in_reverse(found.changes):
        path, because = one.change.path, _taken_back(workspace, one)
        if because:
            left.append({"path": path, "because": because})
        else:
            (removed if one.change.before == ABSENT else restored).append(path)
    outside = [{"tool": one.tool, "tag": one.tag, "outcome": one.outcome} for one in found.outside]
    return {"restored": restored, "removed": removed, "left": left, "outside": outside}


def _in_reverse(changes: "Sequence[RunChange]") -> "Iterator[RunChange]":
    """Yield directories that come back, the upper ones first; then the rest, the lower ones first."""
    come_back = [one for one in changes if one.change.before == DIRECTORY]
    yield from sorted(come_back, key=lambda one: one.change.path)
    rest = [one for one in changes if one.change.before != DIRECTORY]
    yield from sorted(rest, key=lambda one: one.change.path, reverse=True)


def _taken_back(workspace: Draft, one: "RunChange") -> str:
    """Stage the reverse of what a run made of a path; return why not, or an empty text."""
    if one.since:
        return f"{one.since} has changed it since"
    if one.meanwhile:
        return f"{one.meanwhile} changed it during the run, too"
    try:
        return "" if workspace.take_back(one.change) else "others have put something into it"
    except ToolError as error:
        return error.message
