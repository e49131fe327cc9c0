"""Find where a new file came from, so that a moved document stays the same document."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from brasstag.store.contents.versions import OUTSIDE, Version, lineage, newest_versions
from brasstag.store.database.base import View
from brasstag.store.documents.findings import inode_in
from brasstag.store.documents.rows import DocumentRow, row_at, rows_gone_since, rows_in_states
from brasstag.words.canonical import sha256
from brasstag.words.previews import ABSENT, file_state

MOST_SOURCES = 4000
"""How many documents with the contents of one batch are looked at, to see whether they are gone."""

_EMPTY = file_state(sha256(b""))


@dataclass(frozen=True, slots=True)
class Appeared:
    """A path that holds something where no document was."""

    path: str
    state: str
    inode: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document was before."""

    row: DocumentRow
    source_version: int
    """The newest version of that path before the move."""
    is_recorded: bool
    """Whether a version says already that it has left."""


def moved_by_calls(view: View, path: str) -> tuple[Version | None, DocumentRow | None]:
    """Return the first version of what calls made of a path, and the row it had where it was before, if any."""
    told = lineage(view, path)
    first = next((version for version in told if version.state != ABSENT), None)
    moves = {version.source: version.source_version for version in told if version.source}
    newest = newest_versions(view, list(moves))
    for source, number in reversed(moves.items()):
        # What is gone from there must be this document, not one that was there after it.
        left = newest.get(source)
        if source != path and left is not None and (left.state, left.version) == (ABSENT, number + 1):
            row = row_at(view, source)
            if row is not None:
                return first, row
    return first, None


def moved_outside(
    view: View,
    appeared: Sequence[Appeared],
    is_gone: Callable[[str], bool],
    newest_id: int,
    gone_since: str,
) -> dict[str, Origin]:
    """Return where moved files came from: from paths that held the same content and no longer hold it.

    The same inode tells most, then the same name. An empty file tells nothing, and nor does what went some time ago,
    unless the inode is the same.
    """
    if not appeared:
        return {}
    sources: dict[str, list[Origin]] = defaultdict(list)
    for state, origin in _sources(view, appeared, is_gone, newest_id, gone_since):
        sources[state].append(origin)
    found: dict[str, Origin] = {}
    taken: set[int] = set()
    for agree in (_same_inode, _same_name, _same_contents):
        for one in appeared:
            if one.path in found:
                continue
            for origin in sources.get(one.state, ()):
                if origin.row.id not in taken and agree(one, origin):
                    found[one.path] = origin
                    taken.add(origin.row.id)
                    break
    return found


def _sources(
    view: View,
    appeared: Sequence[Appeared],
    is_gone: Callable[[str], bool],
    newest_id: int,
    gone_since: str,
) -> Iterator[tuple[str, Origin]]:
    states = sorted({one.state for one in appeared})
    rows = rows_in_states(view, states, newest_id, MOST_SOURCES) if newest_id else ()
    newest = newest_versions(view, [row.path for row in rows])
    for row in _as_known(rows, newest):
        if is_gone(row.path):
            yield row.state, Origin(row, newest[row.path].version, is_recorded=False)
    for row, held in rows_gone_since(view, gone_since) if newest_id else ():
        if row.updated_by == OUTSIDE:
            yield held, Origin(row, row.version - 1, is_recorded=True)


def _as_known(rows: Iterable[DocumentRow], newest: Mapping[str, Version]) -> Iterator[DocumentRow]:
    """Yield the rows that say what the newest version of their path says."""
    for row in rows:
        version = newest.get(row.path)
        if version is not None and (version.version, version.state) == (row.version, row.state):
            yield row


def _same_inode(one: Appeared, origin: Origin) -> bool:
    return bool(one.inode) and one.inode == inode_in(origin.row.fingerprint)


def _same_name(one: Appeared, origin: Origin) -> bool:
    return _same_contents(one, origin) and _name(one.path) == _name(origin.row.path)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _same_contents(one: Appeared, origin: Origin) -> bool:
    return one.state != _EMPTY and not origin.is_recorded
