"""What of the workspace is hidden from code, which can open any name there is."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from brasstag.sandbox.workspace.control import TEMPORARY_PREFIX, is_environment, is_state, may_be_state
from brasstag.sandbox.workspace.paths import ROOT, join_path, split_path
from brasstag.sandbox.workspace.workspace import open_beneath
from brasstag.words.errors import Code, ToolError

MANY = 100
"""A directory of which all this many names are hidden is hidden whole."""

# In bytes; what lies further down could not be named to cover it.
_DEEPEST = 3000
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)

AreOpen = Callable[[Sequence[str]], bool]
IsClosed = Callable[[str], bool]


class HiddenMoved(ToolError):
    """The code was not run: what it must not see was moved or replaced meanwhile. To look for it again may help."""

    def __init__(self) -> None:
        super().__init__(
            Code.CHANGED,
            "the code was not run: while it was set up, another program moved or replaced files that are hidden from "
            "code, or directories; call again",
        )


class FoundPath(NamedTuple):
    """A path, and what was there at a look."""

    path: str
    is_directory: bool
    device: int
    inode: int

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> "FoundPath":
        """Name what a look has found at a path."""
        return cls(path, stat.S_ISDIR(status.st_mode), status.st_dev, status.st_ino)

    @property
    def is_temporary(self) -> bool:
        """Whether a call has it beside what it changes: calls replace and remove such files at any time."""
        return self.path.rpartition("/")[2].startswith(TEMPORARY_PREFIX)

    def is_replaced(self, root: int) -> bool:
        """Say whether another file is at its path below an open directory; its own directory is asked first."""
        try:
            return FoundPath.of(self.path, os.stat(self.path, dir_fd=root, follow_symlinks=False)) != self
        except OSError:
            return False

    def is_beneath(self, root: int) -> bool:
        """Say whether it is still at its path below an open directory."""
        directory, name = split_path(self.path)
        try:
            opened = open_beneath(root, directory)
            try:
                return FoundPath.of(self.path, os.stat(name, dir_fd=opened, follow_symlinks=False)) == self
            finally:
                os.close(opened)
        except OSError:
            return False


def hidden_in(
    root: int, are_open: AreOpen, is_closed: IsClosed, walked: list[FoundPath]
) -> Iterator[FoundPath]:
    """Yield what is closed below an open directory, and every room's state; add the directories looked into to ``walked``.

    ``are_open`` says of many paths at once that none is closed. Names that are not UTF-8 are told as ``os.fsdecode`` does.
    Links are left out, as what they lead to is told by its own name; environments are not looked into; directories that
    cannot be are closed. Raises HiddenMoved where a directory is not there any more once it is its turn: it may lie where
    this walk has been already.
    """
    pending = [FoundPath.of(ROOT, os.stat(root))]
    while pending:
        here = pending.pop()
        try:
            opened = open_beneath(root, here.path)
        except OSError as error:
            if error.errno in _GONE:
                raise HiddenMoved from None
            yield here
            continue
        try:
            if FoundPath.of(here.path, os.stat(opened)) != here:
                raise HiddenMoved
            walked.append(here)
            kinds = dict(_kinds(opened))
            closed = _closed(here.path, kinds, are_open, is_closed)
            if len(closed) == len(kinds) >= MANY and here.path != ROOT:
                yield here
                continue
            for name, is_directory in kinds.items():
                if name.startswith(TEMPORARY_PREFIX):
                    yield FoundPath(join_path(here.path, name), is_directory, 0, 0)
                elif name in closed:
                    yield _looked_at(opened, here.path, name, is_directory)
                elif is_directory and not is_environment(opened, name):
                    pending.append(_looked_at(opened, here.path, name, is_directory))
        finally:
            os.close(opened)


def _looked_at(opened: int, directory: str, name: str, is_directory: bool) -> FoundPath:
    try:
        status = os.stat(name, dir_fd=opened, follow_symlinks=False)
    except FileNotFoundError:
        raise HiddenMoved from None
    if stat.S_ISDIR(status.st_mode) != is_directory or stat.S_ISLNK(status.st_mode):
        raise HiddenMoved
    return FoundPath.of(join_path(directory, name), status)


def _closed(directory: str, kinds: dict[str, bool], are_open: AreOpen, is_closed: IsClosed) -> set[str]:
    """Return the names in a directory that are closed."""
    closed = {name for name in kinds if is_state(name)} if may_be_state("/".join(kinds)) else set()
    if len(os.fsencode(directory)) > _DEEPEST:
        closed |= {name for name, is_directory in kinds.items() if is_directory}
    above = join_path(directory, "")
    if not are_open([f"{above}{name}" for name in kinds]):
        closed |= {name for name in kinds if name not in closed and is_closed(f"{above}{name}")}
    return closed


def _kinds(here: int) -> Iterator[tuple[str, bool]]:
    with os.scandir(here) as entries:
        for entry in entries:
            if not entry.is_symlink():
                yield entry.name, entry.is_dir(follow_symlinks=False)
