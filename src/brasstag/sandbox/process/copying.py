"""A copy of the workspace to work on where no layer can be mounted over it."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from brasstag.sandbox.workspace.paths import ROOT, join_path
from brasstag.sandbox.workspace.reader import READ_FILE
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY
from brasstag.words.errors import Code, ToolError

LARGEST_COPY = 1 << 30
MOST_NAMES = 100_000

_CLONE = 0x40049409
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
class Copy:
    """What a copy held before anything ran on it."""

    prints: dict[str, Print] = field(default_factory=dict)
    placeholders: set[str] = field(default_factory=set)
    """Control files, of which only an empty name was made to put the real one over."""
    size: int = 0


def fingerprint(status: os.stat_result) -> Print:
    """Return a path's print."""
    is_directory = stat.S_ISDIR(status.st_mode)
    mode = stat.S_IMODE(status.st_mode)
    if is_directory:
        return Print(True, mode, 0, 0, 0)
    return Print(False, mode, status.st_ino, status.st_ctime_ns, status.st_size)


def copy_tree(root: int, target: Path, is_control: Callable[[str], bool]) -> Copy:
    """Copy an open directory; pipes, sockets and devices are left out. Raises ToolError where it is too large."""
    copy = Copy()
    pending = [ROOT]
    while pending:
        directory = pending.pop()
        here = os.open(directory, READ_DIRECTORY, dir_fd=root)
        try:
            for name in os.listdir(here):
                path = join_path(directory, name)
                if _copy_one(copy, here, name, target / path, is_control(path)):
                    pending.append(path)
                with suppress(FileNotFoundError):
                    copy.prints[path] = fingerprint((target / path).lstat())
                if is_control(path):
                    copy.placeholders.add(path)
        finally:
            os.close(here)
    return copy


def _copy_one(copy: Copy, here: int, name: str, target: Path, is_control: bool) -> bool:
    """Copy one name; say whether it is a directory to go into."""
    status = os.stat(name, dir_fd=here, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if stat.S_ISDIR(status.st_mode):
        target.mkdir()
        target.chmod(mode | 0o700)
        return not is_control
    if stat.S_ISLNK(status.st_mode):
        target.symlink_to(os.readlink(name, dir_fd=here))
    elif stat.S_ISREG(status.st_mode):
        copy.size += 0 if is_control else status.st_size
        if copy.size > LARGEST_COPY or len(copy.prints) > MOST_NAMES:
            raise ToolError(
                Code.NOT_SUPPORTED,
                "no layer can be mounted over this workspace, and it is too large to copy for every run; "
                "give all files in it to the user and group that run Brasstag, or use another file system",
            )
        if is_control:
            target.touch(mode)
        else:
            _copy_file(here, name, target, mode)
    return False


def _copy_file(here: int, name: str, target: Path, mode: int) -> None:
    source = os.open(name, READ_FILE, dir_fd=here)
    try:
        copied = os.open(target, _WRITE, 0o600)
        try:
            _copy_bytes(source, copied)
            os.fchmod(copied, mode | 0o600)
        finally:
            os.close(copied)
    finally:
        os.close(source)


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
