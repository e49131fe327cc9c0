"""Notices: what others changed in the documents a task has seen."""

from typing import Any

from brasstag.engine.read_set import ReadSet, SeenState
from brasstag.engine.runtime import Runtime
from brasstag.engine.worker.journal import Journal
from brasstag.store.contents.versions import Version, last_versions_with, newest_versions
from brasstag.store.database.base import View
from brasstag.words.events import EntryKind
from brasstag.words.previews import digest_in


def tell_of_changes(runtime: Runtime, journal: Journal) -> None:
    """Write down, before a task's next turn, what others changed of what it has seen; its model is told with that turn."""
    payload = plan_notice(runtime, journal.held.task.role, journal.read_set)
    if payload is not None:
        runtime.store.graph.note(journal.held, EntryKind.NOTICED, payload)
        if not journal.catch_up():
            journal.refresh()


def plan_notice(runtime: Runtime, role: str, read_set: ReadSet) -> dict[str, Any] | None:
    """Return the payload of a NOTICED entry, or None where the task knows all there is to know of what it has seen."""
    seen = {path: last_seen for path, last_seen in read_set.by_path.items() if digest_in(last_seen.state)}
    if not seen:
        return None
    newer = runtime.store.read(lambda view: _newer(view, seen, read_set))
    # What was seen last is most likely what matters next.
    changes = [
        {"path": one.path, "version": one.version, "by": one.by, "state": one.state}
        for one in reversed(newer)
        if runtime.policy.rules.hides(one.path, role=role) is None
    ]
    return {"type": "notice", "changes": changes} if changes else None


def _newer(view: View, seen: dict[str, SeenState], read_set: ReadSet) -> list[Version]:
    newest = newest_versions(view, seen)
    others = {
        path: last_seen
        for path, last_seen in seen.items()
        if path in newest
        and newest[path].state != last_seen.state
        and newest[path].state not in read_set.told.get(path, ())
    }
    if not others:
        return []
    known = last_versions_with(view, {path: last_seen.state for path, last_seen in others.items()})
    return [
        newest[path]
        for path, last_seen in others.items()
        if _is_newer(newest[path], last_seen, known.get(path))
    ]


def _is_newer(newest: Version, last_seen: SeenState, known: int | None) -> bool:
    """Say whether a version came after the state a task saw; where that state has no version, the times decide."""
    return newest.version > known if known is not None else newest.at > last_seen.at
