"""Apply a list of changes, all or none."""

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from brasstag.sandbox.workspace.change.change_site import Site, always
from brasstag.sandbox.workspace.change.closed_directories import close_directories
from brasstag.sandbox.workspace.change.steps import Step, Supplied, steps_for
from brasstag.sandbox.workspace.errors import Unsettled, at_path, shown, tool_error
from brasstag.sandbox.workspace.paths import ROOT
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.blobs import at_once
from brasstag.words.errors import BrasstagError, Code, StoreError, ToolError
from brasstag.words.previews import Change

__all__ = ["Unsettled", "apply_changes"]

# At a path a preview has looked at, each of these says that it is no longer what it was.
_CHANGED_SINCE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR}
)


def ignore_step(_step: str) -> None:
    """Do nothing at a step; only tests watch them."""


def apply_changes(
    workspace: Workspace,
    call_id: str,
    changes: Sequence[Change],
    at: Callable[[str], None] = ignore_step,
    stands: Callable[[], None] = always,
) -> None:
    """Make every change, durably, or none; ``stands`` is asked before each step, and raises where it must not be made.

    Raises ToolError when nothing was changed, and Unsettled when that is not sure. Any other way out,
    a killed process first of all, needs ``recover_changes``.
    """
    if not changes:
        return
    for path in (path for change in changes for path in change.paths):
        workspace.control.refuse(path)
    site = Site(workspace, call_id, changes, at, stands)
    with at_path(ROOT):
        site.refuse_leftovers()
    steps = [step for index, change in enumerate(changes) for step in steps_for(site, index, change)]
    carry_out(site, steps, done=[])


def carry_out(site: Site, steps: Sequence[Step], done: Sequence[Step]) -> None:
    """Run steps; if one fails, take back those that were run, and those that were done before."""
    run = list(done)
    try:
        with at_path(ROOT):
            site.begin()
        for part in _parts(steps):
            at_once([wait for step in part if (wait := step.prepare()) is not None])
            for step in part:
                site.stands()
                _run(site, step)
                run.append(step)
        with at_path(ROOT):
            site.sync()
    except BrasstagError as error:
        take_back(site, run, error)
        raise
    with suppress(OSError, ToolError):
        # From here on it has happened; what cannot be cleared away now is swept later.
        site.end()
        site.clear()
    close_directories(site)


def take_back(site: Site, done: Sequence[Step], cause: BrasstagError | None) -> None:
    """Undo steps, last first; raise Unsettled if one cannot be, or if the cause itself was that."""
    failures = [cause] if isinstance(cause, Unsettled) else []
    for step in reversed(done):
        try:
            step.undo()
        except (BrasstagError, OSError) as error:
            failures.append(
                error
                if isinstance(error, Unsettled)
                else Unsettled(f"{shown(step.path)} could not be put back.", {"path": shown(step.path)})
            )
    if failures:
        details = {"paths": [failure.details for failure in failures], "kept": list(site.kept)}
        with suppress(OSError, ToolError):
            details["left"] = site.leftovers()
        raise Unsettled(" ".join(failure.message for failure in failures), details) from None
    with suppress(OSError, ToolError):
        site.sync()
        site.end()
        site.clear()


def _parts(steps: Sequence[Step]) -> Iterator[Sequence[Step]]:
    """Part steps where the first one puts content somewhere: by then every directory is there, so many can be prepared."""
    first = next((index for index, step in enumerate(steps) if isinstance(step, Supplied)), len(steps))
    yield steps[:first]
    yield steps[first:]


def _run(site: Site, step: Step) -> None:
    try:
        step.run()
    except OSError as error:
        raise _meaning(site, step.path, error) from None
    except StoreError as error:
        raise ToolError(Code.INTERNAL_ERROR, f"{shown(step.path)} could not be written: {error}") from None


def _meaning(site: Site, path: str, error: OSError) -> ToolError:
    return site.changed(path) if error.errno in _CHANGED_SINCE else tool_error(error, path)
