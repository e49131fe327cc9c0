"""Rows of documents: what follows from their versions and the disk, what people say of them, and what a scan compares.

A scan makes them, brings them up to date and deletes them. Other code changes only columns that a scan leaves alone:
annotating changes the description and the tags, indexing changes what the index still needs. All hold the lock on
documents.

The rows are read page by page, so that memory stays bounded and no look at the tables lasts long.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from itertools import starmap
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    collate,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.schema import documents, versions
from brasstag.store.database.statements import Prepared, in_parts
from brasstag.words.canonical import stored_json
from brasstag.words.previews import ABSENT


class Pending(StrEnum):
    """What the index of a document still needs."""

    NOTHING = ""
    TEXT = "text"
    """The bytes are its text, and have to be read."""
    CONVERT = "convert"
    """Its text is known only once it is converted."""
    SLOW = "slow"
    """The same, but the conversion takes longer than a search can wait."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A path that is, or was, a file or a link."""

    id: int
    path: str
    version: int
    state: str
    size: int
    mode: int | None
    media_type: str
    fingerprint: str
    created_by: str
    created_task: str
    created_at: str
    updated_by: str
    updated_task: str
    updated_at: str
    description: str = ""
    tags: tuple[str, ...] = ()
    pending: str = Pending.NOTHING
    note: str = ""

    @property
    def is_there(self) -> bool:
        """Whether the path holds something."""
        return self.state != ABSENT

    @property
    def words(self) -> str:
        """What people and agents said of it, as the index takes it."""
        return " ".join(filter(None, (self.description, *self.tags)))


COLUMNS = tuple(field.name for field in fields(DocumentRow))
_columns = [documents.c[name] for name in COLUMNS]
_insert = Prepared(insert(documents).values({name: bindparam(name) for name in COLUMNS}))
_update = Prepared(
    update(documents)
    .where(documents.c.id == bindparam("of_id"))
    .values({name: bindparam(name) for name in COLUMNS if name != "id"})
)
_delete = Prepared(delete(documents).where(documents.c.id == bindparam("of_id")))
_last_id = Prepared(select(func.coalesce(func.max(documents.c.id), 0)))
_IS_PENDING = (documents.c.pending != "") & (documents.c.state != ABSENT)


def rows_at(view: Connection, paths: Sequence[str]) -> dict[str, DocumentRow]:
    """Return the rows of those paths that have one."""
    found: dict[str, DocumentRow] = {}
    for some in in_parts(paths):
        for row in view.execute(select(*_columns).where(documents.c.path.in_(some))):
            found[row.path] = document_row(row)
    return found


def all_rows(view: Connection) -> Iterator[DocumentRow]:
    """Yield every document, by path."""
    found = view.execution_options(yield_per=500).execute(select(*_columns).order_by(documents.c.path))
    return map(document_row, found)


def row_at(view: Connection, path: str) -> DocumentRow | None:
    """Return the row of a path, or None where it was never a document."""
    return rows_at(view, [path]).get(path)


def rows_of(view: Connection, ids: Sequence[int]) -> dict[int, DocumentRow]:
    """Return the rows with these ids."""
    found: dict[int, DocumentRow] = {}
    for some in in_parts(ids):
        for row in view.execute(select(*_columns).where(documents.c.id.in_(some))):
            found[row.id] = document_row(row)
    return found


def rows_in_states(
    view: Connection, states: Sequence[str], newest_id: int, most: int
) -> Sequence[DocumentRow]:
    """Return rows whose path holds one of these, in the order of their paths, but for rows newer than an id."""
    query = select(*_columns).where(documents.c.state.in_(states), documents.c.id <= newest_id)
    return [document_row(row) for row in view.execute(query.order_by(documents.c.path).limit(most))]


def rows_gone_since(view: Connection, at: str) -> Sequence[tuple[DocumentRow, str]]:
    """Return rows whose path was found empty since a moment, each with what it held before."""
    query = (
        select(*_columns, versions.c.state.label("held"))
        .join(
            versions,
            (versions.c.path == documents.c.path) & (versions.c.version == documents.c.version - 1),
        )
        .where(documents.c.state == ABSENT, documents.c.updated_at >= at)
    )
    return [(document_row(row), row.held) for row in view.execute(query.order_by(documents.c.path))]


def pending_rows(view: Connection, most: int, after: int = 0) -> Sequence[DocumentRow]:
    """Return rows whose index still needs something, in the order of their ids, from one on."""
    query = select(*_columns).where(_IS_PENDING, documents.c.id > after)
    return [document_row(row) for row in view.execute(query.order_by(documents.c.id).limit(most))]


def count_pending(view: Connection) -> int:
    """Return how many rows there are whose index still needs something."""
    return int(view.execute(select(func.count()).select_from(documents).where(_IS_PENDING)).scalar_one())


def noted_rows(view: Connection, beginnings: Sequence[str], most: int) -> Sequence[DocumentRow]:
    """Return rows whose note begins with one of these, in the order of their paths."""
    query = select(*_columns).where(_is_noted(beginnings)).order_by(documents.c.path).limit(most)
    return [document_row(row) for row in view.execute(query)]


def count_noted(view: Connection, beginnings: Sequence[str]) -> int:
    """Return how many rows there are whose note begins with one of these."""
    query = select(func.count()).select_from(documents).where(_is_noted(beginnings))
    return int(view.execute(query).scalar_one())


def _is_noted(beginnings: Sequence[str]) -> ColumnElement[bool]:
    begins = [documents.c.note.startswith(one, autoescape=True) for one in beginnings]
    return or_(*begins) & (documents.c.state != ABSENT)


def last_id(view: Connection) -> int:
    """Return the highest id of a row; the transaction that holds the lock on documents may give out the next ones."""
    return int(_last_id.rows(view)[0][0])


def insert_rows(transaction: Transaction, rows: Sequence[DocumentRow]) -> None:
    """Write new rows down as they are."""
    if rows:
        transaction.run_many(_insert, [_stored(row) for row in rows])


def update_rows(transaction: Transaction, rows: Sequence[DocumentRow]) -> None:
    """Write down what rows have become; their ids stay."""
    if rows:
        transaction.run_many(_update, [{**_stored(row), "of_id": row.id} for row in rows])


def delete_rows(transaction: Transaction, ids: Iterable[int]) -> None:
    """Forget rows; the versions of their paths stay."""
    gone = [{"of_id": number} for number in ids]
    if gone:
        transaction.run_many(_delete, gone)


def document_row(row: Any) -> DocumentRow:
    """Return a row of the table, read with all its columns."""
    told: Mapping[str, Any] = row._mapping
    return document_of([told[name] for name in COLUMNS])


def document_of(values: Sequence[Any]) -> DocumentRow:
    """Return a row of the table, read as ``COLUMNS`` are."""
    told = dict(zip(COLUMNS, values, strict=True))
    told["tags"] = tuple(json.loads(told["tags"])) if told["tags"] != "[]" else ()
    return DocumentRow(**told)


def _stored(row: DocumentRow) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in COLUMNS}
    values["tags"] = stored_json(list(row.tags)) if row.tags else "[]"
    return values


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


_known_columns = [documents.c[name] for name in ("path", "id", "version", "state", "fingerprint")]


def _page(path: ColumnElement[str]) -> Prepared:
    """Return the statement for one page, in the order of ``path``."""
    return Prepared(
        select(*_known_columns)
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
        for row in view.execute(select(*_known_columns).where(documents.c.path.in_(some))):
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
