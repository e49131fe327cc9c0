"""Pruning: which kept contents only old versions name. Versions stay; what they held does not."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from brasstag.store.books import Books
from brasstag.store.conversions import kept_blocks
from brasstag.store.desks import Desk
from brasstag.store.keeping import waited_for
from brasstag.store.ledger import overlaps
from brasstag.store.schema import versions
from brasstag.words.events import EntryKind
from brasstag.words.previews import digest_in


@dataclass(frozen=True, slots=True)
class Retention:
    """What is to be spared: the newest versions of each path, and all that are younger than a moment."""

    keep: int
    before: str
    """The moment, as the books write it."""
    paths: tuple[str, ...] = ()
    """Only these and what lies below them are pruned; all if there are none."""


@dataclass(frozen=True, slots=True)
class Prunable:
    """What would go."""

    digests: frozenset[str]
    """Contents, and the blocks made of them, that no version names which stays whole."""
    counts: Mapping[str, int]
    """How many versions of each path would no longer have what they held."""
    size: int
    """Bytes of those contents, without the blocks made of them."""
    unknown: tuple[str, ...] = ()
    """Paths that were asked for, and neither they nor anything below them has any version."""

    @property
    def versions(self) -> int:
        """How many versions would no longer have what they held."""
        return sum(self.counts.values())


def prunable(books: Books, spared: Retention) -> Prunable:
    """Return what only versions hold that are not spared, and is there. What a claim or a waiting approval needs stays."""
    return books.read(lambda view: _prunable(view, spared, books.blobs.has))


def _prunable(connection: Connection, spared: Retention, is_there: Callable[[str], bool]) -> Prunable:
    query = select(versions.c.path, versions.c.state, versions.c.at, versions.c.size).order_by(
        versions.c.path, versions.c.version.desc()
    )
    seen: Counter[str] = Counter()
    old: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: dict[str, int] = {}
    kept: set[str] = set(waited_for(connection))
    for path, state, at, size in connection.execute(query):
        digest = digest_in(state)
        seen[path] += 1
        if digest is None:
            continue
        if _is_asked(path, spared.paths) and seen[path] > spared.keep and at < spared.before:
            old[digest][path] += 1
            sizes[digest] = size
        else:
            kept.add(digest)
    gone = frozenset(filter(is_there, old.keys() - kept))
    counts: Counter[str] = Counter()
    for digest in gone:
        counts.update(old[digest])
    return Prunable(
        gone | (kept_blocks(connection, gone) - kept_blocks(connection, kept)),
        dict(sorted(counts.items())),
        sum(sizes[digest] for digest in gone),
        tuple(one for one in spared.paths if not any(_is_asked(path, [one]) for path in seen)),
    )


def prune(books: Books, spared: Retention, by: str, desk: Desk) -> int:
    """Delete for good what can be pruned, and write down at a new desk who did it; return how many contents went."""
    seen = prunable(books, spared)
    if not seen.digests:
        return 0
    books.expect_desk(desk)
    with books.writing(desk.id) as transaction:
        # A version that was made since may need some of it.
        found = _prunable(transaction.connection, spared, seen.digests.__contains__)
        said: dict[str, Any] = {"type": "pruning", "by": by, "versions": found.versions}
        said |= {"contents": len(found.digests), "keep": spared.keep, "before": spared.before}
        books.timeline.append(
            transaction, desk.id, EntryKind.REDACTED, "", said | {"paths": list(spared.paths)}
        )
    # On record first: what is deleted without a word would look as if it had been tampered with.
    dropped = sum(books.blobs.drop(digest) for digest in sorted(found.digests))
    books.close_task(desk.id, "done", Desk.closing({"deleted": dropped}))
    return dropped


def _is_asked(path: str, paths: Sequence[str]) -> bool:
    return not paths or any(overlaps(path, one) and not one.startswith(f"{path}/") for one in paths)
