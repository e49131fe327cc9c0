"""Versions: every state of every path Brasstag has seen, with who made it and why."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select

from brasstag.store.database import Transaction
from brasstag.store.prepared import Prepared
from brasstag.store.schema import versions
from brasstag.words.previews import ABSENT, Change, digest_in

OUTSIDE = "outside"
"""Who made a version that no call of ours made."""

_newest = Prepared(
    select(versions.c.version, versions.c.state)
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


def add_versions(
    transaction: Transaction, changes: Iterable[Change], by: str, call_id: str, why: str, at: str
) -> None:
    """Record what a call made of each path; a before-state not seen yet is recorded first, as made outside."""
    rows = []
    for change in changes:
        steps = [
            (change.path, change.before, change.before_mode, change.before_size, change.after, change.size)
        ]
        if change.source:
            steps.append((change.source, change.after, change.mode, change.size, ABSENT, 0))
        for path, before, before_mode, before_size, after, size in steps:
            number, known = transaction.run(_newest, at_path=path).fetchone() or (0, ABSENT)
            if before != known:
                number += 1
                rows.append(Version(path, number, before, before_mode, before_size, OUTSIDE, "", "", at))
            mode = change.mode if after != ABSENT else None
            rows.append(Version(path, number + 1, after, mode, size, by, call_id, why, at))
    if rows:
        transaction.run_many(
            _insert, [{name: getattr(row, name) for name in Version.__slots__} for row in rows]
        )


def history(connection: Connection, path: str) -> list[Version]:
    """Return every version of a path, oldest first."""
    found = connection.execute(select(versions).where(versions.c.path == path).order_by(versions.c.version))
    return [Version(**row._mapping) for row in found]


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
