"""Bring the index up to date, and say what it lacks."""

from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.session.rooms import open_room
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote, say, wants_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brasstag.documents import ScanProblem

MOST_NAMED = 50
"""How many documents without a text are named."""

_COUNTS = ("added", "changed", "moved", "removed", "unchanged")


async def make_index(project: Path, output: OutputName | None, *, rebuild: bool, summaries: bool) -> None:
    """Look at every file, convert and index what waits for it, and tell what came of it."""
    async with open_room(project, "documents reindex") as room:
        if summaries:
            room.documents.require_summaries()
        scanned = await room.documents.scan(rebuild=rebuild)
        indexed = await room.documents.index()
        failures = await room.documents.failures(MOST_NAMED)
        summed = await room.documents.sum_up() if summaries else 0
    counts = {name: getattr(scanned, name) for name in _COUNTS}
    now = {"indexed": indexed.indexed, "summed_up": summed, "failed": failures.count, "left": indexed.left}
    named, problems = _told(failures.problems), _told(scanned.problems)
    if wants_json(output):
        print_json(counts | now | {"failures": named, "problems": problems})
        return
    say(f"{', '.join(f'{count} {name}' for name, count in counts.items())}.")
    if indexed.indexed or failures.count or indexed.left:
        say(f"{indexed.indexed} indexed, {failures.count} without text, {indexed.left} left.")
    if summaries:
        say(f"{summed} summed up.")
    for one in (*named, *problems):
        quote(f"{one['path']}: {one['code']}: {one['reason']}", "yellow", indent="  ")
    if failures.count > len(named):
        say(
            f"  and {failures.count - len(named)} more without text; `brasstag documents list` says why",
            "yellow",
        )


def _told(problems: "Iterable[ScanProblem]") -> list[dict[str, str]]:
    return [{"path": one.path, "code": one.code.value, "reason": one.reason} for one in problems]
