"""What a run has changed, read from its layer without following a single link."""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brasstag.sandbox.process.copying import Copy, fingerprint
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import LONGEST_PATH, ROOT, join_path, split_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import Code, ToolError

_OPAQUE = "user.overlay.opaque"
_SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX


@dataclass(frozen=True, slots=True)
class Entry:
    """One path a run has left different from what it found."""

    path: str
    kind: Literal["file", "directory", "link", "gone"]
    mode: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """One path for which the whole set cannot land, and why."""

    path: str
    reason: str
    code: Code = Code.NOT_SUPPORTED


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Everything a run changed, parents before what is in them; it lands whole or not at all."""

    entries: tuple[Entry, ...]
    refusals: tuple[Refusal, ...]
    source: Path
    """The directory that holds the new bytes, by the same paths."""

    def __bool__(self) -> bool:
        return bool(self.entries or self.refusals)


def changes_in_upper(
    workspace: Workspace, upper: Path, since: int, covered: Collection[str] = ()
) -> ChangeSet:
    """Read an overlay's upper directory; at ``covered`` paths the code found something else, which it could not change."""
    return _UpperReader(workspace, upper, since, covered).read()


def changes_in_copy(
    workspace: Workspace, copy: Path, before: Copy, covered: Collection[str] = ()
) -> ChangeSet:
    """Compare a copy of the workspace with what it was when it was made; ``covered`` is as above."""
    return _CopyReader(workspace, copy, before, covered).read()


@dataclass
class _Found:
    is_control: Callable[[str], bool]
    entries: list[Entry] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    names: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        if self.is_control(entry.path):
            self.refuse(entry.path, "it is a control file, which no tool may change", Code.CONTROL_FILE)
        else:
            self.entries.append(entry)

    def refuse(self, path: str, reason: str, code: Code = Code.NOT_SUPPORTED) -> None:
        self.refusals.append(Refusal(shown(path), reason, code))


class _Walk(ABC):
    """A walk through a directory nobody writes to any more."""

    def __init__(self, workspace: Workspace, root: Path, covered: Collection[str]) -> None:
        self.workspace = workspace
        self._covered = covered
        self.found = _Found(workspace.control.covers)
        self._place = root
        self._root = -1

    def read(self) -> ChangeSet:
        self._root = os.open(self._place, READ_DIRECTORY)
        try:
            pending = [ROOT]
            while pending:
                pending += reversed(self.level(pending.pop()))
            self.finish()
        finally:
            os.close(self._root)
        found = self.found
        return ChangeSet(tuple(found.entries), tuple(found.refusals), self._place)

    @abstractmethod
    def level(self, directory: str) -> list[str]:
        """Read one directory; return those in it that are to be read as well."""

    @abstractmethod
    def finish(self) -> None:
        """Do what can be done only at the end."""

    def names(self, directory: str) -> Iterator[tuple[str, str, os.stat_result]]:
        """Yield path, name and status of all that is in a directory and can be named."""
        handle = self._open(directory)
        try:
            for name in sorted(os.listdir(handle)):
                path = join_path(directory, name)
                status = os.stat(name, dir_fd=handle, follow_symlinks=False)
                reason = _why_not_named(path)
                if reason:
                    self.found.refuse(path, reason)
                else:
                    yield path, name, status
        finally:
            os.close(handle)

    def is_covered(self, path: str) -> bool:
        """Say whether the code found something else here; what was there may be gone, and the cover's own place be left."""
        return path in self._covered

    def content(self, path: str, status: os.stat_result) -> None:
        """Note a file, a link, or something that is neither."""
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            self._link(path, status)
        elif not stat.S_ISREG(status.st_mode):
            self.found.refuse(path, "it is a pipe, a socket or a device, which no tool may make; remove it")
        elif mode & _SPECIAL_BITS:
            self.found.refuse(path, "it has the setuid, setgid or sticky bit, which no tool may set")
        else:
            if status.st_nlink > 1:
                self._refuse_twin(path, status)
            self.found.add(Entry(path, "file", mode, status.st_size))

    def _link(self, path: str, status: os.stat_result) -> None:
        target = os.readlink(path, dir_fd=self._root)
        reason = why_no_link(path, target, self.found.is_control)
        if reason:
            self.found.refuse(path, reason)
        else:
            self.found.add(Entry(path, "link", 0, status.st_size))

    def has_mark(self, directory: str, mark: str) -> bool:
        handle = self._open(directory)
        try:
            return os.getxattr(handle, mark) == b"y"
        except OSError:
            return False
        finally:
            os.close(handle)

    def _refuse_twin(self, path: str, status: os.stat_result) -> None:
        twin = self.found.names.setdefault((status.st_dev, status.st_ino), path)
        if twin != path:
            self.found.refuse(path, f"it is one file with {shown(twin)} (a hard link); make a copy instead")

    def _open(self, directory: str) -> int:
        # Read rights the code took from its own directories are nothing to us: it has ended.
        with suppress(PermissionError):
            return os.open(directory, READ_DIRECTORY, dir_fd=self._root)
        os.chmod(directory, 0o700, dir_fd=self._root)
        return os.open(directory, READ_DIRECTORY, dir_fd=self._root)


class _UpperReader(_Walk):
    def __init__(self, workspace: Workspace, upper: Path, since: int, covered: Collection[str]) -> None:
        super().__init__(workspace, upper, covered)
        self._since = since
        self._fresh: set[str] = set()

    def level(self, directory: str) -> list[str]:
        below: list[str] = []
        is_fresh = directory in self._fresh
        for path, _name, status in self.names(directory):
            if self.is_covered(path):
                continue
            beneath = None if is_fresh else self._beneath(path)
            if _is_whiteout(status):
                if beneath is not None:
                    self.found.add(Entry(path, "gone"))
            elif stat.S_ISDIR(status.st_mode):
                self._directory(path, status, beneath)
                below.append(path)
            else:
                if beneath is not None and stat.S_ISDIR(beneath.st_mode):
                    self.found.add(Entry(path, "gone"))
                self.content(path, status)
        return below

    def _directory(self, path: str, status: os.stat_result, beneath: os.stat_result | None) -> None:
        mode = stat.S_IMODE(status.st_mode)
        is_merged = beneath is not None and stat.S_ISDIR(beneath.st_mode) and not self.has_mark(path, _OPAQUE)
        if is_merged and beneath is not None and mode == stat.S_IMODE(beneath.st_mode):
            return
        if mode & _SPECIAL_BITS:
            self.found.refuse(path, "it has the setuid, setgid or sticky bit, which no tool may set")
        if not is_merged:
            self._fresh.add(path)
            if beneath is not None:
                self.found.add(Entry(path, "gone"))
        self.found.add(Entry(path, "directory", mode))

    def _beneath(self, path: str) -> os.stat_result | None:
        parent, name = split_path(path)
        try:
            with self.workspace.directory(parent) as directory:
                status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except (OSError, ToolError):
            return None
        if not stat.S_ISDIR(status.st_mode) and status.st_ctime_ns > self._since:
            self.found.refuse(
                path, "somebody else changed it while the code ran; run the code again", Code.CHANGED
            )
        return status

    def finish(self) -> None:
        """Nothing: what is gone has a mark of its own here."""


class _CopyReader(_Walk):
    def __init__(self, workspace: Workspace, copy: Path, before: Copy, covered: Collection[str]) -> None:
        super().__init__(workspace, copy, covered)
        self._before = before
        self._left = dict(before.prints)

    def level(self, directory: str) -> list[str]:
        below: list[str] = []
        for path, _name, status in self.names(directory):
            known = self._left.pop(path, None)
            if self.is_covered(path):
                continue
            if stat.S_ISDIR(status.st_mode):
                below.append(path)
                mode = stat.S_IMODE(status.st_mode)
                if known is None or not known.is_directory or known.mode != mode:
                    if known is not None and not known.is_directory:
                        self.found.add(Entry(path, "gone"))
                    self.found.add(Entry(path, "directory", mode))
            elif known is None or fingerprint(status) != known:
                if known is not None and known.is_directory:
                    self.found.add(Entry(path, "gone"))
                self.content(path, status)
        return below

    def finish(self) -> None:
        gone = sorted(self._left)
        for path in gone:
            if path not in self._before.placeholders and split_path(path)[0] not in self._left:
                self.found.add(Entry(path, "gone"))


def why_no_link(path: str, target: str, is_control: Callable[[str], bool]) -> str | None:
    """Say why a link may not land: where it leads on this machine is not where it led inside."""
    if target.startswith("/"):
        return "it is a link to an absolute path; make it relative"
    place = os.path.normpath(os.path.join(os.path.dirname(path), target))
    if place == ".." or place.startswith("../"):
        return "it is a link out of the workspace"
    if _why_not_named(place):
        return "it is a link to a name that is not UTF-8"
    return "it is a link to a control file" if is_control(place) else None


def _is_whiteout(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _why_not_named(path: str) -> str | None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "its name is not UTF-8; give it another"
    return (
        None if size <= LONGEST_PATH else f"its path is longer than {LONGEST_PATH} bytes; use shorter names"
    )
