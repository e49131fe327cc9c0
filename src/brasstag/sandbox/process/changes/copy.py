"""A copy of the workspace, where no layer can be mounted over it."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from brasstag.sandbox.workspace.hidden_from_code import FoundPath, HiddenMoved
from brasstag.sandbox.workspace.paths import ROOT, join_path
from brasstag.sandbox.workspace.view.reader import READ_FILE
from brasstag.sandbox.workspace.workspace import open_beneath
from brasstag.words.errors import Code, ToolError

LARGEST_COPY = 1 << 30
MOST_NAMES = 100_000

_CLONE = 0x40049409
_KEPT_OF_FILE = 0o077
_KEPT_OF_DIRECTORY = 0o3077
_SWAPPED = (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.ENXIO)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Print:
    """What tells whether a copied path was touched; no program can set the time of the last change."""

    is_directory: bool
    mode: int
    inode: int
    changed: int
    size: int


@dataclass
class WorkspaceCopy:
    """What a copy held before anything ran on it."""

    prints: dict[str, Print] = field(default_factory=dict)
    originals: dict[str, os.stat_result] = field(default_factory=dict)
    """What each path was copied from."""
    placeholders: set[str] = field(default_factory=set)
    """Control files, of which only an empty name was made to put the real one over."""
    unread: set[str] = field(default_factory=set)
    """What this user may not read: there is an empty name for it that the code may not read either."""
    hidden: set[str] = field(default_factory=set)
    """What the code must not see: there is an empty name for it, which has to stay where it is."""
    size: int = 0


@dataclass(frozen=True)
class Bounds:
    """What a copy is to leave out, and how much it may hold."""

    is_control: Callable[[str], bool]
    hidden: Mapping[str, FoundPath] = field(default_factory=dict)
    most_bytes: int = LARGEST_COPY
    too_large: str = (
        "no layer can be mounted over this workspace, and it is too large to copy for every run; "
        "give all files in it to the user and group that run Brasstag, or use another file system"
    )
    """What is said of a workspace that holds more."""

    @cached_property
    def identities(self) -> frozenset[tuple[int, int]]:
        """What is hidden, by device and inode; what a call has beside its changes becomes the file that it changes."""
        hidden = (one for one in self.hidden.values() if not one.is_temporary)
        return frozenset((one.device, one.inode) for one in hidden)


def fingerprint(status: os.stat_result) -> Print:
    """Return a path's print."""
    is_directory = stat.S_ISDIR(status.st_mode)
    mode = stat.S_IMODE(status.st_mode)
    if is_directory:
        return Print(True, mode, 0, 0, 0)
    return Print(False, mode, status.st_ino, status.st_ctime_ns, status.st_size)


def copy_tree(root: int, target: Path, bounds: Bounds) -> WorkspaceCopy:
    """Copy an open directory; pipes, sockets and devices are left out.

    Raises ToolError where it is too large, and HiddenMoved where what is to be hidden is not, or no longer, at its path.
    """
    copy = WorkspaceCopy()
    modes: list[tuple[Path, int]] = []
    pending = [ROOT]
    while pending:
        # What another process has removed meanwhile is not there to be copied.
        with (
            _refused_if_swapped(),
            suppress(FileNotFoundError),
            _opened(root, pending.pop()) as (directory, here),
        ):
            _refuse_moved(bounds, os.fstat(here))
            for path in [join_path(directory, name) for name in os.listdir(here)]:
                with suppress(FileNotFoundError):
                    status = _look_at(copy, bounds, here, path)
                    if stat.S_ISDIR(status.st_mode):
                        modes.append((target / path, _mode_for(copy, here, path, status)))
                    if _copy_one(copy, bounds, here, path, target / path):
                        pending.append(path)
    for hidden in bounds.hidden.values():
        was = copy.originals.get(hidden.path)
        if (was is None or FoundPath.of(hidden.path, was) != hidden) and not bounds.is_control(hidden.path):
            raise HiddenMoved
    # Not before all is in them.
    for place, mode in reversed(modes):
        place.chmod(mode)
    for path in copy.originals:
        with suppress(FileNotFoundError):
            copy.prints[path] = fingerprint(os.stat(target / path, follow_symlinks=False))
    return copy


@contextmanager
def _refused_if_swapped() -> Iterator[None]:
    """Refuse the copy where another program put something of another kind at a path after the look at it."""
    try:
        yield
    except OSError as error:
        if error.errno in _SWAPPED:
            raise HiddenMoved from None
        raise


@contextmanager
def _opened(root: int, directory: str) -> Iterator[tuple[str, int]]:
    here = open_beneath(root, directory)
    try:
        yield directory, here
    finally:
        os.close(here)


def _look_at(copy: WorkspaceCopy, bounds: Bounds, here: int, path: str) -> os.stat_result:
    """Find out how one name is to be copied; raises ToolError where it would be too much."""
    name = path.rpartition("/")[2]
    status = copy.originals[path] = os.stat(name, dir_fd=here, follow_symlinks=False)
    if bounds.is_control(path):
        copy.placeholders.add(path)
    elif path in bounds.hidden:
        copy.hidden.add(path)
    elif not stat.S_ISLNK(status.st_mode) and not _may_read(here, name, status):
        copy.unread.add(path)
    elif stat.S_ISREG(status.st_mode):
        copy.size += status.st_size
    if copy.size > bounds.most_bytes or len(copy.originals) > MOST_NAMES:
        raise ToolError(Code.NOT_SUPPORTED, bounds.too_large)
    return status


def _may_read(here: int, name: str, status: os.stat_result) -> bool:
    wanted = os.R_OK | os.X_OK if stat.S_ISDIR(status.st_mode) else os.R_OK
    return os.access(name, wanted, dir_fd=here, effective_ids=True)


def _mode_for(copy: WorkspaceCopy, here: int, path: str, status: os.stat_result) -> int:
    """Return a mode by which the owner of the copy may do what this user may do with the original."""
    if path in copy.unread:
        return 0
    if path in copy.hidden:
        return 0o555 if stat.S_ISDIR(status.st_mode) else 0o444
    rights = status.st_mode >> 6 & 0o7
    if status.st_uid != os.geteuid():
        name = path.rpartition("/")[2]
        asked = (os.R_OK, os.W_OK, os.X_OK)
        rights = sum(one for one in asked if os.access(name, one, dir_fd=here, effective_ids=True))
    kept = _KEPT_OF_DIRECTORY if stat.S_ISDIR(status.st_mode) else _KEPT_OF_FILE
    return status.st_mode & kept | rights << 6


def _copy_one(copy: WorkspaceCopy, bounds: Bounds, here: int, path: str, target: Path) -> bool:
    """Copy one name; say whether it is a directory to go into."""
    status = copy.originals[path]
    is_empty = path in copy.placeholders or path in copy.unread or path in copy.hidden
    if stat.S_ISDIR(status.st_mode):
        target.mkdir(0o700)
        return not is_empty
    if stat.S_ISLNK(status.st_mode):
        target.symlink_to(os.readlink(path.rpartition("/")[2], dir_fd=here))
    elif stat.S_ISREG(status.st_mode):
        mode = _mode_for(copy, here, path, status)
        if is_empty:
            target.touch(mode)
        else:
            _copy_file(bounds, here, path, target, mode)
    return False


def _copy_file(bounds: Bounds, here: int, path: str, target: Path, mode: int) -> None:
    source = os.open(path.rpartition("/")[2], READ_FILE, dir_fd=here)
    try:
        status = os.fstat(source)
        # A second name of a hidden file may be open to code, and was there before.
        if status.st_nlink == 1:
            _refuse_moved(bounds, status)
        copied = os.open(target, _WRITE, 0o600)
        try:
            _copy_bytes(source, copied)
            os.fchmod(copied, mode)
        finally:
            os.close(copied)
    finally:
        os.close(source)


def _refuse_moved(bounds: Bounds, status: os.stat_result) -> None:
    """Refuse to copy what was found elsewhere when the walk found it to be hidden: others move files meanwhile."""
    if (status.st_dev, status.st_ino) in bounds.identities:
        raise HiddenMoved


def _copy_bytes(source: int, target: int) -> None:
    try:
        # Where the file system can, both share their blocks until one is written to.
        fcntl.ioctl(target, _CLONE, source)
    except OSError:
        left = os.fstat(source).st_size
        while left > 0:
            try:
                done = os.copy_file_range(source, target, left)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise
                done = os.sendfile(target, source, None, left)
            if done == 0:
                return
            left -= done
