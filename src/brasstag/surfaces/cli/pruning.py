"""Pruning: deleting for good what old versions held. A person decides it, and the timeline tells who."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from brasstag.surfaces.cli.console import OutputName, report
from brasstag.surfaces.cli.rooms import open_books


def prune_versions(
    project: Path, output: OutputName | None, paths: Sequence[str], keep: int, days: float, *, yes: bool
) -> None:
    """Delete what versions held that are neither among the newest of their path nor young, or say what would go."""
    from brasstag.policy.roles import OPERATOR
    from brasstag.sandbox.workspace.paths import parse_path
    from brasstag.store.books import Desk
    from brasstag.store.pruning import Retention, prunable, prune
    from brasstag.surfaces.cli.people import require_approver, user_name
    from brasstag.words.ids import new_id
    from brasstag.words.times import stamp, utc_now

    before = stamp(utc_now() - timedelta(days=days))
    spared = Retention(keep, before, tuple(map(parse_path, paths)))
    by = str(require_approver()) if yes else ""
    with open_books(project) as vault:
        found = prunable(vault.books, spared)
        deleted = 0
        if yes:
            desk = Desk(new_id("task"), f"cli:{user_name()}", OPERATOR, "documents prune")
            deleted = prune(vault.books, spared, by, desk)
    told = f"Would delete what {found.versions} versions held. Say --yes to do it; it cannot be undone."
    if yes:
        told = f"Deleted what {found.versions} versions held: {deleted} contents."
    report(output, {"versions": found.versions, "contents": len(found.digests), "deleted": deleted}, told)
