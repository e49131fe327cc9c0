"""The workspace directory, held open; every path is opened from this one descriptor."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.control import ControlFiles, control_error, in_environment
from brasstag.sandbox.workspace.paths import LONGEST_NAME, LONGEST_PATH, ROOT, ancestors
from brasstag.store.contents.blobs import Blobs

UNDO_LIMIT = 256 * 1024 * 1024
"""How many bytes of overwritten and deleted files one call keeps for undo."""

READ_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_CANONICAL = syscalls.RESOLVE_BENEATH | syscalls.RESOLVE_NO_SYMLINKS | syscalls.RESOLVE_NO_MAGICLINKS


def _never(_call_id: str) -> bool:
    return False


class Workspace:
    """The one directory tools may touch, with the rules and limits that hold in it.

    ``portable`` leaves openat2 and renameat2 unused, as on kernels without them; else they are used where they work.
    """

    def __init__(
        self,
        root: Path,
        control: ControlFiles,
        blobs: Blobs,
        undo_limit: int = UNDO_LIMIT,
        portable: bool = False,
        is_at_work: Callable[[str], bool] = _never,
    ) -> None:
        self.is_at_work = is_at_work
        """Says of a call, by its id, whether it has begun to change files and has not ended."""
        self.control = control
        self.blobs = blobs
        self.undo_limit = undo_limit
        self._root = os.open(root, syscalls.PIN & ~os.O_NOFOLLOW)
        self.portable = portable
        self._walks = portable or not _has_openat2(self._root)

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the directory; nothing in it can be reached through this object any more."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def open_directory(self, path: str, flags: int = syscalls.PIN) -> int:
        """Open a directory by its canonical path; the caller closes it.

        Raises OSError, ELOOP when a link is on the path, and ToolError when it lies in an environment.
        """
        if path == ROOT:
            return os.open(ROOT, flags, dir_fd=self._root)
        try:
            opened = _open_by_name if self._walks else _open_at_once
            directory = opened(self._root, path, flags)
        except (FileNotFoundError, NotADirectoryError):
            self._refuse_environment_above(path)
            raise
        if in_environment(directory, path.count("/") + 1):
            os.close(directory)
            raise control_error(path)
        return directory

    @contextmanager
    def directory(self, path: str, flags: int = syscalls.PIN) -> Iterator[int]:
        """Hold a directory open for a while."""
        descriptor = self.open_directory(path, flags)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _refuse_environment_above(self, path: str) -> None:
        # Inside an environment the answer is the same whether something exists there or not.
        for place in ancestors(path):
            try:
                directory = _open_by_name(self._root, place, syscalls.PIN)
            except OSError:
                return
            found = in_environment(directory, place.count("/") + 1)
            os.close(directory)
            if found:
                raise control_error(path)


def open_beneath(root: int, path: str, flags: int = READ_DIRECTORY) -> int:
    """Open a directory below an open one, and follow no link on the way; the caller closes it. Raises OSError."""
    try:
        return _open_at_once(root, path, flags)
    except OSError as error:
        # Container filters that do not know the call answer EPERM.
        if error.errno not in (*syscalls.MISSING, errno.EPERM):
            raise
    return _open_by_name(root, path, flags)


def _open_at_once(root: int, path: str, flags: int) -> int:
    # With O_NOFOLLOW a link at the end would answer ENOTDIR, as if it were a file.
    return syscalls.openat2(root, os.fsencode(path), flags & ~os.O_NOFOLLOW, 0, _CANONICAL)


def _open_by_name(root: int, path: str, flags: int) -> int:
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    here = os.dup(root)
    for name in path.split("/"):
        try:
            below = os.open(name, flags, dir_fd=here)
        except NotADirectoryError:
            raise _link_or_file(here, name) from None
        finally:
            os.close(here)
        here = below
    return here


def _link_or_file(directory: int, name: str) -> OSError:
    # The kernel's answer for a link where a directory was asked for is ENOTDIR; openat2 says ELOOP.
    is_link = stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    number = errno.ELOOP if is_link else errno.ENOTDIR
    return OSError(number, os.strerror(number))


def kernel_support(root: Path) -> str:
    """Say in a sentence how paths of a workspace are opened and replaced on this machine."""
    directory = os.open(root, syscalls.PIN & ~os.O_NOFOLLOW)
    try:
        opening = "by openat2" if _has_openat2(directory) else "name by name (no openat2 here)"
        replacing = (
            "exchanged" if _has_renameat2(directory) else "taken away, then put in place (no renameat2 here)"
        )
    finally:
        os.close(directory)
    return f"opened {opening}; overwritten files are {replacing}"


def _has_renameat2(directory: int) -> bool:
    # Asked of a name that cannot exist: where the call is known, that is what it says.
    absent = b"." * (LONGEST_NAME + 1)
    try:
        syscalls.renameat2(directory, absent, directory, absent, syscalls.RENAME_EXCHANGE)
    except OSError as error:
        return error.errno not in syscalls.MISSING
    return True


def _has_openat2(root: int) -> bool:
    try:
        os.close(syscalls.openat2(root, b".", syscalls.PIN, 0, _CANONICAL))
    except OSError:
        # Not only ENOSYS: container filters that do not know the call answer EPERM.
        return False
    return True
