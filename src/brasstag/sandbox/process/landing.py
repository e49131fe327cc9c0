"""Staging what a run has changed, so that it is judged and lands like any other change."""

import os
from collections.abc import Callable

from brasstag.sandbox.process.changes import ChangeSet, Entry
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.errors import at_path, shown
from brasstag.sandbox.workspace.reader import READ_FILE
from brasstag.words.errors import Code, ToolError

_MOST_NAMED = 20


def stage(changes: ChangeSet, draft: Draft) -> None:
    """Stage a whole change set into a draft; raises ToolError, with every reason, where it cannot land whole.

    The draft is of no use after that. New bytes are in the blobs when this returns: the layer may go.
    """
    if changes.refusals:
        raise _refused(changes)
    for entry in changes.entries:
        _STAGED[entry.kind](changes, entry, draft)


def _refused(changes: ChangeSet) -> ToolError:
    first, *others = changes.refusals
    more = f" ({len(others)} more)" if others else ""
    named = [{"path": refusal.path, "reason": refusal.reason} for refusal in changes.refusals[:_MOST_NAMED]]
    return ToolError(
        first.code,
        f"nothing the code changed was kept, because of {first.path}: {first.reason}{more}",
        {"refused": named, "refused_count": len(changes.refusals)},
    )


def _stage_file(changes: ChangeSet, entry: Entry, draft: Draft) -> None:
    with at_path(entry.path):
        descriptor = os.open(changes.source / entry.path, READ_FILE)
    try:
        _expect(entry, draft.write_from(entry.path, descriptor, entry.mode))
    finally:
        os.close(descriptor)


def _stage_link(changes: ChangeSet, entry: Entry, draft: Draft) -> None:
    with at_path(entry.path):
        target = os.readlink(changes.source / entry.path)
    _expect(entry, draft.make_link(entry.path, target))


def _stage_directory(_changes: ChangeSet, entry: Entry, draft: Draft) -> None:
    if draft.exists(entry.path) and draft.look(entry.path, follow=False).kind == "directory":
        _expect(entry, draft.set_directory_mode(entry.path, entry.mode))
    else:
        _expect(entry, draft.make_directory(entry.path, entry.mode))


def _stage_removal(_changes: ChangeSet, entry: Entry, draft: Draft) -> None:
    draft.remove(entry.path, recursive=True)


def _expect(entry: Entry, where: str) -> None:
    if where != entry.path:
        raise ToolError(
            Code.CHANGED,
            f"somebody put a link in the way of {shown(entry.path)} while the code ran; run the code again",
        )


_STAGED: dict[str, Callable[[ChangeSet, Entry, Draft], None]] = {
    "file": _stage_file,
    "link": _stage_link,
    "directory": _stage_directory,
    "gone": _stage_removal,
}
