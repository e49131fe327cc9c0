"""What a run changed, taken together: each path from before its first change to after its last, and effects outside."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import select

from brasstag.store.contents.versions import Version
from brasstag.store.database.base import View
from brasstag.store.database.schema import versions
from brasstag.store.database.statements import in_parts
from brasstag.store.tasks.rows import get_task, tasks_below
from brasstag.store.timeline.records import CLOSING
from brasstag.store.timeline.timeline import entries_since
from brasstag.words.previews import ABSENT, Change

_ACTED = ("done", "unknown")
"""Outcomes of calls that acted, or may have."""


@dataclass(frozen=True, slots=True)
class RunChange:
    """What a run made of one path."""

    change: Change
    """From what was there before the run to what the run left."""
    calls: tuple[str, ...]
    """The calls that changed it, in order."""
    meanwhile: str = ""
    """Who else changed it between these calls."""
    since: str = ""
    """Who has changed it since."""


@dataclass(frozen=True, slots=True)
class OutsideEffect:
    """A call that acted, or may have acted, outside of the workspace: no undo takes that back."""

    tool: str
    tag: str
    task_id: str
    outcome: str


@dataclass(frozen=True, slots=True)
class RunChanges:
    """Everything a task, and all below it, changed."""

    run: str
    changes: tuple[RunChange, ...]
    """By path; a path that is as it was before is left out."""
    outside: tuple[OutsideEffect, ...]
    """In the order of time."""


def run_changes(view: View, name: str) -> RunChanges:
    """Return what a task and all below it changed; raise ToolError for a name that is no task's."""
    top = get_task(view, name)
    tasks = [task.id for task in tasks_below(view, top)]
    found = [*_changes(view, frozenset(tasks))]
    return RunChanges(top.id, tuple(found), tuple(_outside(view, tasks)))


def _changes(view: View, tasks: frozenset[str]) -> Iterator[RunChange]:
    paths: set[str] = set()
    for some in in_parts(tasks):
        query = select(versions.c.path).where(versions.c.task_id.in_(some), versions.c.call_id != "")
        paths.update(view.execute(query.distinct()).scalars())
    for some in in_parts(sorted(paths)):
        query = (
            select(versions).where(versions.c.path.in_(some)).order_by(versions.c.path, versions.c.version)
        )
        rows = [Version(**row._mapping) for row in view.execute(query)]
        for _, line in groupby(sorted(rows, key=lambda row: row.path), key=lambda row: row.path):
            found = _change([*line], tasks)
            if found is not None:
                yield found


def _change(line: Sequence[Version], tasks: frozenset[str]) -> RunChange | None:
    mine = [at for at, version in enumerate(line) if version.task_id in tasks and version.call_id]
    first, last = mine[0], mine[-1]
    before, after = line[first - 1] if first else None, line[last]
    old_mode = before.mode if before else None
    # A version without a mode has the mode of the one before it.
    modes = [old_mode, *(version.mode for version in line[first : last + 1] if version.mode is not None)]
    change = Change(
        path=after.path,
        before=before.state if before else ABSENT,
        after=after.state,
        mode=None if modes[-1] == old_mode else modes[-1],
        before_mode=old_mode,
        size=after.size,
        before_size=before.size if before else 0,
    )
    if change.before == change.after and change.mode is None:
        return None
    others = [version.by for at, version in enumerate(line[first:last], first) if at not in mine]
    since = line[-1].by if last < len(line) - 1 else ""
    calls = tuple(dict.fromkeys(line[at].call_id for at in mine))
    return RunChange(change, calls, others[-1] if others else "", since)


def _outside(view: View, tasks: Sequence[str]) -> Iterator[OutsideEffect]:
    entries = [entry for task in tasks for entry in entries_since(view, task, 0) if entry.payload]
    external = {
        entry.call_id for entry in entries if ((entry.payload or {}).get("preview") or {}).get("external")
    }
    for entry in sorted(entries, key=lambda entry: (entry.at, entry.task_id, entry.seq)):
        payload = entry.payload or {}
        ends = entry.call_id in external and entry.kind in CLOSING and payload.get("outcome") in _ACTED
        if ends:
            yield OutsideEffect(str(payload["tool"]), entry.tag, entry.task_id, str(payload["outcome"]))
