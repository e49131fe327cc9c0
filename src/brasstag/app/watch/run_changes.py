"""What a run changed, for people: each path, and all of it as one diff."""

from dataclasses import dataclass

from brasstag.engine.calls.patches import patch_of
from brasstag.store.store import Store
from brasstag.store.tasks.run_changes import OutsideEffect, RunChange, run_changes


@dataclass(frozen=True, slots=True)
class ChangesOfRun:
    """Everything a run, or one task and all below it, changed."""

    run: str
    changes: tuple[RunChange, ...]
    """By path; a path that is as it was before is left out."""
    outside: tuple[OutsideEffect, ...]
    """Calls that acted, or may have acted, outside of the workspace, in the order of time."""
    diff: str
    """All changes as one patch, which `git apply` reads; what a diff cannot show is put in a comment."""


def changes_of(store: Store, run: str) -> ChangesOfRun:
    """Return what a run changed; raise ToolError for a name that is no task's."""
    found = store.read(lambda view: run_changes(view, run))
    diff = "".join(line for one in found.changes for line in patch_of(one.change, store.blobs))
    return ChangesOfRun(found.run, found.changes, found.outside, diff)
