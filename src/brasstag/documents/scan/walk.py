"""Walk over every file and link that may be a document, in the order of their paths.

Directories are opened by canonical path, never through a link; control files, environments, hidden and ignored paths are not
met. What cannot be a document is reported as a scan problem, and the walk goes on.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from brasstag.documents.scan.ignore import IGNORE_FILE, Ignoring, Layers
from brasstag.sandbox.workspace.control import ControlGuard
from brasstag.sandbox.workspace.errors import shown, tool_error
from brasstag.sandbox.workspace.paths import ROOT, ancestors, join_path, split_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.store.documents.findings import fingerprint_of
from brasstag.words.errors import Code, ToolError

Hidden = Callable[[Sequence[str]], Set[str]]
"""Returns those of many paths that rules hide; it is not asked about paths below a hidden directory."""

YOUNG_NANOSECONDS = 50_000_000
"""A file that changed this shortly before it was looked at may change again while its times stay the same."""

LOOK_AGAIN = "?"
"""The beginning of the fingerprint of a file that has to be read again, as its times may not show a change."""

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class FileStat(NamedTuple):
    """A file or link on disk, without its content."""

    path: str
    is_link: bool
    size: int
    mode: int
    """Permission bits."""
    fingerprint: str


class ScanProblem(NamedTuple):
    """Why something is no document, or is not looked at now."""

    path: str
    """As messages show it."""
    code: Code
    reason: str


Told = Callable[[ScanProblem], None]

_Entry = FileStat | tuple[str, Layers | None]
"""A file or link, or a directory and what is ignored in the one above it."""


def hides_nothing(_: Sequence[str]) -> Set[str]:
    """Hide nothing."""
    return frozenset()


class Walk:
    """One walk, or several, of one scan."""

    def __init__(self, workspace: Workspace, ignoring: Ignoring, hidden: Hidden, told: Told) -> None:
        self.ignoring = ignoring
        self.closed: list[str] = []
        """Directories that could not be read: what is in them is not known."""
        self._workspace = workspace
        self._hidden = hidden
        self._guard = ControlGuard(workspace.control)
        self._told = told

    def below(self, path: str) -> Iterator[FileStat]:
        """Yield every file and link in a directory and below it, in the order of their paths."""
        layers = self.ignoring.of(split_path(path)[0]) if path != ROOT else None
        start: list[_Entry] = [(path, layers)]
        pending = [iter(start)]
        while pending:
            entry = next(pending[-1], None)
            if entry is None:
                pending.pop()
            elif isinstance(entry, FileStat):
                yield entry
            else:
                pending.append(self._entries(*entry))

    def is_out_of_reach(self, path: str) -> bool:
        """Say whether a path is a control file, or hidden, or lies in something that is."""
        return self._workspace.control.covers(path) or bool(self._hidden([*ancestors(path), path]))

    def look(self, path: str) -> FileStat | None:
        """Return the file or link at a path; None where there is nothing, or something else.

        Raises ToolError for control files, OSError where the path cannot be looked at.
        """
        parent, name = split_path(path)
        try:
            with self._workspace.directory(parent) as directory:
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except OSError as error:
            if error.errno in _GONE:
                return None
            raise
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)) or self._guard.covers(status):
            return None
        return _stat_of(path, status)

    def is_directory(self, path: str) -> bool:
        """Say whether a path leads to a directory that may be walked."""
        try:
            os.close(self._workspace.open_directory(path))
        except (OSError, ToolError):
            return False
        return True

    def _entries(self, path: str, above: Layers | None) -> Iterator[_Entry]:
        try:
            with self._workspace.directory(path, READ_DIRECTORY) as directory:
                return iter(self._listed(directory, path, above))
        except ToolError:
            # An environment.
            return iter(())
        except OSError as error:
            if error.errno not in _GONE:
                self.closed.append(path)
                self._tell(tool_error(error, path))
            return iter(())

    def _listed(self, directory: int, path: str, above: Layers | None) -> list[_Entry]:
        with os.scandir(directory) as found:
            entries = {entry.name: entry for entry in found}
            self._drop_unnameable(path, entries)
            self._drop_out_of_reach(path, entries)
            known = self.ignoring.inside(directory, path, above) if IGNORE_FILE in entries else above
            layers = known or self.ignoring.inside(directory, path, None)
            prefix = "" if path == ROOT else f"{path}/"
            listed: list[tuple[str, _Entry]] = []
            for name, entry in entries.items():
                place = prefix + name
                is_directory = entry.is_dir(follow_symlinks=False)
                if layers and layers.ignores(place, is_directory=is_directory):
                    continue
                if is_directory:
                    # What lies below it has a slash next: that is where it stands in the order.
                    listed.append((f"{name}/", (place, layers)))
                elif file := self._file_stat(place, entry):
                    listed.append((name, file))
        listed.sort(key=_first)
        return [entry for _, entry in listed]

    def _file_stat(self, path: str, entry: "os.DirEntry[str]") -> FileStat | None:
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._tell(tool_error(error, path))
            return None
        if stat.S_ISREG(status.st_mode):
            if status.st_nlink > 1 and self._guard.covers(status):
                return None
        elif not stat.S_ISLNK(status.st_mode):
            if not stat.S_ISDIR(status.st_mode):
                self._tell(ToolError(Code.NOT_A_FILE, f"{shown(path)} is a pipe, socket or device"), path)
            return None
        return _stat_of(path, status)

    def _drop_unnameable(self, path: str, entries: "dict[str, os.DirEntry[str]]") -> None:
        for name in [name for name in entries if not name.isascii() and not _is_text(name)]:
            del entries[name]
            place = join_path(path, name)
            self._tell(
                ToolError(
                    Code.INVALID_PATH,
                    f"{shown(place)} has a name that is not UTF-8; rename it to see it here",
                ),
                place,
            )

    def _drop_out_of_reach(self, path: str, entries: "dict[str, os.DirEntry[str]]") -> None:
        control = self._workspace.control
        names = list(entries)
        if control.may_cover(path, names):
            for name in names:
                if control.covers(join_path(path, name)):
                    del entries[name]
        prefix = "" if path == ROOT else f"{path}/"
        for place in self._hidden([prefix + name for name in entries]):
            entries.pop(place.removeprefix(prefix), None)

    def _tell(self, error: ToolError, path: str = "") -> None:
        self._told(ScanProblem(shown(path) or str(error.details.get("path", "")), error.code, error.message))


def _stat_of(path: str, status: os.stat_result) -> FileStat:
    mode = status.st_mode
    return FileStat(path, stat.S_ISLNK(mode), status.st_size, stat.S_IMODE(mode), fingerprint_of(status))


def kept_fingerprint(status: os.stat_result, looked_at: int) -> str:
    """Return the fingerprint to keep of a file that was read after a moment.

    A file that had changed shortly before that moment gets one that makes the next scan read it again.
    """
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    found = fingerprint_of(status)
    return LOOK_AGAIN + found if newest > looked_at - YOUNG_NANOSECONDS else found


def _first(pair: tuple[str, object]) -> str:
    return pair[0]


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
