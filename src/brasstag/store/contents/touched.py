"""Touched paths: they changed, or may have changed, and were not scanned since."""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, delete, insert, select

from brasstag.store.database.base import Transaction
from brasstag.store.database.schema import touched
from brasstag.store.database.statements import Prepared

_insert = Prepared(insert(touched).values(path=bindparam("path")))
_oldest = Prepared(select(touched.c.seq, touched.c.path).order_by(touched.c.seq).limit(bindparam("most")))
_forget = Prepared(delete(touched).where(touched.c.seq == bindparam("number")))


def touch(transaction: Transaction, paths: Iterable[str]) -> None:
    """Note that a scan has to look at these paths."""
    rows = [{"path": path} for path in paths]
    if rows:
        transaction.run_many(_insert, rows)


def touched_paths(view: Connection, most: int) -> dict[int, str]:
    """Return paths that a scan has to look at, by the numbers under which they were noted, oldest first."""
    return dict(_oldest.rows(view, most=most))


def forget_touched(transaction: Transaction, numbers: Iterable[int]) -> None:
    """Forget what was noted under these numbers: it has been looked at."""
    seen = [{"number": number} for number in numbers]
    if seen:
        transaction.run_many(_forget, seen)
