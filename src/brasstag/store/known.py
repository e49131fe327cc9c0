"""What a walk compares with the disk: the least of every row, in the order of paths.

It is read page by page, so that memory stays bounded and no look at the tables lasts long.
"""

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, collate, select

from brasstag.store.database import Database
from brasstag.store.parts import in_parts
from brasstag.store.prepared import Prepared
from brasstag.store.schema import documents

PAGE = 10_000
"""How many rows a walk over all of them reads at once."""

AFTER_ALL = "\U0010ffff"
"""No path sorts after it."""


class Known(NamedTuple):
    """What is known of one path."""

    path: str
    id: int
    version: int
    state: str
    fingerprint: str


_columns = [documents.c[name] for name in ("path", "id", "version", "state", "fingerprint")]


def _page(path: ColumnElement[str]) -> Prepared:
    """Return the statement for one page, in the order of ``path``."""
    return Prepared(
        select(*_columns)
        .where(path > bindparam("after"), path < bindparam("before"))
        .order_by(path)
        .limit(bindparam("most"))
    )


# Python sorts texts by code points, as SQLite does; a server has to be told to.
_PAGES = {"sqlite": _page(documents.c.path), "postgresql": _page(collate(documents.c.path, "C"))}


def known_rows(database: Database, path: str = "") -> Iterator[Known]:
    """Yield what is known of all below a path, or of all there are, in the order of their paths."""
    if path:
        # What lies below has a slash next, and a zero is what comes after a slash.
        yield from _between(database, f"{path}/", f"{path}0")
    else:
        yield from _between(database, "", AFTER_ALL)


def known_at(view: Connection, paths: Sequence[str]) -> dict[str, Known]:
    """Return what is known of those paths that have a row."""
    found: dict[str, Known] = {}
    for some in in_parts(paths):
        for row in view.execute(select(*_columns).where(documents.c.path.in_(some))):
            found[row.path] = Known(*row)
    return found


def _between(database: Database, after: str, before: str) -> Iterator[Known]:
    while True:
        with database.read() as view:
            page = _PAGES[view.dialect.name].rows(view, after=after, before=before, most=PAGE)
        yield from starmap(Known, page)
        if len(page) < PAGE:
            return
        after = page[-1][0]
