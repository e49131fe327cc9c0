"""Directories without write permission: closed after all other changes, and opened to recover.

A file is put into a directory, or taken from it, only where its owner may write. So a directory whose mode shall not let
them has that right until nothing is left to do in it.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress

from brasstag.sandbox.workspace.change.change_site import Site
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY
from brasstag.words.errors import ToolError
from brasstag.words.previews import DIRECTORY, Change

_OWNER = stat.S_IRWXU


def opened(mode: int | None) -> int:
    """Return a mode with every right for the owner."""
    return (mode or 0) | _OWNER


def close_directories(site: Site) -> None:
    """Take from the owner what the changes say; raises Unsettled where that fails, as all else has happened."""
    for change in reversed(list(_closed(site.changes))):
        # Another program may have removed the directory since; then there is nothing to close.
        with (
            site.restoring(change.path),
            suppress(FileNotFoundError),
            site.workspace.directory(change.path) as there,
        ):
            if stat.S_IMODE(os.fstat(there).st_mode) == opened(change.mode):
                with site.workspace.directory(change.path, READ_DIRECTORY) as here:
                    os.fchmod(here, change.mode or 0)
                    _sync(here)
        site.at(f"{change.path}: closed")


def open_directories(site: Site) -> None:
    """Undo that, so that a recovery can look into them; they are closed again at its end."""
    for change in _closed(site.changes):
        with suppress(OSError, ToolError), site.workspace.directory(change.path) as here:
            if stat.S_IMODE(os.fstat(here).st_mode) == change.mode:
                set_mode(here, opened(change.mode))


def set_mode(directory: int, mode: int) -> None:
    """Set the mode of an open directory, even of one that was opened without the right to read it."""
    try:
        os.fchmod(directory, mode)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        os.chmod(f"/proc/self/fd/{directory}", mode)


def _closed(changes: Sequence[Change]) -> Iterator[Change]:
    for change in changes:
        if change.after == DIRECTORY and change.mode is not None and opened(change.mode) != change.mode:
            yield change


def _sync(directory: int) -> None:
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
