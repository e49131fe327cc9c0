"""Stage what a job changed, so that it is judged and lands like any other change."""

import os
from collections.abc import Callable, Sequence

from brasstag.sandbox.process.changes.changes import ChangeSet, PathChange, Refusal
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.errors import at_path, shown
from brasstag.sandbox.workspace.view.reader import READ_FILE
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY
from brasstag.store.contents.blobs import Batch
from brasstag.words.errors import Code, ToolError

_MOST_NAMED = 20


def stage(changes: ChangeSet, draft: Draft) -> None:
    """Stage a whole change set into a draft; raises ToolError, with every reason, where it cannot land whole.

    The draft then holds what could have landed, for a person to read. New bytes are in the blobs when this returns: the
    layer may go.
    """
    refusals = list(changes.refusals)
    failed: list[Refusal] = []
    source = os.open(changes.source, READ_DIRECTORY)
    try:
        with draft.batch() as batch:
            for entry in changes.entries:
                try:
                    _STAGED[entry.kind](source, entry, draft, batch)
                except ToolError as error:
                    if error.code is Code.CANCELLED:
                        raise
                    failed.append(Refusal(shown(entry.path), error.message, error.code))
    finally:
        os.close(source)
    # Only now: a look before would not know of what was changed between it and the staging.
    refusals += [*changes.newer(), *failed]
    if refusals:
        raise _refused(refusals)


def _refused(refusals: Sequence[Refusal]) -> ToolError:
    first = refusals[0]
    more = f" ({len(refusals) - 1} more)" if len(refusals) > 1 else ""
    named = [{"path": refusal.path, "reason": refusal.reason} for refusal in refusals[:_MOST_NAMED]]
    return ToolError(
        first.code,
        f"nothing the code changed was kept, because of {first.path}: {first.reason}{more}",
        {"refused": named, "refused_count": len(refusals)},
    )


def _stage_file(source: int, entry: PathChange, draft: Draft, batch: Batch) -> None:
    with at_path(entry.path):
        descriptor = os.open(entry.path, READ_FILE, dir_fd=source)
    try:
        _expect(entry, draft.write_from(entry.path, descriptor, entry.mode, batch))
    finally:
        os.close(descriptor)


def _stage_link(source: int, entry: PathChange, draft: Draft, _batch: Batch) -> None:
    with at_path(entry.path):
        target = os.readlink(entry.path, dir_fd=source)
    _expect(entry, draft.make_link(entry.path, target))


def _stage_directory(_source: int, entry: PathChange, draft: Draft, _batch: Batch) -> None:
    if draft.exists(entry.path) and draft.look(entry.path, follow=False).kind == "directory":
        _expect(entry, draft.set_directory_mode(entry.path, entry.mode))
    else:
        _expect(entry, draft.make_directory(entry.path, entry.mode))


def _stage_removal(_source: int, entry: PathChange, draft: Draft, _batch: Batch) -> None:
    draft.remove(entry.path, recursive=True)


def _expect(entry: PathChange, where: str) -> None:
    if where != entry.path:
        raise ToolError(
            Code.CHANGED,
            f"another program put a link in the way of {shown(entry.path)} while the code ran; run the code again",
        )


_STAGED: dict[str, Callable[[int, PathChange, Draft, Batch], None]] = {
    "file": _stage_file,
    "link": _stage_link,
    "directory": _stage_directory,
    "gone": _stage_removal,
}
