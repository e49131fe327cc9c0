"""Keep what a list of changes needs before it is claimed: new bytes to write, old bytes to restore."""

import os

from brasstag.sandbox.workspace.errors import at_path, shown
from brasstag.sandbox.workspace.view.reader import digest_of
from brasstag.sandbox.workspace.view.stage import Node
from brasstag.sandbox.workspace.view.view import View
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Change, digest_in, is_file, is_link


def keep_for(view: View, workspace: Workspace) -> None:
    """Put all bytes the view's changes need into the blobs, and check that the disk is as the preview saw it."""
    for change, node in view.stage.contents():
        with at_path(change.path):
            _keep_new(view, workspace, change, node)
    for change in view.stage.changes(workspace.undo_limit):
        with at_path(change.path):
            _keep_old(view, workspace, change)


def _keep_new(view: View, workspace: Workspace, change: Change, node: Node) -> None:
    if node.kept:
        return
    if node.data is not None:
        workspace.blobs.put(node.data)
    elif node.kind == "symlink":
        workspace.blobs.put(view.reader.target(node.origin))
    else:
        _keep_file(view, workspace, node.origin, change.after)


def _keep_old(view: View, workspace: Workspace, change: Change) -> None:
    if change.source and view.reader.held(change.source).state != change.after:
        raise _changed(change.source)
    if view.stage.is_in_new_directory(change.path):
        return
    if change.undoable and is_file(change.before):
        _keep_file(view, workspace, change.path, change.before)
        return
    if view.reader.held(change.path).state != change.before:
        raise _changed(change.path)
    if is_link(change.before):
        workspace.blobs.put(view.reader.target(change.path))


def _keep_file(view: View, workspace: Workspace, path: str, state: str) -> None:
    wanted = digest_in(state)
    try:
        descriptor, _ = view.reader.open(path)
    except OSError:
        raise _changed(path) from None
    try:
        known = wanted is not None and workspace.blobs.has(wanted)
        found = digest_of(descriptor)[0] if known else workspace.blobs.put_from(descriptor)
    finally:
        os.close(descriptor)
    if found != wanted:
        raise _changed(path)


def _changed(path: str) -> ToolError:
    return ToolError(
        Code.CHANGED,
        f"{shown(path)} changed since it was looked at; read it again before changing it",
        {"path": shown(path)},
    )
