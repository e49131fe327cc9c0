"""What one call wants the disk to be, and the changes that lead there.

However often a path was touched, it gets one Change at most, from what the disk held to what is wanted in the end.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from brasstag.sandbox.workspace.paths import ancestors, join_path, split_path
from brasstag.sandbox.workspace.view.reader import DiskState, Kind, PathStat
from brasstag.words.previews import ABSENT, DIRECTORY, Change, digest_in, is_link

DEFAULT_FILE_MODE = 0o644
DEFAULT_DIRECTORY_MODE = 0o755


@dataclass(frozen=True, slots=True)
class Node:
    """What a path shall be."""

    state: str
    size: int = 0
    mode: int | None = None
    """Permission bits it shall have; None keeps what is there, or takes the default."""
    data: bytes | None = None
    """New bytes of a file, or target of a link; None when there are none, or they are on disk at ``origin``."""
    origin: str = ""
    """The disk path whose file this is, moved here but not rewritten."""
    kept: bool = False
    """Whether the bytes are in the blobs already; the same ones again, with the same mode, are then no change."""
    vacated: bool = False
    media_type: str = ""
    """What the caller says new bytes are."""
    modified: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def kind(self) -> Kind:
        """What tools see it as; never asked of what is absent."""
        if self.state == DIRECTORY:
            return "directory"
        return "symlink" if is_link(self.state) else "file"

    def look(self) -> PathStat:
        """Return this node as tools see it."""
        default = DEFAULT_DIRECTORY_MODE if self.state == DIRECTORY else DEFAULT_FILE_MODE
        return PathStat(
            self.kind, self.size, self.modified.timestamp(), default if self.mode is None else self.mode
        )


GONE = Node(ABSENT)
VACATED = Node(ABSENT, vacated=True)
"""A directory that goes because its content was moved."""


class StagedPaths:
    """The staged paths of one call: what the disk held at each, and what it shall hold."""

    def __init__(self) -> None:
        self._before: dict[str, DiskState] = {}
        self._after: dict[str, Node] = {}
        self._children: dict[str, set[str]] = {}
        self._journal: list[tuple[str, Node | None]] = []

    def __bool__(self) -> bool:
        return bool(self._after)

    def put(self, path: str, before: DiskState, node: Node) -> None:
        """Say what a path shall be; ``before`` counts only the first time."""
        self._journal.append((path, self._after.get(path)))
        self._before.setdefault(path, before)
        self._after[path] = node
        parent, name = split_path(path)
        self._children.setdefault(parent, set()).add(name)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Stage everything in this block or, if it raises, nothing of it."""
        start = len(self._journal)
        try:
            yield
        except BaseException:
            for path, earlier in reversed(self._journal[start:]):
                self._take_back(path, earlier)
            del self._journal[start:]
            raise

    def before(self, path: str) -> DiskState | None:
        """Return what the disk held at a staged path."""
        return self._before.get(path)

    def node(self, path: str) -> Node | None:
        """Return what a path shall be; None leaves it to the disk."""
        node = self._after.get(path)
        if node is not None or not self._after:
            return node
        above = (self._after.get(place) for place in ancestors(path))
        is_gone = any(place is not None and place.state != DIRECTORY for place in above)
        return GONE if is_gone or self.is_in_new_directory(path) else None

    def is_in_new_directory(self, path: str) -> bool:
        """Say whether a path lies in a directory that only the stage knows: nothing on disk is meant by it."""
        above = (self._before.get(place) for place in ancestors(path))
        return any(place is not None and place.state != DIRECTORY for place in above)

    def children(self, directory: str) -> dict[str, Node]:
        """Return what has been staged directly in a directory, by name."""
        names = self._children.get(directory, set())
        return {name: self._after[join_path(directory, name)] for name in names}

    def changes(self, undo_limit: int) -> tuple[Change, ...]:
        """Return the Changes in an order in which they can be made: directories first, emptied ones last.

        Safe to ask while a tool that ran out of time is still staging: then the answer is of no use, but is one.
        """
        makes: list[Change] = []
        files: list[Change] = []
        clears: list[Change] = []
        for change in self._all():
            if change.after == DIRECTORY:
                makes.append(change)
            elif change.before == DIRECTORY:
                clears.append(change)
            else:
                files.append(change)
        makes.sort(key=lambda change: change.path.split("/"))
        clears.sort(key=lambda change: change.path.split("/"), reverse=True)
        return tuple(_within_limit([*makes, *files, *clears], undo_limit))

    def contents(self) -> Iterator[tuple[Change, Node]]:
        """Return every Change that puts new content somewhere, with the node that says where its bytes are."""
        for change in self._all():
            if not change.source and digest_in(change.after):
                yield change, self._after[change.path]

    def _take_back(self, path: str, earlier: Node | None) -> None:
        if earlier is not None:
            self._after[path] = earlier
            return
        parent, name = split_path(path)
        del self._after[path], self._before[path]
        self._children[parent].discard(name)

    def _all(self) -> Iterator[Change]:
        staged = dict(self._after)
        moved = {node.origin for path, node in staged.items() if self._is_move(path, node)}
        for path, node in staged.items():
            before = self._before[path]
            if path in moved or _is_as_before(path, node, before):
                continue
            change = Change(
                path,
                before.state,
                node.state,
                mode=node.mode,
                before_mode=before.mode,
                size=node.size,
                before_size=before.size,
                vacated=node.vacated,
                media_type=node.media_type,
            )
            yield replace(change, source=node.origin, mode=None) if self._is_move(path, node) else change

    def _is_move(self, path: str, node: Node) -> bool:
        # Where something new takes the place the bytes came from, or they go where a directory was, a single rename
        # cannot do it: then the bytes are written again.
        return (
            node.origin not in ("", path)
            and self._after.get(node.origin, GONE).state == ABSENT
            and self._before[path].state != DIRECTORY
        )


def _is_as_before(path: str, node: Node, before: DiskState) -> bool:
    if node.data is not None and not node.kept:
        # Writing the same bytes again is still an overwrite: a program that watches the file sees it as one.
        return False
    if node.origin:
        return node.origin == path
    return node.state == before.state and node.mode in (None, before.mode)


def _within_limit(changes: list[Change], limit: int) -> Iterator[Change]:
    left = limit
    for change in changes:
        if digest_in(change.before) is None:
            yield change
        elif change.before_size <= left:
            left -= change.before_size
            yield change
        else:
            yield replace(change, undoable=False)
