"""What of the workspace is hidden from code, which can open any name there is."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence

from brasstag.sandbox.workspace.control import is_environment, is_state, may_be_state
from brasstag.sandbox.workspace.paths import ROOT, join_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY

MANY = 100
"""A directory of which all this many names are hidden is hidden whole."""

# In bytes; what lies further down could not be named to cover it.
_DEEPEST = 3000
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)

AreOpen = Callable[[Sequence[str]], bool]
IsClosed = Callable[[str], bool]


def hidden_in(root: int, are_open: AreOpen, is_closed: IsClosed) -> Iterator[tuple[str, bool]]:
    """Yield what is closed below an open directory, and every room's state, each with whether it is a directory.

    ``are_open`` says of many paths at once that none is closed. Names that are not UTF-8 are told as ``os.fsdecode`` does.
    Links are left out, as what they lead to is told by its own name; environments are not looked into; directories that
    cannot be are closed.
    """
    pending = [ROOT]
    while pending:
        directory = pending.pop()
        try:
            here = os.open(directory, READ_DIRECTORY, dir_fd=root)
        except OSError as error:
            if error.errno not in _GONE:
                yield directory, True
            continue
        try:
            kinds = dict(_kinds(here))
            closed = _closed(directory, kinds, are_open, is_closed)
            if len(closed) == len(kinds) >= MANY and directory != ROOT:
                yield directory, True
                continue
            for name, is_directory in kinds.items():
                if name in closed:
                    yield join_path(directory, name), is_directory
                elif is_directory and not is_environment(here, name):
                    pending.append(join_path(directory, name))
        finally:
            os.close(here)


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
