"""Look once more, when the leases are held, whether the disk is still as a list of changes found it.

Other calls may have settled between the look and the leases. From the leases on none can, so what this finds holds until
the changes are made, unless another program interferes.
"""

from collections.abc import Iterator, Mapping, Sequence

from brasstag.sandbox.workspace.change.closed_directories import opened
from brasstag.sandbox.workspace.paths import join_path, split_path
from brasstag.sandbox.workspace.view.reader import Reader
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import ToolError
from brasstag.words.previews import DIRECTORY, Change


class Recheck:
    """Compares the disk with what a list of changes expects of it."""

    def __init__(self, workspace: Workspace, changes: Sequence[Change]) -> None:
        self._workspace = workspace
        self._reader = Reader(workspace)
        self._changes = changes

    def __call__(self, doubtful: Mapping[str, str]) -> str | None:
        """Return a path that is not as the changes expect it, or None.

        Files are read only where they are ``doubtful``: where the store knows another state as the newest.
        """
        return next(self._outdated(doubtful), None)

    def _outdated(self, doubtful: Mapping[str, str]) -> Iterator[str]:
        for path, state in doubtful.items():
            if not self._reader.holds(path, state):
                yield path
        for parent in self._parents():
            if not self._is_directory(parent):
                yield parent
        for change in self._changes:
            if change.before != DIRECTORY:
                continue
            if change.after != DIRECTORY:
                yield from self._come_since(change.path)
            elif self._reader.held(change.path).mode not in (change.before_mode, opened(change.mode)):
                yield change.path

    def _parents(self) -> dict[str, None]:
        """Return the directories that have to be there: those that the changes work in, and do not make themselves."""
        made = {change.path for change in self._changes if change.after == DIRECTORY != change.before}
        parents = dict.fromkeys(split_path(path)[0] for change in self._changes for path in change.paths)
        return {parent: None for parent in parents if parent not in made}

    def _is_directory(self, path: str) -> bool:
        try:
            with self._workspace.directory(path):
                return True
        except (OSError, ToolError):
            return False

    def _come_since(self, directory: str) -> Iterator[str]:
        """Yield what a directory that is to go holds and the changes do not know of."""
        known = {path for change in self._changes for path in change.paths}
        inside = (join_path(directory, name) for name in self._reader.kinds(directory).children)
        yield from (path for path in inside if path not in known)
