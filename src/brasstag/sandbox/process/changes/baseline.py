"""The workspace as it was when a job began: changes of others since then are never undone."""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from brasstag.sandbox.process.changes.changes import PathChange, why_not_named
from brasstag.sandbox.process.changes.copy import WorkspaceCopy
from brasstag.sandbox.workspace.paths import join_path, split_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import ToolError


class Beginning(ABC):
    """What is known of the workspace as it was before the code ran."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def newer(self, entries: Sequence[PathChange]) -> Iterator[str]:
        """Yield every path the entries would change, or remove with what it lies in, that others have changed since."""
        by_parent: dict[str, list[PathChange]] = {}
        for entry in entries:
            by_parent.setdefault(split_path(entry.path)[0], []).append(entry)
        for parent, here in by_parent.items():
            names = [split_path(entry.path)[1] for entry in here]
            for entry, status in zip(here, self._statuses(parent, names), strict=True):
                is_directory = status is not None and stat.S_ISDIR(status.st_mode)
                if is_directory and entry.kind == "gone":
                    yield from self._newer_in(entry.path, self.was(entry.path, status))
                elif is_directory and entry.kind == "directory":
                    yield from () if self.has_directory(entry.path) else (entry.path,)
                elif not self.was(entry.path, status):
                    yield entry.path

    @abstractmethod
    def was(self, path: str, status: os.stat_result | None) -> bool:
        """Say whether what is at a path now, or nothing, is what was there."""

    @abstractmethod
    def has_directory(self, path: str) -> bool:
        """Say whether a directory that stays was one; what others do in it is theirs."""

    def _newer_in(self, directory: str, was: bool) -> list[str]:
        """Return what is newer in a directory; one that others took something from is named where nothing else is."""
        found: list[str] = []
        directories = [] if was else [directory]
        pending = [directory]
        while pending:
            place = pending.pop()
            try:
                with self._workspace.directory(place, READ_DIRECTORY) as here:
                    names = os.listdir(here)
            except (OSError, ToolError):
                # What cannot be listed cannot be removed either, and that refuses the set.
                continue
            for name, status in zip(names, self._statuses(place, names), strict=True):
                path = join_path(place, name)
                is_directory = status is not None and stat.S_ISDIR(status.st_mode)
                if is_directory and not why_not_named(path):
                    pending.append(path)
                if not self.was(path, status):
                    (directories if is_directory else found).append(path)
        return sorted(found or directories)

    def _statuses(self, directory: str, names: Sequence[str]) -> list[os.stat_result | None]:
        try:
            with self._workspace.directory(directory) as here:
                return [_status(here, name) for name in names]
        except (OSError, ToolError):
            # No directory is there, or none tools may use; staging says which.
            return [None] * len(names)


class BeganAt(Beginning):
    """A run over a layer: what was changed after its first moment is newer."""

    def __init__(self, workspace: Workspace, moment: int) -> None:
        super().__init__(workspace)
        self._moment = moment

    def was(self, _path: str, status: os.stat_result | None) -> bool:
        """Tell by the time of the last change, which no program can set; a directory has it of what is put into it."""
        return status is None or status.st_ctime_ns <= self._moment

    def has_directory(self, _path: str) -> bool:
        """It is not known since when it is there."""
        return True


class BeganWith(Beginning):
    """A run on a copy: what is not what was copied is newer."""

    def __init__(self, workspace: Workspace, copy: WorkspaceCopy) -> None:
        super().__init__(workspace)
        self._originals = copy.originals

    def was(self, path: str, status: os.stat_result | None) -> bool:
        """Compare it with what was copied."""
        original = self._originals.get(path)
        if status is None or original is None:
            return status is original
        return _identity(status) == _identity(original)

    def has_directory(self, path: str) -> bool:
        """Say whether one was copied."""
        return path in self._originals and stat.S_ISDIR(self._originals[path].st_mode)


def _status(directory: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_ctime_ns
