"""Read what a job changed, from its layer or its copy, without following a link."""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from brasstag.sandbox.process.changes.baseline import BeganAt, BeganWith, Beginning
from brasstag.sandbox.process.changes.changes import (
    MOST_CHANGES,
    ChangeSet,
    Findings,
    PathChange,
    Refusal,
    special_bits,
    why_not_named,
)
from brasstag.sandbox.process.changes.copy import WorkspaceCopy, fingerprint
from brasstag.sandbox.process.changes.links import Links
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import ROOT, ancestors, join_path, split_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import Code, ToolError

_OPAQUE = "user.overlay.opaque"
_UNREAD = "it could not be read before the code ran, so its change cannot be found"
_HIDDEN = "it is hidden from code, so code may not move or change it"
_NEWER = "another program changed it while the code ran; run the code again"


def changes_in_upper(
    workspace: Workspace, upper: Path, since: int, covered: Collection[str] = ()
) -> ChangeSet:
    """Read an overlay's upper directory; at ``covered`` paths the code found something else, which it could not change."""
    return _UpperReader(workspace, upper, since, covered).read()


def changes_in_copy(
    workspace: Workspace, copy: Path, before: WorkspaceCopy, covered: Collection[str] = ()
) -> ChangeSet:
    """Compare a copy of the workspace with what it was when it was made; ``covered`` is as above."""
    return _CopyReader(workspace, copy, before, covered).read()


class _DirectoryWalk(ABC):
    """A walk through a directory to which no process writes any more."""

    def __init__(
        self, workspace: Workspace, root: Path, beginning: Beginning, covered: Collection[str]
    ) -> None:
        self.workspace = workspace
        self._beginning = beginning
        self.covered = covered
        """Where the code found something else: what was there may be gone, and the cover's own place be left."""
        self.found = Findings(workspace.control.covers)
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
        self._sort_out()
        entries = tuple(found.entries)

        def newer() -> Iterator[Refusal]:
            for path in self._beginning.newer(entries):
                yield Refusal(shown(path), _NEWER, Code.CHANGED)

        return ChangeSet(entries, tuple(found.refusals), self._place, tuple(found.notes), newer)

    def _sort_out(self) -> None:
        """Take out what cannot land for what it leads to, or for what others have done."""
        changed = self.found.entries
        if len(changed) > MOST_CHANGES:
            said = (
                f"it is one of {len(changed)} paths the code changed; {MOST_CHANGES} is the most for one run"
            )
            self.found.refuse(changed[MOST_CHANGES].path, said, Code.TOO_LARGE)
            changed.clear()
        out: set[str] = set()
        for path, reason in Links(self.workspace, self.found.entries, self.found.targets).refused():
            self.found.refuse(path, reason)
            out.add(path)
        for path in self._beginning.newer(self.found.entries):
            self.found.refuse(path, _NEWER, Code.CHANGED)
            out |= {path, *ancestors(path)}
        self.found.take_out(out)

    @abstractmethod
    def level(self, directory: str) -> list[str]:
        """Read one directory; return those in it that are to be read as well."""

    @abstractmethod
    def finish(self) -> None:
        """Do what can be done only at the end."""

    def names(self, directory: str) -> Iterator[tuple[str, os.stat_result]]:
        """Yield path and status of all that is in a directory."""
        handle = self._open(directory)
        try:
            for name in sorted(os.listdir(handle)):
                yield join_path(directory, name), os.stat(name, dir_fd=handle, follow_symlinks=False)
        finally:
            os.close(handle)

    def is_named(self, path: str) -> bool:
        """Say whether tools can name a path; one they cannot refuses the set."""
        reason = why_not_named(path)
        if reason:
            self.found.refuse(path, reason)
        return reason is None

    def content(self, path: str, status: os.stat_result, mode: int, beneath: os.stat_result | None) -> None:
        """Note what is no directory."""
        if beneath is not None and stat.S_ISDIR(beneath.st_mode):
            self.found.add(PathChange(path, "gone"))
        if stat.S_ISLNK(status.st_mode):
            self.found.link(path, os.readlink(path, dir_fd=self._root))
        else:
            self.found.file(path, status, mode, beneath)

    def has_mark(self, directory: str, mark: str) -> bool:
        handle = self._open(directory)
        try:
            return os.getxattr(handle, mark) == b"y"
        except OSError:
            return False
        finally:
            os.close(handle)

    def inherited_bits(self, path: str) -> int:
        """Return the bits that the system gives a new directory from its parent, without a call that sets them."""
        parent, _ = split_path(path)
        return os.stat(parent, dir_fd=self._root, follow_symlinks=False).st_mode & stat.S_ISGID

    def _open(self, directory: str) -> int:
        # The code may have removed read rights from its own directories. It has ended, so we may set them.
        with suppress(PermissionError):
            return os.open(directory, READ_DIRECTORY, dir_fd=self._root)
        os.chmod(directory, 0o700, dir_fd=self._root)
        return os.open(directory, READ_DIRECTORY, dir_fd=self._root)


class _UpperReader(_DirectoryWalk):
    def __init__(self, workspace: Workspace, upper: Path, since: int, covered: Collection[str]) -> None:
        super().__init__(workspace, upper, BeganAt(workspace, since), covered)
        self._fresh: set[str] = set()

    def level(self, directory: str) -> list[str]:
        below: list[str] = []
        is_fresh = directory in self._fresh
        for path, status in self.names(directory):
            if path in self.covered or not self.is_named(path):
                continue
            beneath = None if is_fresh else self._beneath(path)
            if _is_whiteout(status):
                if beneath is not None:
                    self.found.add(PathChange(path, "gone"))
            elif stat.S_ISDIR(status.st_mode):
                self._directory(path, status, beneath)
                below.append(path)
            else:
                self.content(path, status, stat.S_IMODE(status.st_mode), beneath)
        return below

    def _directory(self, path: str, status: os.stat_result, beneath: os.stat_result | None) -> None:
        mode = stat.S_IMODE(status.st_mode)
        if beneath is not None and stat.S_ISDIR(beneath.st_mode) and not self.has_mark(path, _OPAQUE):
            if mode != stat.S_IMODE(beneath.st_mode):
                self.found.directory(path, mode, kept_bits=special_bits(beneath))
            return
        self._fresh.add(path)
        if beneath is not None:
            self.found.add(PathChange(path, "gone"))
        self.found.directory(path, mode, kept_bits=self.inherited_bits(path))

    def _beneath(self, path: str) -> os.stat_result | None:
        parent, name = split_path(path)
        try:
            with self.workspace.directory(parent) as directory:
                return os.stat(name, dir_fd=directory, follow_symlinks=False)
        except (OSError, ToolError):
            return None

    def finish(self) -> None:
        """Nothing: what is gone has a mark of its own here."""


class _CopyReader(_DirectoryWalk):
    def __init__(
        self, workspace: Workspace, copy: Path, before: WorkspaceCopy, covered: Collection[str]
    ) -> None:
        super().__init__(workspace, copy, BeganWith(workspace, before), covered)
        self._before = before
        self._left = dict(before.prints)
        self._replaced: set[str] = set()

    def level(self, directory: str) -> list[str]:
        below: list[str] = []
        for path, status in self.names(directory):
            if path in self.covered:
                continue
            known = self._left.pop(path, None)
            is_same = known is not None and fingerprint(status) == known
            if path in self._before.unread or path in self._before.hidden:
                if not is_same:
                    self.found.refuse(path, _HIDDEN if path in self._before.hidden else _UNREAD)
                continue
            if not is_same and not self.is_named(path):
                continue
            if not is_same:
                self._changed(path, status)
            if stat.S_ISDIR(status.st_mode):
                below.append(path)
        return below

    def _changed(self, path: str, status: os.stat_result) -> None:
        beneath, known = self._before.originals.get(path), self._before.prints.get(path)
        mode = stat.S_IMODE(status.st_mode)
        if beneath is not None and known is not None and mode == known.mode:
            # The copy has another owner, so it had to have another mode. The code did not change that mode.
            mode = stat.S_IMODE(beneath.st_mode)
        if not stat.S_ISDIR(status.st_mode):
            self._replaced.add(path)
            self.content(path, status, mode, beneath)
        elif beneath is None:
            self.found.directory(path, mode, kept_bits=self.inherited_bits(path))
        elif stat.S_ISDIR(beneath.st_mode):
            self.found.directory(path, mode, kept_bits=special_bits(beneath))
        else:
            self.found.add(PathChange(path, "gone"))
            self.found.directory(path, mode, kept_bits=self.inherited_bits(path))

    def finish(self) -> None:
        for path in sorted(self._left):
            parent, _ = split_path(path)
            if path in self._before.hidden:
                self.found.refuse(path, _HIDDEN)
                continue
            # With what it lay in, or nothing of the code's.
            is_told = parent in self._left or parent in self._replaced
            if not (is_told or path in self.covered or path in self._before.placeholders) and self.is_named(
                path
            ):
                self.found.add(PathChange(path, "gone"))


def _is_whiteout(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0
