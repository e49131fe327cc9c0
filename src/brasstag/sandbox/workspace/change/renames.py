"""Take, place, exchange: the only ways anything in the workspace moves.

No other program touches a private name. So what has been moved to one cannot be lost: it is verified there, and then
kept, put back or thrown away.
"""

import errno
import os
import re
import stat
from typing import Literal

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.control import TEMPORARY_PREFIX
from brasstag.sandbox.workspace.view.reader import READ_FILE, digest_of
from brasstag.words.canonical import sha256
from brasstag.words.previews import ABSENT, DIRECTORY, file_state, link_state

Role = Literal["tmp", "old", "src", "run"]
"""What a private name holds.

tmp: ours, being written · old: what came out of a path · src: what was taken from the place it moves from ·
run: nothing; while it is there, not every change of the call has been made.
"""

UNREADABLE = "unreadable"
"""The state of a pipe, a socket, a device, or what cannot be read: it equals no state a preview ever saw."""

_PRIVATE = re.compile(
    re.escape(TEMPORARY_PREFIX) + r"(?P<call>[\w:.]+)-(?P<index>\d+)\.(?P<role>tmp|old|src|run)\Z"
)


def private_name(call_id: str, index: int, role: Role) -> str:
    """Return the temporary name a change of a call uses for one role."""
    return f"{TEMPORARY_PREFIX}{call_id}-{index}.{role}"


def call_in(name: str) -> str | None:
    """Return the id of the call a private name belongs to, or None for any other name."""
    found = _PRIVATE.match(name)
    return found["call"] if found else None


class Renames:
    """Renames that never replace anything; ``native`` uses the kernel's, else the nearest portable thing."""

    def __init__(self, native: bool) -> None:
        self._native = native

    def take(self, here: int, name: str, there: int, private: str) -> None:
        """Move whatever is at a name to a private one, in one step."""
        if self._flagged(here, name, there, private, syscalls.RENAME_NOREPLACE):
            return
        # A private name is only ever ours; this refuses what an earlier run of the same call has left.
        if exists(there, private):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        os.rename(name, private, src_dir_fd=here, dst_dir_fd=there)

    def place(self, there: int, private: str, here: int, name: str) -> None:
        """Move something from a private name to where it shall be seen, unless something is there."""
        if self._flagged(there, private, here, name, syscalls.RENAME_NOREPLACE):
            return
        if state_at(there, private) == DIRECTORY:
            # Directories cannot be linked; a rename replaces at most an empty one.
            os.rename(private, name, src_dir_fd=there, dst_dir_fd=here)
            return
        # A link appears only where nothing is; only this call removes its private name.
        os.link(private, name, src_dir_fd=there, dst_dir_fd=here, follow_symlinks=False)
        os.unlink(private, dir_fd=there)

    def exchange(self, here: int, private: str, name: str) -> None:
        """Swap a private name and a visible one in one step; OSError with MISSING where that is unknown."""
        if not self._flagged(here, private, here, name, syscalls.RENAME_EXCHANGE):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    def _flagged(self, olddir: int, old: str, newdir: int, new: str, flag: int) -> bool:
        if not self._native:
            return False
        try:
            syscalls.renameat2(olddir, os.fsencode(old), newdir, os.fsencode(new), flag)
        except OSError as error:
            if error.errno in syscalls.MISSING:
                return False
            raise
        return True


def exists(directory: int, name: str) -> bool:
    """Say whether a name is taken, by a link that leads nowhere too."""
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def state_at(directory: int, name: str) -> str:
    """Return the state of a name in an open directory; never raises."""
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            return DIRECTORY
        if stat.S_ISLNK(status.st_mode):
            return link_state(sha256(os.readlink(os.fsencode(name), dir_fd=directory)))
        return _file_state(directory, name) if stat.S_ISREG(status.st_mode) else UNREADABLE
    except FileNotFoundError:
        return ABSENT
    except OSError:
        return UNREADABLE


def _file_state(directory: int, name: str) -> str:
    descriptor = os.open(name, READ_FILE, dir_fd=directory)
    try:
        return file_state(digest_of(descriptor)[0])
    finally:
        os.close(descriptor)


def identity(directory: int, name: str) -> tuple[int, int, str] | None:
    """Return what tells one thing from another: inode numbers are used again, so the content counts too."""
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, state_at(directory, name)


def discard(directory: int, name: str) -> None:
    """Remove a private name whose content is not needed any more."""
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return
