"""Noticing: what others have made, since a task saw them, of the documents it has seen."""

from typing import Any

from brasstag.engine.minutes import Minutes
from brasstag.engine.shop import Shop
from brasstag.engine.sights import Sight, Sights
from brasstag.store.database import View
from brasstag.store.seen import last_versions_with
from brasstag.store.versions import Version, newest_versions
from brasstag.words.events import EntryKind
from brasstag.words.previews import digest_in


def tell_of_changes(shop: Shop, minutes: Minutes) -> None:
    """Write down, before a task's next turn, what others changed of what it has seen; its model is told with that turn."""
    payload = plan_notice(shop, minutes.held.task.role, minutes.sights)
    if payload is not None:
        shop.books.graph.note(minutes.held, EntryKind.NOTICED, payload)
        if not minutes.catch_up():
            minutes.refresh()


def plan_notice(shop: Shop, role: str, sights: Sights) -> dict[str, Any] | None:
    """Return the payload of a NOTICED entry, or None where the task knows all there is to know of what it has seen."""
    seen = {path: sight for path, sight in sights.by_path.items() if digest_in(sight.state)}
    if not seen:
        return None
    newer = shop.books.read(lambda view: _newer(view, seen, sights))
    # What was seen last is most likely what matters next.
    changes = [
        {"path": one.path, "version": one.version, "by": one.by, "state": one.state}
        for one in reversed(newer)
        if shop.rules.hides(one.path, role=role) is None
    ]
    return {"type": "notice", "changes": changes} if changes else None


def _newer(view: View, seen: dict[str, Sight], sights: Sights) -> list[Version]:
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


def _is_newer(newest: Version, sight: Sight, known: int | None) -> bool:
    """Say whether a version came after a sight; one nobody has noted down yet is newer than all that were before it."""
    return newest.version > known if known is not None else newest.at > sight.at
