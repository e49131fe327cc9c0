"""Rows of documents: what is derived of a path's versions and of the disk, and what people and agents say of it.

A scan makes them, brings them up to date and deletes them. Others change what a scan leaves as it finds it: annotating the
description and the tags, indexing and reindexing what the index still needs. All hold the lock on documents.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, or_, select, update

from brasstag.store.database import Transaction
from brasstag.store.parts import in_parts
from brasstag.store.prepared import Prepared
from brasstag.store.schema import documents, versions
from brasstag.words.canonical import stored_json
from brasstag.words.previews import ABSENT


class Pending(StrEnum):
    """What the index of a document still needs."""

    NOTHING = ""
    TEXT = "text"
    """The bytes are its text, and have to be read."""
    CONVERT = "convert"
    """Its text shows only once it is converted."""
    SLOW = "slow"
    """The same, by somebody with more patience than a search has."""


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
    """Return the highest id of a row; whoever holds the lock on documents may give out the next ones."""
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
