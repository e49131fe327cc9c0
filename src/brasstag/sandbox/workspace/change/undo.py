"""Undo a change of an earlier call: staged like any other, and refused after later edits."""

from brasstag.sandbox.workspace.change.trees import make_parents
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.view.stage import GONE, Node
from brasstag.sandbox.workspace.view.view import View
from brasstag.store.contents.blobs import Blobs
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.previews import ABSENT, DIRECTORY, Change, digest_in, is_file


def stage_undo(view: View, blobs: Blobs, change: Change) -> list[str]:
    """Stage the reverse of one Change; return the paths that will be as they were.

    Of a list of Changes the last is taken back first. A directory that others have put something into stays.
    """
    if not change.undoable:
        raise ToolError(
            Code.CANNOT_UNDO, f"{shown(change.path)} was too large to keep, so it cannot be given back"
        )
    _refuse_later_edits(view, change)
    if change.before == change.after == DIRECTORY:
        view.put(change.path, Node(DIRECTORY, mode=change.before_mode))
        return [change.path]
    if change.after == DIRECTORY and view.listing(change.path).children:
        if change.before != ABSENT:
            raise _edited(change.path)
        return []
    if change.source:
        make_parents(view, change.source)
        view.carry(change.path, change.source)
    if change.before == ABSENT:
        if not change.source:
            view.put(change.path, GONE)
    else:
        make_parents(view, change.path)
        view.put(change.path, _as_before(blobs, change))
    return list(change.paths)


def _refuse_later_edits(view: View, change: Change) -> None:
    expected = {change.path: change.after} | ({change.source: ABSENT} if change.source else {})
    for path, state in expected.items():
        staged = view.stage.node(path)
        if (view.before(path).state if staged is None else staged.state) != state:
            raise _edited(path)


def _edited(path: str) -> ToolError:
    return ToolError(
        Code.CANNOT_UNDO,
        f"{shown(path)} was changed again after that call; undo or redo the later change by hand",
        {"path": shown(path)},
    )


def _as_before(blobs: Blobs, change: Change) -> Node:
    if change.before == DIRECTORY:
        return Node(DIRECTORY, mode=change.before_mode)
    try:
        data = blobs.get(digest_in(change.before) or "")
    except StoreError as error:
        raise ToolError(Code.CANNOT_UNDO, f"{shown(change.path)} cannot be given back: {error}") from None
    mode = change.before_mode if is_file(change.before) else None
    return Node(change.before, len(data), mode, data)
