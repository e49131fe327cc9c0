"""Links in a change set: where each would lead in the workspace."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from brasstag.sandbox.process.changes.changes import PathChange, climbs_late, why_not_named
from brasstag.sandbox.workspace.paths import ROOT, Circle, ancestors, join_path, splice
from brasstag.sandbox.workspace.view.reader import Reader
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import SecurityError, ToolError

_OUT = "it is a link out of the workspace, through another link"
_CONTROL = "it is a link to a control file, through another link"
_STANDING = "it would lead out of the workspace through a link the code has made; make that one otherwise"


class Links:
    """The links of a change set, and those it finds in the workspace."""

    def __init__(
        self, workspace: Workspace, entries: Sequence[PathChange], targets: Mapping[str, str]
    ) -> None:
        self._workspace = workspace
        self._targets = targets
        self._after = {entry.path: None if entry.kind != "link" else targets[entry.path] for entry in entries}
        self._gone = {entry.path for entry in entries if entry.kind == "gone"}
        self._reader = Reader(workspace)
        self._known: dict[str, str | None] = {}

    def refused(self) -> Iterator[tuple[str, str]]:
        """Yield each link for which the set cannot land, with the reason."""
        for path in self._targets:
            reason = self._why_not(path, self._then)
            if reason:
                yield path, reason
        for path in self._climbing() if self._targets else ():
            if self._why_not(path, self._then) == _OUT and self._why_not(path, self._now) is None:
                yield path, _STANDING

    def _why_not(self, path: str, link_at: Callable[[str], str | None]) -> str | None:
        try:
            splice(path, link_at, self._workspace.control.refuse, follow_last=True)
        except Circle:
            # It leads nowhere, for every program.
            return None
        except SecurityError:
            return _OUT
        except ToolError:
            return _CONTROL
        return None

    def _now(self, path: str) -> str | None:
        if path not in self._known:
            self._known[path] = self._reader.link_at(path)
        return self._known[path]

    def _then(self, path: str) -> str | None:
        if path in self._after:
            return self._after[path]
        return None if self._is_gone(path) else self._now(path)

    def _is_gone(self, path: str) -> bool:
        return not self._gone.isdisjoint(ancestors(path))

    def _climbing(self) -> list[str]:
        """Find the links of others that go up behind a name: where they lead depends on what that name is."""
        found: list[str] = []
        pending = [ROOT]
        while pending:
            place = pending.pop()
            with (
                # A directory that cannot be read cannot lead the code anywhere.
                suppress(OSError, ToolError),
                self._workspace.directory(place, READ_DIRECTORY) as directory,
                os.scandir(directory) as entries,
            ):
                for entry in entries:
                    path = join_path(place, entry.name)
                    if path in self._after or why_not_named(path) or self._workspace.control.covers(path):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(path)
                    elif entry.is_symlink() and climbs_late(os.readlink(entry.name, dir_fd=directory)):
                        found.append(path)
        return sorted(found)
