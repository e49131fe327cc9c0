"""Ignore rules: which files of a workspace are not documents, by ignore files and settings.

As with git, the nearest file that speaks of a name decides, its last line first, and nothing below a directory that is
ignored is looked at. What the settings say comes before every file.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from typing import Any

from brasstag.sandbox.workspace.paths import ROOT, split_path
from brasstag.sandbox.workspace.view.reader import READ_FILE
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import ToolError

IGNORE_FILE = ".gitignore"
LARGEST_FILE = 1_000_000
"""Bytes of the largest ignore file; a larger file is not read as one."""

_DIRECTORY = "(?P<ps_d>/)"
_EITHER = f"(?:{_DIRECTORY}|$)"
"""How the library's expressions end that match directories only, or directories and files."""


class Patterns:
    """The lines of one ignore file.

    The library says what each line means, but it applies a line to everything below a path, too. Here, as in git, a
    line applies only to the path that it matches, and a walk does not enter an ignored directory.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        import re2  # noqa: PLC0415 - only a scan needs them
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415

        self._said: list[tuple[bool, bool]] = []
        self._set: Any = re2.Set.SearchSet()
        for line in lines:
            try:
                pattern = GitIgnoreSpecPattern(f"{line}*/" if line.endswith("/**/") else line)
            except ValueError:
                # Git, too, skips a line that is not a pattern.
                continue
            if pattern.include is not None and pattern.regex is not None:
                regex = pattern.regex.pattern
                is_for_directories = regex.endswith(_DIRECTORY)
                self._set.Add(
                    regex.removesuffix(_EITHER).removesuffix(_DIRECTORY)
                    + ("$" if _DIRECTORY in regex else "")
                )
                self._said.append((pattern.include, is_for_directories))
        self._set.Compile()

    def ignore(self, path: str, *, is_directory: bool) -> bool | None:
        """Say whether these lines ignore a path, or, by a later line, do not; None where no line matches it."""
        if not self._said:
            return None
        spoken = (
            number for number in self._set.Match(path) or () if is_directory or not self._said[number][1]
        )
        last = max(spoken, default=None)
        return None if last is None else self._said[last][0]


class Layers:
    """The patterns that hold in one directory: those of the settings, then those of files, nearest first."""

    def __init__(self, settings: Patterns | None, files: Sequence[tuple[str, Patterns]] = ()) -> None:
        self._settings = settings
        self._files = tuple(files)
        first: list[tuple[str, Patterns]] = [] if settings is None else [("", settings)]
        self._all = (*first, *self._files)

    def __bool__(self) -> bool:
        """Whether anything could be ignored."""
        return bool(self._all)

    def ignores(self, path: str, *, is_directory: bool) -> bool:
        """Say whether a path is ignored; no directory above it is."""
        for above, patterns in self._all:
            said = patterns.ignore(path[len(above) :], is_directory=is_directory)
            if said is not None:
                return said
        return False

    def with_file(self, directory: str, data: bytes) -> "Layers":
        """Return what holds in a directory that has an ignore file of its own."""
        above = "" if directory == ROOT else f"{directory}/"
        return Layers(self._settings, ((above, Patterns(_lines(data))), *self._files))


class Ignoring:
    """The ignore rules of one workspace, read from its files as they are met."""

    def __init__(self, workspace: Workspace, settings: Sequence[str] = ()) -> None:
        self._workspace = workspace
        self._settings = Layers(Patterns(settings) if settings else None)
        self._known: dict[str, Layers | None] = {}

    def inside(self, directory: int, path: str, above: Layers | None = None) -> Layers:
        """Return what holds in an open directory, given what holds in the one above it."""
        data = _ignore_file(directory)
        layers = above or self._settings
        return layers if data is None else layers.with_file(path, data)

    def of(self, path: str) -> Layers | None:
        """Return what holds in a directory, by its path; None where the directory itself is ignored."""
        if path not in self._known:
            self._known[path] = self._found(path)
        return self._known[path]

    def ignores(self, path: str, *, is_directory: bool = False) -> bool:
        """Say whether a path is ignored, or lies in a directory that is."""
        if path == ROOT:
            return False
        layers = self.of(split_path(path)[0])
        return layers is None or layers.ignores(path, is_directory=is_directory)

    def _found(self, path: str) -> Layers | None:
        above = self._settings
        if path != ROOT:
            holds = self.of(split_path(path)[0])
            if holds is None or holds.ignores(path, is_directory=True):
                return None
            above = holds
        try:
            with self._workspace.directory(path) as directory:
                return self.inside(directory, path, above)
        except (OSError, ToolError):
            # It is gone, or not a directory of the workspace: the caller that opens it finds out.
            return above


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8-sig", "replace")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _ignore_file(directory: int) -> bytes | None:
    """Return what the ignore file of an open directory says; a link is none, as with git."""
    try:
        descriptor = os.open(IGNORE_FILE, READ_FILE, dir_fd=directory)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            return None
        return os.read(descriptor, LARGEST_FILE)
    finally:
        os.close(descriptor)


def is_ignore_file(path: str) -> bool:
    """Say whether what a path holds decides about its neighbours."""
    return split_path(path)[1] == IGNORE_FILE
