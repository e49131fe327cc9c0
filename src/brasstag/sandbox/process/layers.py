"""What the code stands on: a layer over the workspace, a copy of it, or the bare workspace, read-only.

The layer is an overlay whose upper directory ends up holding exactly what the run changed. Where the kernel or the file
system cannot do that, the code works on a copy, which is compared with what it was afterwards.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from brasstag.sandbox.process.backend import Mounts
from brasstag.sandbox.process.changes import ChangeSet
from brasstag.sandbox.process.comparing import changes_in_copy, changes_in_upper
from brasstag.sandbox.process.copying import Copy, copy_tree
from brasstag.sandbox.process.jobs import Footing
from brasstag.sandbox.workspace.control import ENVIRONMENT_MARK
from brasstag.sandbox.workspace.paths import ROOT
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import ToolError

PREFIX = "run-"
LOCK = "lock"
# State and rules of the room are nobody's business in there; the rest is read by git and by interpreters.
_HIDDEN = (".brasstag", "brasstag.toml")
_CAP_SYS_ADMIN = 21
_DIRECTORIES: dict[Footing, tuple[str, ...]] = {
    "overlay": ("upper", "work", "merged"),
    "copy": ("upper",),
    "read-only": (),
}


class Layer:
    """What one run stands on; nothing of it is in the workspace."""

    def __init__(self, workspace: Workspace, scratch: Path, footing: Footing) -> None:
        self.workspace = workspace
        self.root = workspace.open_directory(ROOT, READ_DIRECTORY)
        """The workspace, held open."""
        self.host = os.readlink(f"/proc/self/fd/{self.root}")
        self.footing = footing
        self.scratch = Path(tempfile.mkdtemp(prefix=PREFIX, dir=scratch))
        self._lock = _locked(self.scratch)
        for name in _DIRECTORIES[footing]:
            (self.scratch / name).mkdir()
        self.since = self.scratch.stat().st_ctime_ns
        """What somebody else changes in the workspace from now on has a later time than this."""
        self._covered: set[str] = set()
        self._copy: Copy | None = None
        if footing == "copy":
            self.fall_back()

    @property
    def written(self) -> str | None:
        """The directory that holds what the run writes; None where it cannot write."""
        return None if self.footing == "read-only" else str(self.scratch / "upper")

    @property
    def overlay(self) -> dict[str, Any] | None:
        """What the launcher has to mount."""
        if self.footing != "overlay":
            return None
        return {"scratch": str(self.scratch), "user_namespace": not may_mount()}

    def fall_back(self) -> None:
        """Work on a copy from here on."""
        self.footing = "copy"
        self._copy = copy_tree(self.root, self.scratch / "upper", self.workspace.control.covers)

    def mounts(self, hidden_besides: Iterable[tuple[str, bool]] = ()) -> Mounts:
        """Return what a backend puts where; what is hidden besides the control files is found empty."""
        place = {"overlay": str(self.scratch / "merged"), "copy": self.written or "", "read-only": self.host}
        shown: list[tuple[str, str]] = []
        hidden = list(hidden_besides)
        for name, is_directory in self._control_files():
            if name.lower().startswith(_HIDDEN):
                hidden.append((name, is_directory))
            else:
                shown.append((f"{self.host}/{name}", name))
        self._covered = {path for path, _ in hidden} | {path for _, path in shown}
        return Mounts(
            place[self.footing],
            self.footing != "read-only",
            tuple(shown),
            tuple(hidden),
            str(self.scratch / LOCK),
        )

    def changes(self) -> ChangeSet:
        """Return exactly what the run changed; ask only after it has ended."""
        if self.footing == "read-only":
            return ChangeSet((), (), self.scratch)
        upper = self.scratch / "upper"
        if self._copy is not None:
            return changes_in_copy(self.workspace, upper, self._copy, self._covered)
        return changes_in_upper(self.workspace, upper, self.since, self._covered)

    def close(self) -> None:
        """Remove everything."""
        remove_tree(self.scratch)
        os.close(self._lock)
        os.close(self.root)

    def _control_files(self) -> Iterator[tuple[str, bool]]:
        """Find the control files at the top of the workspace; a change to one further below refuses the whole set."""
        for name in os.listdir(self.root):
            with suppress(OSError):
                status = os.stat(name, dir_fd=self.root, follow_symlinks=False)
                is_directory = stat.S_ISDIR(status.st_mode)
                is_environment = is_directory and os.access(
                    f"{name}/{ENVIRONMENT_MARK}", os.F_OK, dir_fd=self.root
                )
                if not (is_environment or self.workspace.control.covers(name)):
                    continue
                if is_directory or stat.S_ISREG(status.st_mode):
                    yield name, is_directory


@contextmanager
def open_layer(workspace: Workspace, scratch: Path, *, writable: bool = True) -> Iterator[Layer]:
    """Hold what a run stands on: an overlay where it can be, a copy where files belong to others, or read-only."""
    footing: Footing = "read-only"
    if writable:
        footing = "overlay" if may_mount() or not _has_foreign_files(workspace) else "copy"
    layer = Layer(workspace, scratch, footing)
    try:
        yield layer
    finally:
        layer.close()


@contextmanager
def held_directory(scratch: Path) -> Iterator[Path]:
    """Hold a directory that is swept as layers are, should this process be killed."""
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=scratch))
    lock = _locked(place)
    try:
        yield place
    finally:
        remove_tree(place)
        os.close(lock)


def _locked(place: Path) -> int:
    lock = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


@lru_cache(maxsize=1)
def may_mount() -> bool:
    """Say whether this process may mount without a user namespace, in which files of others would have no owner."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
        for line in file:
            if line.startswith("CapEff:"):
                return os.geteuid() == 0 and bool(int(line.split()[1], 16) >> _CAP_SYS_ADMIN & 1)
    return False


def remove_tree(path: Path) -> None:
    """Remove a directory that confined code has written to, whatever rights it left there, and however deep it goes."""
    root = os.open(path, READ_DIRECTORY)
    try:
        # The lock goes last: as long as it is there, whoever sweeps can finish this.
        while names := [name for name in os.listdir(root) if name != LOCK]:
            for name in names:
                _remove_one(root, name)
    finally:
        os.close(root)
    (path / LOCK).unlink(missing_ok=True)
    path.rmdir()


def _remove_one(root: int, name: str) -> None:
    """Remove one name; directories in it are first brought up beside it, so that none is ever deep."""
    if not _is_directory(root, name):
        os.unlink(name, dir_fd=root)
        return
    os.chmod(name, 0o700, dir_fd=root)
    here = os.open(name, READ_DIRECTORY, dir_fd=root)
    try:
        for child in os.listdir(here):
            if _is_directory(here, child):
                os.chmod(child, 0o700, dir_fd=here)
                os.rename(child, os.urandom(8).hex(), src_dir_fd=here, dst_dir_fd=root)
            else:
                os.unlink(child, dir_fd=here)
    finally:
        os.close(here)
    os.rmdir(name, dir_fd=root)


def _is_directory(directory: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)


def sweep_layers(scratch: Path) -> int:
    """Remove what runs have left whose process was killed; return how many there were."""
    count = 0
    for place in scratch.glob(f"{PREFIX}*"):
        with suppress(OSError), open(place / LOCK, "rb") as lock:  # noqa: PTH123
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(place)
            count += 1
    return count


def _has_foreign_files(workspace: Workspace) -> bool:
    user, group = os.geteuid(), os.getegid()
    pending = [ROOT]
    while pending:
        place = pending.pop()
        with (
            # Environments cannot be looked into, nor changed by anybody.
            suppress(OSError, ToolError),
            workspace.directory(place, READ_DIRECTORY) as directory,
            os.scandir(directory) as entries,
        ):
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if (status.st_uid, status.st_gid) != (user, group):
                    return True
                if stat.S_ISDIR(status.st_mode):
                    pending.append(entry.name if place == ROOT else f"{place}/{entry.name}")
    return False
