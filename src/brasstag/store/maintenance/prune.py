"""Pruning: which kept contents only old versions name, and which blobs must stay."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from brasstag.store.contents.versions import named_digests
from brasstag.store.database.schema import versions
from brasstag.store.documents.conversions import kept_blocks
from brasstag.store.store import Store
from brasstag.store.tasks.approvals import list_approvals
from brasstag.store.tasks.ledger import open_claims, overlaps
from brasstag.store.tasks.writer import Desk
from brasstag.words.approvals import WAITING_STATES
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change, digest_in


@dataclass(frozen=True, slots=True)
class Retention:
    """What is to be spared: the newest versions of each path, and all that are younger than a moment."""

    keep: int
    before: str
    """The moment, as the store writes it."""
    paths: tuple[str, ...] = ()
    """Only these and what lies below them are pruned; all if there are none."""


@dataclass(frozen=True, slots=True)
class Prunable:
    """What would be deleted."""

    digests: frozenset[str]
    """Contents that are named only by versions to be pruned, and the blocks made of these contents."""
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


def prunable(store: Store, spared: Retention) -> Prunable:
    """Return stored contents that only unspared versions name. What a claim or a waiting approval needs stays."""
    return store.read(lambda view: _prunable(view, spared, store.blobs.has))


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


def prune(store: Store, spared: Retention, by: str, desk: Desk) -> int:
    """Delete for good what can be pruned, and write down at a new desk who did it; return how many were deleted."""
    seen = prunable(store, spared)
    if not seen.digests:
        return 0
    store.expect_desk(desk)
    with store.writing(desk.id) as transaction:
        # A version that was made since may need some of it.
        found = _prunable(transaction.connection, spared, seen.digests.__contains__)
        said: dict[str, Any] = {"type": "pruning", "by": by, "versions": found.versions}
        said |= {"contents": len(found.digests), "keep": spared.keep, "before": spared.before}
        store.timeline.append(
            transaction, desk.id, EntryKind.REDACTED, "", said | {"paths": list(spared.paths)}
        )
    # Recorded first: a deletion without a record would look like tampering.
    dropped = sum(store.blobs.drop(digest) for digest in sorted(found.digests))
    store.close_task(desk.id, "done", Desk.closing({"deleted": dropped}))
    return dropped


def _is_asked(path: str, paths: Sequence[str]) -> bool:
    return not paths or any(overlaps(path, one) and not one.startswith(f"{path}/") for one in paths)


def named_blobs(connection: Connection) -> frozenset[str]:
    """Return the digest of every blob that something still needs."""
    named = named_digests(connection) | waited_for(connection)
    return named | kept_blocks(connection, named)


def waited_for(connection: Connection) -> frozenset[str]:
    """Return the digest of every blob that an unsettled claim or a waiting approval needs."""
    waiting = list_approvals(connection, WAITING_STATES)
    changes: list[Change] = [change for approval in waiting for change in approval.preview.changes]
    changes += [change for claim in open_claims(connection) for change in claim.changes]
    states = {state for change in changes for state in (change.before, change.after)}
    return frozenset(digest for state in states if (digest := digest_in(state)))
