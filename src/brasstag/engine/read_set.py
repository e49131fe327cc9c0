"""Read sets: the state of each path a task last saw, and which calls would replace something newer."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brasstag.sandbox.workspace.view.reader import Reader
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.versions import OUTSIDE, newest_versions
from brasstag.store.store import Store
from brasstag.words.events import Entry, EntryKind
from brasstag.words.previews import ABSENT, Change, Conflict, Preview, digest_in, file_state

MOST_REMEMBERED = 64
"""How many tasks are remembered at once; one that comes back after that is read anew."""

_CARRIES = frozenset({EntryKind.OPENED, EntryKind.RETURNED, EntryKind.ANSWERED, EntryKind.RESUMED})

States = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SeenState:
    """A path's state as a task last saw it, and when."""

    state: str
    at: str


@dataclass(slots=True)
class ReadSet:
    """What one task has seen; add its entries in order."""

    by_path: dict[str, SeenState] = field(default_factory=dict)
    """The state in which the task last saw each path; the path it saw last comes last."""
    told: dict[str, set[str]] = field(default_factory=dict)
    """What the task was told others have made of a path since it saw it."""
    added: int = 0
    """How many entries were added."""
    _under_way: dict[str, tuple[Mapping[str, Any], States]] = field(default_factory=dict)
    """For each call that is acting: the payload of its claim, and the state it intends for each path."""

    def add(self, entry: Entry) -> None:
        """Take one entry into account."""
        self.added = entry.seq + 1
        payload = entry.payload or {}
        if entry.kind in _CARRIES:
            self._see([(one["path"], file_state(one["digest"])) for one in payload.get("carried", ())], entry)
        match entry.kind:
            case EntryKind.CALLED:
                self._learn(payload, payload, entry)
            case EntryKind.CLAIMED:
                meant = list(_made(payload.get("preview", {}).get("changes", ())))
                self._under_way[entry.call_id] = (payload, meant)
            case EntryKind.SETTLED:
                begun, meant = self._under_way.pop(entry.call_id, ({}, []))
                if payload.get("outcome") == "unknown":
                    # The call may have made the changes it intended.
                    self._under_way[entry.call_id] = ({}, meant)
                self._learn(begun, payload, entry)
                self._see(list(_made(payload.get("changes", ()))), entry)
            case EntryKind.NOTICED:
                for change in payload.get("changes", ()):
                    self.told.setdefault(change["path"], set()).add(change["state"])
            case _:
                pass

    def outdated(self, path: str, state: str) -> SeenState | None:
        """Return the state last seen of a path that has changed since; None if it knows ``state``, or saw none."""
        seen = self.by_path.get(path)
        if seen is None or seen.state == state or self._is_making(path, state):
            return None
        return seen

    def _is_making(self, path: str, state: str) -> bool:
        return any((path, state) in meant for _, meant in self._under_way.values())

    def _learn(self, begun: Mapping[str, Any], ended: Mapping[str, Any], entry: Entry) -> None:
        """Add what a call has read; if the task saw nothing of a path, an earlier version that it was shown counts."""
        self._see(_shown(_states(begun, "reads"), ended), entry)
        self._see([one for one in _shown(_states(begun, "past"), ended) if one[0] not in self.by_path], entry)

    def _see(self, states: States, entry: Entry) -> None:
        for path, state in states:
            self.by_path.pop(path, None)
            self.by_path[path] = SeenState(state, entry.at)
            self.told.pop(path, None)


class ReadSets:
    """The read sets of tasks whose calls run in this process; each is read once, then only added to."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, ReadSet] = OrderedDict()
        self._lock = threading.Lock()

    def with_conflicts(self, store: Store, workspace: Workspace, task_id: str, preview: Preview) -> Preview:
        """Return a preview with its conflicts: changes that would replace something newer than the task has seen.

        A deletion counts as newer, too. What the call itself read counts as seen. What its task never saw is no
        conflict.
        """
        read = {seen.path for seen in preview.reads if digest_in(seen.state)}
        replaced = {
            change.path: change.before
            for change in preview.changes
            if _puts_something_in_place(change) and change.path not in read
        }
        outdated = self._outdated(store, task_id, replaced) if replaced else {}
        holds = Reader(workspace).holds
        outdated = {
            path: seen
            for path, seen in outdated.items()
            # Where a path is empty now and was a directory before, no deleted content is brought back.
            if (replaced[path] != ABSENT or digest_in(seen.state))
            # Another call may have changed the path since the look; then this call cannot claim, and looks again.
            and holds(path, replaced[path])
        }
        if not outdated:
            return preview
        newest = store.read(lambda view: newest_versions(view, outdated))
        makers = {path: version.by for path, version in newest.items() if version.state == replaced[path]}
        found = (
            Conflict(path, seen.state, seen.at, makers.get(path, OUTSIDE)) for path, seen in outdated.items()
        )
        return replace(preview, conflicts=tuple(found))

    def _outdated(self, store: Store, task_id: str, states: Mapping[str, str]) -> dict[str, SeenState]:
        """Return the last seen state of each of these paths that is in another state now than the task saw."""
        with self._lock:
            read_set = self._tasks.setdefault(task_id, ReadSet())
            self._tasks.move_to_end(task_id)
            while len(self._tasks) > MOST_REMEMBERED:
                self._tasks.popitem(last=False)
            for entry in store.entries_since(task_id, read_set.added):
                read_set.add(entry)
            found = {path: read_set.outdated(path, state) for path, state in states.items()}
        return {path: seen for path, seen in found.items() if seen is not None}


def _puts_something_in_place(change: Change) -> bool:
    if change.before == ABSENT:
        return digest_in(change.after) is not None
    return digest_in(change.before) is not None and change.before != change.after


def _states(payload: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    # What code read before it ran is recorded under ``ran``, with what the rules said of running it.
    for judged in (payload.get("ran") or {}, payload):
        yield from ((path, state) for path, state in judged.get("preview", {}).get(name, ()))


def _shown(reads: Iterator[tuple[str, str]], payload: Mapping[str, Any]) -> States:
    """Keep only those reads that its caller learned of: from a failed call, only that a path is absent."""
    done = payload.get("outcome") == "done"
    return [(path, state) for path, state in reads if state == ABSENT or (done and digest_in(state))]


def _made(changes: Any) -> Iterator[tuple[str, str]]:
    for change in changes:
        if change.get("source"):
            yield change["source"], ABSENT
        yield change["path"], change["after"]
