"""Conflicts: calls that would replace something newer than their task has seen."""

from dataclasses import replace

from brasstag.engine.shop import Shop
from brasstag.sandbox.workspace.reader import Reader
from brasstag.store.versions import OUTSIDE, newest_versions
from brasstag.words.calls import Call
from brasstag.words.errors import ToolError
from brasstag.words.previews import ABSENT, Change, Conflict, Preview, digest_in


def with_conflicts(shop: Shop, call: Call, preview: Preview) -> Preview:
    """Return a preview with what of its changes would replace something newer than the call's task has seen.

    That something was deleted is newer, too. What the call itself read it has seen; what its task never saw is no conflict.
    """
    read = {seen.path for seen in preview.reads if digest_in(seen.state)}
    replaced = {
        change.path: change.before
        for change in preview.changes
        if _puts_something_in_place(change) and change.path not in read
    }
    if not replaced:
        return preview
    passed = shop.sightings.passed(shop.books, call.task_id, replaced)
    # Where nothing is now, a directory that was there before is no content that is brought back.
    passed = {
        path: sight for path, sight in passed.items() if replaced[path] != ABSENT or digest_in(sight.state)
    }
    # Another call of the task may have moved on since the look; then this one cannot be claimed, and looks again.
    passed = {path: sight for path, sight in passed.items() if _still_holds(shop, path, replaced[path])}
    if not passed:
        return preview
    newest = shop.books.read(lambda view: newest_versions(view, passed))
    makers = {path: version.by for path, version in newest.items() if version.state == replaced[path]}
    found = (
        Conflict(path, sight.state, sight.at, makers.get(path, OUTSIDE)) for path, sight in passed.items()
    )
    return replace(preview, conflicts=tuple(found))


def as_approved(preview: Preview, approved: Preview) -> Preview:
    """Return a preview as a person approved it, where the same would be done to the same: to see theirs since is no harm."""
    known = {(conflict.path, conflict.base) for conflict in approved.conflicts}
    if not known.issuperset((conflict.path, conflict.base) for conflict in preview.conflicts):
        return preview
    same = replace(preview, conflicts=approved.conflicts)
    return same if known and same.digest == approved.digest else preview


def _puts_something_in_place(change: Change) -> bool:
    if change.before == ABSENT:
        return digest_in(change.after) is not None
    return digest_in(change.before) is not None and change.before != change.after


def _still_holds(shop: Shop, path: str, state: str) -> bool:
    try:
        return Reader(shop.workspace).held(path).state == state
    except (OSError, ToolError):
        return False
