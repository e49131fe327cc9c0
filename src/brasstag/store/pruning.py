"""Pruning: which kept contents only old versions name. Versions stay; what they held does not."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from brasstag.store.conversions import kept_blocks
from brasstag.store.keeping import waited_for
from brasstag.store.ledger import overlaps
from brasstag.store.schema import versions
from brasstag.words.previews import digest_in


@dataclass(frozen=True, slots=True)
class Prunable:
    """What would go."""

    versions: int
    digests: frozenset[str]
    """Contents, and the blocks made of them, that no version names which stays whole."""


def prunable(connection: Connection, keep: int, before: str, paths: Sequence[str] = ()) -> Prunable:
    """Return what is held by versions older than a moment, but for the newest ``keep`` of each path.

    With ``paths``, only by versions of these and of what lies below them. What a claim or a waiting approval needs stays.
    """
    query = select(versions.c.path, versions.c.state, versions.c.at).order_by(
        versions.c.path, versions.c.version.desc()
    )
    seen: dict[str, int] = {}
    old: dict[str, int] = {}
    kept: set[str] = set(waited_for(connection))
    for path, state, at in connection.execute(query):
        digest = digest_in(state)
        place = seen[path] = seen.get(path, 0) + 1
        if digest is None:
            continue
        is_asked = not paths or any(overlaps(path, one) and not one.startswith(f"{path}/") for one in paths)
        if is_asked and place > keep and at < before:
            old[digest] = old.get(digest, 0) + 1
        else:
            kept.add(digest)
    gone = frozenset(old) - kept
    count = sum(old[digest] for digest in gone)
    return Prunable(count, gone | (kept_blocks(connection, gone) - kept_blocks(connection, kept)))
