"""Links in a change set: where each would lead in the workspace."""

from collections.abc import Iterator, Mapping, Sequence

from brasstag.sandbox.process.changes.changes import PathChange, why_not_named
from brasstag.sandbox.workspace.links import OUT, climbing_links, why_not
from brasstag.sandbox.workspace.paths import ancestors
from brasstag.sandbox.workspace.view.reader import Reader
from brasstag.sandbox.workspace.workspace import Workspace

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
            reason = why_not(self._workspace, path, self._then)
            if reason:
                yield path, reason
        for path in climbing_links(self._workspace, self._is_no_standing_link) if self._targets else ():
            led_out = why_not(self._workspace, path, self._now) is not None
            if not led_out and why_not(self._workspace, path, self._then) == OUT:
                yield path, _STANDING

    def _is_no_standing_link(self, path: str) -> bool:
        return path in self._after or why_not_named(path) is not None

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
