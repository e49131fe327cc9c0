"""Small contents, kept in the database itself, so that many of them cost one commit."""

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, func, select, text

from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.schema import contents
from brasstag.store.database.statements import Prepared

LARGEST = 64 * 1024
"""Bytes of the largest content that is kept here rather than in a file."""

_get = Prepared(select(contents.c.data).where(contents.c.digest == bindparam("of")))
_has = Prepared(select(contents.c.digest).where(contents.c.digest == bindparam("of")))
_insert = Prepared(
    text("INSERT INTO contents (digest, data, at) VALUES (:digest, :data, :at) ON CONFLICT DO NOTHING")
)
_delete = Prepared(delete(contents).where(contents.c.digest == bindparam("of")))


class Contents:
    """Small contents of one room, under their digests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def has(self, digest: str) -> bool:
        """Say whether these bytes are kept here."""
        return bool(self._database.look(_has, of=digest))

    def get(self, digest: str) -> bytes | None:
        """Return the bytes, or None where they are not kept here."""
        found = self._database.look(_get, of=digest)
        return bytes(found[0][0]) if found else None

    def drop(self, digest: str) -> bool:
        """Remove one content; say whether it was there."""
        with self._database.write() as transaction:
            return bool(transaction.run(_delete, of=digest).rowcount)

    def collect(self, keep: frozenset[str], oldest_kept: str) -> tuple[int, int]:
        """Remove contents stored before a moment that are not in ``keep``; return how many and how many bytes."""
        with self._database.write() as transaction:
            query = select(contents.c.digest, func.length(contents.c.data)).where(contents.c.at < oldest_kept)
            gone = {digest: size for digest, size in transaction.execute(query) if digest not in keep}
            if gone:
                transaction.run_many(_delete, [{"of": digest} for digest in gone])
        return len(gone), sum(gone.values())


def add_contents(transaction: Transaction, found: Mapping[str, bytes], at: str) -> None:
    """Keep contents under their digests, in a commit of more; those that are there already stay."""
    if found:
        rows = [{"digest": digest, "data": data, "at": at} for digest, data in found.items()]
        transaction.run_many(_insert, rows)
