"""Conflicts: calls that would replace something newer than their task has seen."""

from dataclasses import replace

from brasstag.engine.runtime import Runtime
from brasstag.sandbox.workspace.view.reader import Reader
from brasstag.store.contents.versions import OUTSIDE, newest_versions
from brasstag.words.calls import Call
from brasstag.words.errors import ToolError
from brasstag.words.previews import ABSENT, Change, Conflict, Preview, digest_in


def with_conflicts(runtime: Runtime, call: Call, preview: Preview) -> Preview:
    """Return a preview with its conflicts: changes that would replace something newer than the call's task has seen.

    A deletion counts as newer, too. What the call itself read counts as seen. What its task never saw is no conflict.
    """
    read = {seen.path for seen in preview.reads if digest_in(seen.state)}
    replaced = {
        change.path: change.before
        for change in preview.changes
        if _puts_something_in_place(change) and change.path not in read
    }
    if not replaced:
        return preview
    passed = runtime.sightings.passed(runtime.store, call.task_id, replaced)
    # Where a path is empty now and was a directory before, no deleted content is brought back.
    passed = {
        path: sight for path, sight in passed.items() if replaced[path] != ABSENT or digest_in(sight.state)
    }
    # Another call may have changed the path since the look; then this call cannot claim, and looks again.
    passed = {path: sight for path, sight in passed.items() if is_on_disk(runtime, path, replaced[path])}
    if not passed:
        return preview
    newest = runtime.store.read(lambda view: newest_versions(view, passed))
    makers = {path: version.by for path, version in newest.items() if version.state == replaced[path]}
    found = (
        Conflict(path, sight.state, sight.at, makers.get(path, OUTSIDE)) for path, sight in passed.items()
    )
    return replace(preview, conflicts=tuple(found))


def as_approved(preview: Preview, approved: Preview) -> Preview:
    """Return the preview that a person approved, if it differs only in conflicts the person already knew of."""
    known = {(conflict.path, conflict.base) for conflict in approved.conflicts}
    if not known.issuperset((conflict.path, conflict.base) for conflict in preview.conflicts):
        return preview
    same = replace(preview, conflicts=approved.conflicts)
    return same if known and same.digest == approved.digest else preview


def is_on_disk(runtime: Runtime, path: str, state: str) -> bool:
    """Say whether a path of the workspace holds a state now."""
    try:
        return Reader(runtime.workspace).held(path).state == state
    except (OSError, ToolError):
        return False


def _puts_something_in_place(change: Change) -> bool:
    if change.before == ABSENT:
        return digest_in(change.after) is not None
    return digest_in(change.before) is not None and change.before != change.after
