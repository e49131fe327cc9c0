"""delete_file, move_file and undo."""

from typing import TYPE_CHECKING, Any, Protocol

from brasstag.sandbox.workspace.draft import Draft
from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, Change

if TYPE_CHECKING:
    from collections.abc import Sequence


class UndoHistory(Protocol):
    """What undo needs to know of the past; the engine hands it in."""

    def changes_behind(self, tag: str) -> "Sequence[Change]":
        """Return what the call with this tag changed."""


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
