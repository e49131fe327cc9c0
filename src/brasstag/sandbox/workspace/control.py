"""Control files: tools can neither see nor change them, whatever a rule says.

At any depth, in any case: ``.git``, ``.brasstag``, ``brasstag.toml``, environments (``.venv``, ``venv``, ``.tox``,
``.nox``, ``pyvenv.cfg`` and every directory that holds one) and Brasstag's own temporary names. Also the project's
``tools/`` and ``wires.py``, and whatever else the room protects. A hard link to one of the project's own is one too.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import ROOT
from brasstag.words.errors import Code, ToolError

ENVIRONMENT_MARK = "pyvenv.cfg"
TEMPORARY_PREFIX = ".brasstag-"

_NAME = re.compile(
    r"(?:\A|/)(?:\.git|\.brasstag(?:-[^/]*)?|brasstag\.toml|pyvenv\.cfg|\.?venv|\.tox|\.nox)(?:/|\Z)"
)
# Some file systems skip these when they compare names, so `.g<U+200C>it` would open `.git`.
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_STATE = re.compile(r"\.brasstag(?:-.*)?|brasstag\.toml", re.DOTALL)
_STRIDE = 32
_MARKS = tuple("../" * up + ENVIRONMENT_MARK for up in range(_STRIDE))
_OF_A_PROJECT = ("brasstag.toml", "wires.py", "tools", ".brasstag", ".git")
_OWN = ("wires.py", "tools")
"""Names that are control files only beside ``brasstag.toml``."""


class ControlFiles:
    """Which canonical paths of one workspace are control files."""

    def __init__(self, project: Path, workspace: Path, protected: Sequence[Path] = ()) -> None:
        self._hosts = [project / name for name in _OF_A_PROJECT]
        self._hosts += [workspace / name for name in _OF_A_PROJECT if name not in _OWN]
        self._hosts += protected
        # A control file may be a link: both its name and what it leads to are protected.
        inside = [_below(workspace, path) for path in (*(project / name for name in _OWN), *protected)]
        inside += [_below(workspace.resolve(), path.resolve()) for path in self._hosts]
        self._places = frozenset(_folded(place) for place in inside if place)
        self._below_places = tuple(f"{place}/" for place in self._places)
        self._above_places = frozenset(place.rpartition("/")[0] or ROOT for place in self._places)

    def covers(self, path: str) -> bool:
        """Say whether a canonical path is a control file or lies in one, by its name alone."""
        folded = _folded(path)
        if _NAME.search(folded):
            return True
        return folded in self._places or folded.startswith(self._below_places)

    def may_cover(self, directory: str, names: Sequence[str]) -> bool:
        """Say whether any name in a directory may be a control file: many are asked about as fast as one."""
        folded = _folded(directory)
        return (
            folded in self._above_places
            or self.covers(directory)
            or bool(_NAME.search(_folded("/".join(names))))
        )

    def refuse(self, path: str) -> None:
        """Raise if a path is a control file; the words are the same whether it exists or not."""
        if self.covers(path):
            raise control_error(path)

    def linked(self) -> frozenset[tuple[int, int]]:
        """Return device and inode of every control file of the project that has a second name somewhere."""
        found = (_identity(status) for path in self._hosts for status in _files_at(path))
        return frozenset(found)


class ControlGuard:
    """One call's memory of which inodes are control files; the walk is made once, and only when it is needed."""

    def __init__(self, control: ControlFiles) -> None:
        self._control = control
        self._linked: frozenset[tuple[int, int]] | None = None

    def covers(self, status: os.stat_result) -> bool:
        """Say whether an open or listed file is a control file under another name."""
        if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
            return False
        if self._linked is None:
            self._linked = self._control.linked()
        return _identity(status) in self._linked


def is_state(name: str) -> bool:
    """Say whether a name, in any directory, belongs to a room's state and rules, which only Brasstag has to read."""
    return _STATE.fullmatch(_folded(name)) is not None


def may_be_state(names: str) -> bool:
    """Say whether any of many names in one text may be of a room's state: that is asked faster than of each."""
    return not names.isascii() or "brasstag" in names.lower()


def is_environment(directory: int, name: str) -> bool:
    """Say whether a directory in an open one is an environment."""
    return os.access(f"{name}/{ENVIRONMENT_MARK}", os.F_OK, dir_fd=directory)


def control_error(path: str) -> ToolError:
    """Return the one answer there is to every use of a control file."""
    return ToolError(
        Code.CONTROL_FILE,
        f"{shown(path)} is a control file or leads to one; tools can neither see nor change those. "
        "Use another path, or ask a person to do it.",
    )


def in_environment(directory: int, depth: int) -> bool:
    """Say whether an open directory, ``depth`` names below the workspace, is an environment or lies in one.

    Asked of the descriptor and upwards from there, so that no swap of names between question and use matters. The
    workspace itself is never one: some people make an environment of their project's root.
    """
    marks = _MARKS[: min(depth, _STRIDE)]
    if any(os.access(mark, os.F_OK, dir_fd=directory) for mark in marks):
        return True
    if depth <= _STRIDE:
        return False
    # One long `../../…` for every level would make a deep tree cost the cube of its depth.
    above = os.open("../" * _STRIDE, syscalls.PIN, dir_fd=directory)
    try:
        return in_environment(above, depth - _STRIDE)
    finally:
        os.close(above)


def _folded(path: str) -> str:
    if path.isascii():
        return path.lower()
    return _IGNORED.sub("", unicodedata.normalize("NFKC", path)).casefold()


def _below(workspace: Path, path: Path) -> str | None:
    try:
        place = path.absolute().relative_to(workspace.absolute()).as_posix()
    except ValueError:
        return None
    return None if place == ROOT else place


def _files_at(path: Path) -> Iterator[os.stat_result]:
    """Return the status of every file with more than one name at or below a path of the host."""
    try:
        status = path.lstat()
    except OSError:
        return
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        yield status
    pending = [str(path)] if stat.S_ISDIR(status.st_mode) else []
    while pending:
        place = pending.pop()
        with suppress(OSError), os.scandir(place) as entries:
            # What is gone by now, or not ours to look at, no tool of ours can open either.
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending += [] if _is_object_store(place, entry.name) else [entry.path]
                elif (status := entry.stat(follow_symlinks=False)).st_nlink > 1:
                    yield status


def _is_object_store(directory: str, name: str) -> bool:
    # Git objects are many, and are content that was in the workspace anyway.
    return name == "objects" and os.path.basename(directory) == ".git"


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
