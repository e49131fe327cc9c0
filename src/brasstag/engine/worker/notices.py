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
    payload = plan_notice(runtime, journal.held.task.role, journal.sights)
    if payload is not None:
        runtime.store.graph.note(journal.held, EntryKind.NOTICED, payload)
        if not journal.catch_up():
            journal.refresh()


def plan_notice(runtime: Runtime, role: str, sights: ReadSet) -> dict[str, Any] | None:
    """Return the payload of a NOTICED entry, or None where the task knows all there is to know of what it has seen."""
    seen = {path: sight for path, sight in sights.by_path.items() if digest_in(sight.state)}
    if not seen:
        return None
    newer = runtime.store.read(lambda view: _newer(view, seen, sights))
    # What was seen last is most likely what matters next.
    changes = [
        {"path": one.path, "version": one.version, "by": one.by, "state": one.state}
        for one in reversed(newer)
        if runtime.policy.rules.hides(one.path, role=role) is None
    ]
    return {"type": "notice", "changes": changes} if changes else None


def _newer(view: View, seen: dict[str, SeenState], sights: ReadSet) -> list[Version]:
    newest = newest_versions(view, seen)
    others = {
        path: sight
        for path, sight in seen.items()
        if path in newest
        and newest[path].state != sight.state
        and newest[path].state not in sights.told.get(path, ())
    }
    if not others:
        return []
    known = last_versions_with(view, {path: sight.state for path, sight in others.items()})
    return [newest[path] for path, sight in others.items() if _is_newer(newest[path], sight, known.get(path))]


def _is_newer(newest: Version, sight: SeenState, known: int | None) -> bool:
    """Say whether a version came after the state a task saw; where that state has no version, the times decide."""
    return newest.version > known if known is not None else newest.at > sight.at
