"""What the tests of this room share: workspaces, snapshots, and children that race or die."""

import itertools
import os
import signal
import stat
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.change.apply import apply_changes
from brasstag.sandbox.workspace.control import ControlFiles
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.view.visibility import EverythingVisible
from brasstag.sandbox.workspace.workspace import UNDO_LIMIT, Workspace
from brasstag.store.contents.blobs import Blobs
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Change, Preview

Snapshot = dict[str, tuple[str, bytes, int]]


@dataclass(frozen=True)
class Limited(EverythingVisible):
    """Rules that concern the paths for which ``chosen`` is true, checked one by one."""

    chosen: Callable[[str], bool]

    def says_nothing_about(self, paths: Sequence[str]) -> bool:
        return False


class Hiding(Limited):
    """Rules that hide paths."""

    def hides(self, path: str) -> bool:
        return self.chosen(path)


class Listing(Limited):
    """Rules for which searches have to list paths."""

    def must_be_listed(self, path: str) -> bool:
        return self.chosen(path)


def open_workspace(project: Path, portable: bool = False, undo_limit: int = UNDO_LIMIT) -> Workspace:
    """Open data/ of a project."""
    data = project / "data"
    return Workspace(
        data, ControlFiles(project, data), Blobs(project / ".brasstag" / "blobs"), undo_limit, portable
    )


def snapshot(root: Path) -> Snapshot:
    """Return every path below a directory with its kind, bytes and mode, private names included."""
    found: Snapshot = {}
    for place, directories, files in os.walk(root):
        for name in directories + files:
            path = Path(place, name)
            status = path.lstat()
            if path.is_symlink():
                one = ("link", os.fsencode(path.readlink()), 0)
            elif stat.S_ISDIR(status.st_mode):
                one = ("directory", b"", stat.S_IMODE(status.st_mode))
            elif stat.S_ISREG(status.st_mode):
                one = ("file", path.read_bytes(), stat.S_IMODE(status.st_mode))
            else:
                one = ("other", b"", 0)
            found[str(path.relative_to(root))] = one
    return found


def contents(root: Path) -> dict[str, bytes | None]:
    """Return every path below a directory with its bytes; directories have None."""
    return {path: None if kind == "directory" else data for path, (kind, data, _) in snapshot(root).items()}


def change(workspace: Workspace, *actions: Callable[[Draft], object]) -> Preview:
    """Do things to a draft and return its preview, with all it needs in the blobs."""
    draft = Draft(workspace, writable=True)
    for action in actions:
        action(draft)
    draft.close()
    draft.persist()
    return draft.preview()


def carry_out(workspace: Workspace, *actions: Callable[[Draft], object]) -> tuple[Change, ...]:
    """Do things to a draft and then to the disk."""
    changes = change(workspace, *actions).changes
    apply_changes(workspace, "call_test", changes)
    return changes


@contextmanager
def fails(code: Code) -> Iterator[pytest.ExceptionInfo[ToolError]]:
    """Expect a ToolError with this code."""
    with pytest.raises(ToolError) as caught:
        yield caught
    assert caught.value.code is code, caught.value.message


def fork(work: Callable[[], object]) -> int:
    """Start a child process that does some work and ends without a word; return its id."""
    with warnings.catch_warnings():
        # The runner may have threads; the child uses none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(70)
    return child


def ended(child: int) -> int:
    """Wait for a child; return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[int]:
    """Let a child do some work over and over while the block runs."""

    def forever() -> None:
        while True:
            work()

    child = fork(forever)
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        ended(child)


def turns(least: int, enough: Callable[[], bool]) -> Iterator[int]:
    """Count turns of a race: at least so many, and on until it has shown both its sides."""
    for turn in itertools.count():
        if turn >= least and enough():
            return
        yield turn


class DieAt:
    """A watcher of steps that kills its own process at the n-th."""

    def __init__(self, count: int) -> None:
        self._left = count

    def __call__(self, step: str) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1
