"""Versions for people and for programs: histories, and differences between two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.show.diffs import print_lines
from brasstag.surfaces.cli.terminal.console import OutputName, brief, print_json, say, wants_json
from brasstag.surfaces.cli.terminal.numbers import local_time, size
from brasstag.surfaces.cli.terminal.tables import Column, is_narrow, print_rows
from brasstag.words.previews import ABSENT, DIRECTORY, digest_in

if TYPE_CHECKING:
    from brasstag.documents import Comparison, History
    from brasstag.store import Version

_SHORT, _SHORTEST = 12, 8
_MINUTE = 16
_COLUMNS = (
    Column("VERSION", "bold"),
    Column("WHEN", "dim"),
    Column("BY", longest=20),
    Column("SIZE"),
    Column("DIGEST", longest=20),
    Column("TAG"),
    Column("WHY"),
)
_NARROW_COLUMNS = tuple(column for column in _COLUMNS if column.heading != "TAG")


def print_history(history: "History", output: OutputName | None) -> None:
    """Print the history of a document, newest first, and then what else has been at its path."""
    if wants_json(output):
        for one in history.as_json():
            print_json(one)
        return
    _print_versions(history.line, history)
    if history.others:
        say("")
        say("Earlier at this path:", "bold")
        _print_versions(history.others, history)


def counted(history: "History") -> str:
    """Return how many versions there are, as people say it."""
    others = f", and {len(history.others)} earlier at this path" if history.others else ""
    return f"{len(history.line)}{others}"


def print_difference(
    older: "Version", newer: "Version", found: "Comparison", went: str, output: OutputName | None
) -> None:
    """Print the differences between two versions; the newer may be a deletion or a move, to the path in ``went``."""
    labels = [f"{one.path}@{one.version}" for one in (older, newer)]
    gone = _gone(newer, went) if newer.state == ABSENT else ""
    if wants_json(output):
        told = {"old": labels[0], "new": labels[1], "same": found.same, "form": found.form}
        print_json(told | {"diff": list(found.lines)} | ({"gone": gone} if gone else {}))
        return
    brief((f"{labels[0]} → {labels[1]}", "bold"))
    if gone:
        say(f"  {gone}", "yellow")
    if found.same:
        say("  They are the same.", "dim")
    print_lines(found.lines)


def who(by: str, task: str) -> str:
    """Return who did something, with the end of the id of the task it was for."""
    return f"{by} ({task[-8:]})" if task else by


def _print_versions(versions: Sequence["Version"], history: "History") -> None:
    is_short = is_narrow()
    rows = [
        (
            f"{one.path}@{one.version}",
            local_time(one.at)[: _MINUTE if is_short else None],
            one.by if is_short else who(one.by, one.task_id),
            "" if digest_in(one.state) is None else size(one.size),
            _state(one, history, _SHORTEST if is_short else _SHORT),
            *(() if is_short else (history.tags.get(one.call_id, "")[-_SHORTEST:],)),
            _why(one, history),
        )
        for one in reversed(versions)
    ]
    print_rows(_NARROW_COLUMNS if is_short else _COLUMNS, rows)


def _state(version: "Version", history: "History", length: int) -> str:
    digest = digest_in(version.state)
    if digest is not None:
        return digest[:length]
    to = history.moved_to.get((version.path, version.version))
    return f"moved to {to}" if to else {ABSENT: "deleted", DIRECTORY: "a directory"}[version.state]


def _why(version: "Version", history: "History") -> str:
    gone = "no longer kept" if history.is_kept(version) is False else ""
    moved = f"moved from {version.source}" if version.source else ""
    return ", ".join(filter(None, (gone, version.why, moved)))


def _gone(version: "Version", went: str) -> str:
    how = f"was moved to {went}" if went else "was deleted"
    return f"{version.path} {how} at {local_time(version.at)} by {who(version.by, version.task_id)}"
