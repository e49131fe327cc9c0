"""Prune: delete what old versions held; a person decides it, and the timeline records who."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote, say, wants_json
from brasstag.surfaces.cli.terminal.numbers import counted, size

if TYPE_CHECKING:
    from brasstag.store import Prunable

MOST_NAMED = 50
"""How many paths people are told of."""


def prune_versions(
    project: Path, output: OutputName | None, paths: Sequence[str], keep: int, days: float, *, yes: bool
) -> None:
    """Delete the contents of versions that are neither young nor among the newest of their path, or list them."""
    from brasstag.app import user_name
    from brasstag.policy import OPERATOR
    from brasstag.sandbox import ROOT, parse_path
    from brasstag.store import Desk, Retention, prunable, prune
    from brasstag.surfaces.cli.session.people import require_approver
    from brasstag.words.ids import new_id
    from brasstag.words.times import stamp, utc_now

    before = stamp(utc_now() - timedelta(days=days))
    asked = tuple(map(parse_path, paths))
    spared = Retention(keep, before, () if ROOT in asked else asked)
    by = str(require_approver()) if yes else ""
    with open_store(project) as room_state:
        found = prunable(room_state.store, spared)
        _require_known(found)
        deleted = 0
        if yes:
            desk = Desk(new_id("task"), f"cli:{user_name()}", OPERATOR, "documents prune")
            deleted = prune(room_state.store, spared, by, desk)
    if wants_json(output):
        print_json(
            {
                "versions": found.versions,
                "contents": len(found.digests),
                "bytes": found.size,
                "paths": [{"path": path, "versions": count} for path, count in found.counts.items()],
                "deleted": deleted,
            }
        )
        return
    _tell(found, deleted, yes=yes)


def _require_known(found: "Prunable") -> None:
    from brasstag.sandbox import shown
    from brasstag.words.errors import Code, ToolError

    if found.unknown:
        named = ", ".join(map(shown, found.unknown))
        raise ToolError(
            Code.FILE_NOT_FOUND,
            f"{named} has no versions, and nothing below it has; `brasstag documents list` lists the documents",
        )


def _tell(found: "Prunable", deleted: int, *, yes: bool) -> None:
    held = f"what {counted(found.versions, 'version')} held, {size(found.size)}"
    say(f"Deleted {held}: {counted(deleted, 'content')}." if yes else f"Would delete {held}.")
    for path, count in list(found.counts.items())[:MOST_NAMED]:
        quote(f"{path}: {counted(count, 'version')}", indent="  ")
    if len(found.counts) > MOST_NAMED:
        say(f"  and {counted(len(found.counts) - MOST_NAMED, 'more path')}")
    if not yes and found.versions:
        say("Say --yes to do it; it cannot be undone.")
