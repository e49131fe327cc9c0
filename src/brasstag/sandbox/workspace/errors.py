"""Errors of the kernel as codes a caller understands; no message names a path of the host."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from brasstag.words.errors import BrasstagError, Code, ToolError

LONGEST_SHOWN = 200


class Unsettled(BrasstagError):
    """Some changes may have landed and could not be taken back; a person decides."""

    def __init__(self, message: str, details: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


_MEANING: dict[int, tuple[Code, str]] = {
    errno.ENOENT: (Code.FILE_NOT_FOUND, "is not in the workspace; list the directory to see what is"),
    errno.ENOTDIR: (Code.NOT_A_DIRECTORY, "leads through a file as if it were a directory; check the path"),
    errno.EISDIR: (Code.NOT_A_FILE, "is a directory; name a file inside it"),
    errno.EEXIST: (Code.ALREADY_EXISTS, "exists already; choose another name"),
    errno.ENOTEMPTY: (Code.DIRECTORY_NOT_EMPTY, "is a directory that is not empty"),
    errno.EACCES: (Code.PERMISSION_DENIED, "may not be used by the account Brasstag runs under"),
    errno.EPERM: (Code.PERMISSION_DENIED, "may not be used by the account Brasstag runs under"),
    errno.EROFS: (Code.PERMISSION_DENIED, "is on a file system that is read-only"),
    errno.ENOSPC: (Code.NO_SPACE, "does not fit: the disk is full; free some space and call again"),
    errno.EDQUOT: (Code.NO_SPACE, "does not fit: the quota is used up; free some space and call again"),
    errno.EFBIG: (Code.TOO_LARGE, "is larger than the file system allows"),
    errno.ENAMETOOLONG: (Code.INVALID_PATH, "is too long for the file system; use shorter names"),
    errno.EINVAL: (Code.INVALID_PATH, "is not a name this file system takes; use another"),
    errno.ELOOP: (Code.CHANGED, "had a link put in its way while it was being opened; call again"),
    errno.EXDEV: (Code.NOT_SUPPORTED, "is on another file system; write a copy and delete the original"),
    errno.EMFILE: (Code.BUSY, "cannot be opened: too many files are open; call again"),
    errno.ENFILE: (Code.BUSY, "cannot be opened: too many files are open; call again"),
    errno.EBUSY: (Code.BUSY, "is in use by the system; call again later"),
    errno.ENOMEM: (Code.BUSY, "cannot be opened: memory is short; call again later"),
}


def tool_error(error: OSError, path: str) -> ToolError:
    """Return what an OSError at a workspace path means to the caller."""
    number = error.errno or 0
    code, what = _MEANING.get(
        number, (Code.EXECUTION_ERROR, f"cannot be used; the system says: {os.strerror(number)}")
    )
    return ToolError(code, f"{shown(path)} {what}", {"path": shown(path)})


def shown(path: str) -> str:
    """Return a path as messages show it: printable, and of bounded length."""
    short = path if len(path) <= LONGEST_SHOWN else path[:LONGEST_SHOWN] + "…"
    return short if short.isprintable() else ascii(short)[1:-1]


@contextmanager
def at_path(path: str) -> Iterator[None]:
    """Turn whatever the kernel says in this block into a ToolError about ``path``."""
    try:
        yield
    except OSError as error:
        raise tool_error(error, path) from None
