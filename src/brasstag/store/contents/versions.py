"""Versions: every state of every path Brasstag has seen, who made it and why, and what changed since a task saw it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, insert, select

from brasstag.store.contents.touched import touch
from brasstag.store.database.base import Transaction
from brasstag.store.database.schema import entries, versions
from brasstag.store.database.statements import Prepared, in_parts
from brasstag.words.events import EntryKind
from brasstag.words.previews import ABSENT, DIRECTORY, Change, digest_in

OUTSIDE = "outside"
"""Who made a version that no call of ours made."""

_newest = Prepared(
    select(versions.c.version, versions.c.state, versions.c.call_id)
    .where(versions.c.path == bindparam("at_path"))
    .order_by(versions.c.version.desc())
    .limit(1)
)
_insert = Prepared(
    insert(versions).values({column.name: bindparam(column.name) for column in versions.columns})
)


@dataclass(frozen=True, slots=True)
class Version:
    """One state of one path."""

    path: str
    version: int
    state: str
    mode: int | None
    size: int
    by: str
    call_id: str
    why: str
    at: str
    task_id: str = ""
    source: str = ""
    """The path it was moved from."""
    source_version: int = 0
    """What the newest version of that path was before the move."""

    def as_json(self) -> dict[str, Any]:
        """Return it as programs read it."""
        return {
            "path": self.path,
            "version": self.version,
            "state": self.state.partition(":")[0],
            "digest": digest_in(self.state),
            "size_bytes": self.size,
            "by": self.by,
            "task": self.task_id,
            "call": self.call_id,
            "why": self.why,
            "at": self.at,
            "moved_from": self.source or None,
        }


@dataclass(frozen=True, slots=True)
class Author:
    """Who made versions: a role, with which call, and when."""

    by: str
    task_id: str
    call_id: str
    why: str
    at: str


def reason_of(tool: str, arguments: Any) -> str:
    """Return why a call makes versions: its tool, and what its caller says of it."""
    said = arguments.get("why_created") if isinstance(arguments, Mapping) else None
    if not isinstance(said, str) or not said.strip():
        return tool
    # A database takes no NUL as text.
    return f"{tool}: {' '.join(said.replace(chr(0), ' ').split())}"


def add_versions(transaction: Transaction, changes: Iterable[Change], author: Author) -> None:
    """Record what a call made of each path; a before-state not seen yet is recorded first, as made outside."""
    made = _NewVersions(transaction, author)
    for change in changes:
        moved_at = 0
        if change.source:
            moved_at = made.expect(change.source, change.after, change.mode, change.size)
            made.add(change.source, ABSENT, None, 0)
        made.expect(change.path, change.before, change.before_mode, change.before_size)
        mode = change.mode if change.after != ABSENT else None
        made.add(change.path, change.after, mode, change.size, change.source, moved_at)
    insert_versions(transaction, made.rows)
    touch(transaction, dict.fromkeys(row.path for row in made.rows))


def outdated_looks(transaction: Transaction, changes: Iterable[Change]) -> dict[str, str]:
    """Return the paths, with the states a call has seen there, whose newest version is another state."""
    found: dict[str, str] = {}
    for change in changes:
        seen = {change.path: change.before} | ({change.source: change.after} if change.source else {})
        for path, state in seen.items():
            _number, newest, _by = transaction.run(_newest, at_path=path).fetchone() or (0, ABSENT, "")
            if newest != state:
                found[path] = state
    return found


def insert_versions(transaction: Transaction, rows: Sequence[Version]) -> None:
    """Write versions down as they are."""
    if rows:
        transaction.run_many(
            _insert, [{name: getattr(row, name) for name in Version.__slots__} for row in rows]
        )


class _NewVersions:
    """The versions one call makes, numbered from the newest of each path on."""

    def __init__(self, transaction: Transaction, author: Author) -> None:
        self.rows: list[Version] = []
        self._transaction = transaction
        self._author = author
        self._told = asdict(author)
        self._numbers: dict[str, int] = {}

    def expect(self, path: str, state: str, mode: int | None, size: int) -> int:
        """Write down how the call found a path, unless that is known; return the number of that version."""
        if path not in self._numbers:
            number, known, _by = self._transaction.run(_newest, at_path=path).fetchone() or (0, ABSENT, "")
            if state != known:
                number += 1
                self.rows.append(Version(path, number, state, mode, size, OUTSIDE, "", "", self._author.at))
            self._numbers[path] = number
        return self._numbers[path]

    def add(
        self, path: str, state: str, mode: int | None, size: int, source: str = "", source_version: int = 0
    ) -> None:
        """Write down what the call made of a path."""
        self._numbers[path] += 1
        self.rows.append(
            Version(
                path,
                self._numbers[path],
                state,
                mode,
                size,
                **self._told,
                source=source,
                source_version=source_version,
            )
        )


@dataclass(frozen=True, slots=True)
class Past:
    """Everything a path has held, with the earlier versions of what was moved there."""

    line: tuple[Version, ...]
    """The versions of what is there, followed through its moves, oldest first."""
    others: tuple[Version, ...]
    """What the path has held besides, oldest first."""


def history(connection: Connection, path: str, newest: int | None = None) -> list[Version]:
    """Return every version of a path, or those up to one, oldest first."""
    return [Version(**row._mapping) for row in connection.execute(_up_to(path, newest))][::-1]


def lineage(connection: Connection, path: str, newest: int | None = None) -> list[Version]:
    """Return the versions of what is at a path now, or was in one version, oldest first, followed through its moves.

    A document that was deleted and written again goes on here. A document that was moved away goes on elsewhere.
    """
    found: dict[tuple[str, int], Version] = {}
    while path:
        rows = [Version(**row._mapping) for row in connection.execute(_up_to(path, newest))]
        left = moved_to(connection, rows[1:])
        path = ""
        for row in rows:
            if (row.path, row.version) in found or (row.path, row.version) in left:
                # Moves in a circle have no beginning. Or what was here before is another document.
                break
            found[row.path, row.version] = row
            if row.source:
                path, newest = row.source, row.source_version
                break
    return [*found.values()][::-1]


def past(connection: Connection, path: str, newest: int | None = None) -> Past:
    """Return everything a path has held, or had held up to one version."""
    line = lineage(connection, path, newest)
    others = [one for one in history(connection, path, newest) if one not in line]
    return Past(tuple(line), tuple(others))


def moved_to(connection: Connection, found: Iterable[Version]) -> dict[tuple[str, int], str]:
    """Return where documents were moved to, by path and number of the version that says the document has left."""
    left = {(one.path, one.version) for one in found if one.state == ABSENT}
    if not left:
        return {}
    paths = sorted({path for path, _number in left})
    query = select(versions.c.path, versions.c.source, versions.c.source_version)
    rows = connection.execute(query.where(versions.c.source.in_(paths), versions.c.source != ""))
    went = {(source, number + 1): path for path, source, number in rows}
    return {key: path for key, path in went.items() if key in left}


def tags_of(connection: Connection, found: Iterable[Version]) -> dict[str, str]:
    """Return the tags of the calls that made versions, by the ids of those calls."""
    made = [(one.task_id, one.call_id) for one in found if one.call_id]
    tags: dict[str, str] = {}
    for some in in_parts(made):
        tasks, calls = map(set, zip(*some, strict=True))
        query = select(entries.c.call_id, entries.c.tag).where(
            entries.c.task_id.in_(tasks), entries.c.call_id.in_(calls), entries.c.kind == EntryKind.SETTLED
        )
        tags |= {row.call_id: row.tag for row in connection.execute(query)}
    return tags


def still_here(connection: Connection, others: Sequence[Version]) -> list[Version]:
    """Return those of the other versions of a path, oldest first, whose document was not moved away."""
    went = moved_to(connection, others)
    kept: list[Version] = []
    has_left = False
    for one in reversed(others):
        if one.state == ABSENT:
            has_left = (one.path, one.version) in went
        if not has_left:
            kept.append(one)
    return kept[::-1]


def _up_to(path: str, newest: int | None) -> Select[Any]:
    query = select(versions).where(versions.c.path == path).order_by(versions.c.version.desc())
    return query if newest is None else query.where(versions.c.version <= newest)


def newest_versions(view: Connection, paths: Collection[str]) -> dict[str, Version]:
    """Return the newest version of those paths that have any."""
    found: dict[str, Version] = {}
    for some in in_parts(paths):
        for row in view.execute(_newest_where(versions.c.path.in_(some))):
            found[row.path] = Version(**row._mapping)
    return found


def standing_directories(view: Connection) -> list[str]:
    """Return the paths whose newest version is a directory; only directories that calls made have versions."""
    were = select(versions.c.path).where(versions.c.state == DIRECTORY)
    query = _newest_where(versions.c.path.in_(were)).where(versions.c.state == DIRECTORY)
    return [row.path for row in view.execute(query.order_by(versions.c.path))]


def paths_of_calls(view: Connection, paths: Sequence[str]) -> frozenset[str]:
    """Return those paths that a call has ever changed."""
    found: set[str] = set()
    for some in in_parts(paths):
        query = select(versions.c.path).where(versions.c.path.in_(some), versions.c.call_id != "")
        found.update(view.execute(query.distinct()).scalars())
    return frozenset(found)


def _newest_where(asked: ColumnElement[bool]) -> Select[Any]:
    last = (
        select(versions.c.path, func.max(versions.c.version).label("version"))
        .where(asked)
        .group_by(versions.c.path)
        .subquery()
    )
    return select(versions).join(
        last, (versions.c.path == last.c.path) & (versions.c.version == last.c.version)
    )


def named_digests(connection: Connection) -> frozenset[str]:
    """Return the digest of every blob some version names."""
    states = connection.execute(select(versions.c.state).distinct()).scalars()
    return frozenset(digest for state in states if (digest := digest_in(state)))


def made_versions(connection: Connection, call_id: str) -> bool:
    """Say whether a call changed anything: a call that did has made versions."""
    mine = select(versions.c.path).where(versions.c.call_id == call_id).limit(1)
    return bool(call_id) and connection.execute(mine).first() is not None


def digests_only_of(connection: Connection, call_id: str) -> frozenset[str]:
    """Return the digests of contents that one call made and no other version names."""
    mine = connection.execute(select(versions.c.state).where(versions.c.call_id == call_id)).scalars()
    others = set(connection.execute(select(versions.c.state).where(versions.c.call_id != call_id)).scalars())
    return frozenset(digest for state in mine if state not in others and (digest := digest_in(state)))


def last_versions_with(connection: Connection, states: Mapping[str, str]) -> dict[str, int]:
    """Return, by path, the number of the last version with this state; paths that never had it are left out."""
    found: dict[str, int] = {}
    for some in in_parts(states):
        rows = connection.execute(
            select(versions.c.path, versions.c.state, func.max(versions.c.version))
            .where(versions.c.path.in_(some), versions.c.state.in_({states[path] for path in some}))
            .group_by(versions.c.path, versions.c.state)
        )
        found |= {path: version for path, state, version in rows if states[path] == state}
    return found
