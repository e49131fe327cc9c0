"""What a job works on: a layer over the workspace, a copy, or the workspace read-only.

The layer is an overlay whose upper directory ends up holding exactly what the run changed. Where the kernel or the file
system cannot do that, the code works on a copy, which is compared with what it was afterwards. A run with a network gets
a copy to read: in the live workspace, a hidden file would show again as soon as another program saves it anew.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from brasstag.sandbox.process.backend import Mounts
from brasstag.sandbox.process.changes.changes import ChangeSet
from brasstag.sandbox.process.changes.changes_reader import changes_in_copy, changes_in_upper
from brasstag.sandbox.process.changes.copy import MOST_NAMES, Bounds, WorkspaceCopy, copy_tree
from brasstag.sandbox.process.job import Footing, Job
from brasstag.sandbox.workspace.control import ControlFiles, is_environment, is_state
from brasstag.sandbox.workspace.hidden_from_code import FoundPath, HiddenMoved
from brasstag.sandbox.workspace.paths import ROOT, join_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace, open_beneath
from brasstag.store.contents.blobs import Blobs

PREFIX = "run-"
LOCK = "lock"
_CAP_SYS_ADMIN = 21
_DIRECTORIES: dict[Footing, tuple[str, ...]] = {
    "overlay": ("upper", "work", "merged", "hollow"),
    "copy": ("upper", "hollow"),
    "snapshot": ("upper", "hollow"),
    "read-only": ("merged", "hollow"),
}
# What the launcher makes of each, and where in the scratch directory the code's workspace is then.
_VIEWS: dict[Footing, tuple[str, str]] = {
    "overlay": ("overlay", "merged"),
    "copy": ("copy", "upper"),
    "snapshot": ("copy", "upper"),
    "read-only": ("live", "merged"),
}
_INSTEAD: dict[Footing, Footing] = {"overlay": "copy", "read-only": "snapshot"}
_WRITABLE: tuple[Footing, ...] = ("overlay", "copy")
_COPIED: tuple[Footing, ...] = ("copy", "snapshot")


class Layer:
    """What one run stands on; nothing of it is in the workspace."""

    def __init__(self, workspace: Workspace, scratch: Path, footing: Footing, job: Job) -> None:
        self.workspace = workspace
        self._job = job
        self.root = workspace.open_directory(ROOT, READ_DIRECTORY)
        """The workspace, held open."""
        self.host = os.readlink(f"/proc/self/fd/{self.root}")
        self.footing = footing
        self.scratch, self._lock = _make_held(scratch)
        self.since = self.scratch.stat().st_ctime_ns
        """What another process changes in the workspace from now on has a later time than this."""
        control = {found.path: found for found in self._control_files()}
        # The code must not read state and rules of the room. Git and interpreters need the other files.
        self._shown = {name: found for name, found in control.items() if not is_state(name)}
        self._hidden = {name: found for name, found in control.items() if is_state(name)}
        self._hidden |= {found.path: found for found in job.hidden}
        self._copy: WorkspaceCopy | None = None

    @property
    def written(self) -> str | None:
        """The directory that holds what the run writes; None where it cannot write."""
        return str(self.scratch / "upper") if self.footing in _WRITABLE else None

    def view(self) -> dict[str, Any]:
        """Return what the launcher has to make: the code's workspace, with what is hidden covered."""
        footing, view = _VIEWS[self.footing]
        hidden = [*self._not_yet_hidden(), *self._doors()]
        return {
            "scratch": str(self.scratch),
            "user_namespace": not may_mount(),
            "footing": footing,
            "view": view,
            "shown": [(one.path, one.device, one.inode) for one in self._shown.values()],
            "hidden": [one for one in hidden if not one.is_temporary],
            "temporary": [one.path for one in hidden if one.is_temporary],
        }

    def make(self) -> None:
        """Make the directories it needs, and the copy where it is one; raises ToolError where that cannot be."""
        for name in _DIRECTORIES[self.footing]:
            (self.scratch / name).mkdir(exist_ok=True)
        if self.footing in _COPIED:
            self._copy = self._copied()

    def fall_back(self) -> bool:
        """Work on a copy from here on; say whether it did not do that before."""
        instead = _INSTEAD.get(self.footing)
        if instead is None:
            return False
        self.footing = instead
        self.make()
        return True

    def mounts(self) -> Mounts:
        """Return what a backend puts where."""
        view = str(self.scratch / _VIEWS[self.footing][1])
        return Mounts(view, self.footing in _WRITABLE, tuple(self._shown), self.host)

    def require_unmoved(self) -> None:
        """Raise HiddenMoved where what is hidden or shown is not what was listed; the last look before code starts.

        A directory that was looked into must not be another one: two that were swapped meanwhile may both have been taken
        for the one that hides nothing.
        """
        listed = (*self._shown.values(), *self._not_yet_hidden())
        if not all(found.is_temporary or found.is_beneath(self.root) for found in listed):
            raise HiddenMoved
        if any(found.is_replaced(self.root) for found in self._job.walked):
            raise HiddenMoved

    def changes(self) -> ChangeSet:
        """Return exactly what the run changed; ask only after it has ended."""
        if self.footing not in _WRITABLE:
            return ChangeSet((), (), self.scratch)
        upper = self.scratch / "upper"
        if self._copy is not None:
            return changes_in_copy(self.workspace, upper, self._copy, self._shown)
        return changes_in_upper(self.workspace, upper, self.since, {*self._shown, *self._hidden})

    def close(self) -> None:
        """Remove everything."""
        remove_tree(self.scratch)
        os.close(self._lock)
        os.close(self.root)

    def _copied(self) -> WorkspaceCopy:
        bounds = Bounds(self.workspace.control.covers, self._hidden)
        if self.footing == "snapshot":
            most = self._job.limits.disk_bytes
            said = (
                f"the code was not run: with `network` it works on a copy of the workspace, and this one holds more than "
                f"{most >> 20} MB or {MOST_NAMES:,} names; run it without, and fetch with web_fetch"
            )
            bounds = replace(bounds, most_bytes=most, too_large=said)
        return copy_tree(self.root, self.scratch / "upper", bounds)

    def _not_yet_hidden(self) -> Iterator[FoundPath]:
        """Yield what has to be covered; what a copy holds of its own is empty already."""
        for path, found in self._hidden.items():
            if self.footing not in _COPIED or path.split("/", 1)[0] in self._shown:
                yield found

    def _doors(self) -> Iterator[FoundPath]:
        """Find sockets and pipes in what is shown beside a copy as it is on the host: they lead to processes there."""
        pending = list(self._shown) if self.footing in _COPIED else []
        while pending:
            place = pending.pop()
            with suppress(OSError), _listed(self.root, place) as entries:
                for entry in entries:
                    path = join_path(place, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(path)
                    elif not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                        yield FoundPath.of(path, entry.stat(follow_symlinks=False))

    def _control_files(self) -> Iterator[FoundPath]:
        """Find the control files at the top of the workspace; a change to one further below refuses the whole set."""
        for name in os.listdir(self.root):
            with suppress(OSError):
                status = os.stat(name, dir_fd=self.root, follow_symlinks=False)
                is_directory = stat.S_ISDIR(status.st_mode)
                has_mark = is_directory and is_environment(self.root, name)
                if not (has_mark or self.workspace.control.covers(name)):
                    continue
                if is_directory or stat.S_ISREG(status.st_mode):
                    yield FoundPath.of(name, status)


@contextmanager
def open_layer(workspace: Workspace, scratch: Path, job: Job) -> Iterator[Layer]:
    """Hold what a job stands on: an overlay where it can be, a copy where files belong to others, or read-only."""
    footing: Footing = "snapshot" if job.network else "read-only"
    if job.overlay:
        footing = "overlay" if may_mount() or not _has_foreign_files(workspace) else "copy"
    layer = Layer(workspace, scratch, footing, job)
    try:
        layer.make()
        yield layer
    finally:
        layer.close()


@contextmanager
def held_directory(scratch: Path) -> Iterator[Path]:
    """Hold a directory that is swept as layers are, should this process be killed."""
    place, lock = _make_held(scratch)
    try:
        yield place
    finally:
        remove_tree(place)
        os.close(lock)


def empty_workspace(place: Path) -> Workspace:
    """Open a workspace that holds nothing, in a directory of one's own; the caller closes it."""
    root = place / "workspace"
    root.mkdir()
    return Workspace(root, ControlFiles(place, root), Blobs(place / "blobs"))


def _make_held(scratch: Path) -> tuple[Path, int]:
    """Make a directory for one run, and hold its lock; another process that sweeps may take a new one away before."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=scratch))
        with suppress(FileNotFoundError):
            lock = _open_lock(place)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(place / LOCK, lock):
                return place, lock
            os.close(lock)


def _open_lock(place: Path) -> int:
    return os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


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
        # The lock is removed last: as long as it is there, a later sweep can finish this.
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
    return sum(_sweep_one(place) for place in scratch.glob(f"{PREFIX}*"))


def _sweep_one(place: Path) -> bool:
    try:
        # Made where there is none: a process may be killed before it has made the lock, or after it has removed it.
        lock = _open_lock(place)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(place)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _has_foreign_files(workspace: Workspace) -> bool:
    with workspace.directory(ROOT, READ_DIRECTORY) as root:
        return _holds_foreign_files(root)


def _holds_foreign_files(root: int) -> bool:
    user, group = os.geteuid(), os.getegid()
    pending = [ROOT]
    while pending:
        place = pending.pop()
        with suppress(OSError), _listed(root, place) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if (status.st_uid, status.st_gid) != (user, group):
                    return True
                path = join_path(place, entry.name)
                # No run can change an environment.
                if stat.S_ISDIR(status.st_mode) and not is_environment(root, path):
                    pending.append(path)
    return False


@contextmanager
def _listed(root: int, path: str) -> "Iterator[Iterator[os.DirEntry[str]]]":
    here = open_beneath(root, path)
    try:
        with os.scandir(here) as entries:
            yield entries
    finally:
        os.close(here)
