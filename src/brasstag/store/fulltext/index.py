"""The full-text index: one row for each document, written in the commit that changes the document.

SQLite     a table of FTS5, which keeps the texts it indexes
Postgres   a table of texts with what ``vectors`` makes of them

Each holds a document's path, its words (description and tags) and its body.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from brasstag.store.database.base import Transaction
from brasstag.store.database.index_damage import of_the_index
from brasstag.store.database.statements import Prepared
from brasstag.store.fulltext.lexemes import joined, set_apart, storable
from brasstag.store.fulltext.postgres_vectors import vector_of

LONGEST_BODY = 6_000_000
"""Characters of a body that are indexed."""

_sqlite_insert = Prepared(
    text("INSERT INTO fulltext (rowid, path, words, body) VALUES (:id, :path, :words, :body)")
)
_sqlite_replace = Prepared(
    text("INSERT OR REPLACE INTO fulltext (rowid, path, words, body) VALUES (:id, :path, :words, :body)")
)
_sqlite_label = Prepared(text("UPDATE fulltext SET path = :path, words = :words WHERE rowid = :id"))
_sqlite_drop = Prepared(text("DELETE FROM fulltext WHERE rowid = :id"))

_INSERT = (
    "INSERT INTO fulltext (id, body, length, lexemes, in_order, standing)"
    " VALUES (:id, :body, :length, CAST(:lexemes AS tsvector), :in_order, CAST(:standing AS text[]))"
)
_postgres_insert = Prepared(text(_INSERT))
_postgres_replace = Prepared(
    text(
        f"{_INSERT} ON CONFLICT (id) DO UPDATE SET body = excluded.body, length = excluded.length,"
        " lexemes = excluded.lexemes, in_order = excluded.in_order, standing = excluded.standing"
    )
)
_postgres_body = Prepared(text("SELECT body FROM fulltext WHERE id = :id"))
_postgres_drop = Prepared(text("DELETE FROM fulltext WHERE id = :id"))


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index holds of one document."""

    id: int
    path: str
    words: str
    """Its description and tags."""
    body: str


@dataclass(frozen=True, slots=True)
class Labels:
    """What the index holds of one document beside its body."""

    id: int
    path: str
    words: str


def put_texts(
    transaction: Transaction, rows: Sequence[Indexed], *, are_new: bool = False
) -> Mapping[int, str]:
    """Index documents in place of what the index held of them; say of which only a part is indexed, and how much.

    ``are_new`` promises that the index holds nothing of them, which saves a look.
    """
    if not rows:
        return {}
    put = _put_on_postgres if _is_postgres(transaction) else _put_on_sqlite
    with of_the_index():
        return put(transaction, rows, are_new)


def put_words(transaction: Transaction, rows: Sequence[Labels]) -> None:
    """Index documents under new paths and words; their bodies stay as they are."""
    if not _is_postgres(transaction):
        labels = [{"id": row.id, "path": set_apart(row.path), "words": set_apart(row.words)} for row in rows]
        if labels:
            with of_the_index():
                transaction.run_many(_sqlite_label, labels)
        return
    for row in rows:
        with of_the_index():
            held = transaction.run(_postgres_body, id=row.id).fetchall()
        for (body,) in held:
            put_texts(transaction, [Indexed(row.id, row.path, row.words, body)])


def drop_texts(transaction: Transaction, ids: Iterable[int]) -> None:
    """Take documents out of the index."""
    gone = [{"id": number} for number in ids]
    if gone:
        with of_the_index():
            transaction.run_many(_postgres_drop if _is_postgres(transaction) else _sqlite_drop, gone)


def shown_body(stored: str) -> str:
    """Return a body as it was before the index took it."""
    return joined(stored)


def _is_postgres(transaction: Transaction) -> bool:
    return transaction.connection.dialect.name == "postgresql"


def _put_on_sqlite(transaction: Transaction, rows: Sequence[Indexed], are_new: bool) -> dict[int, str]:
    values = [
        {
            "id": row.id,
            "path": set_apart(row.path),
            "words": set_apart(row.words),
            "body": set_apart(row.body[:LONGEST_BODY]),
        }
        for row in rows
    ]
    transaction.run_many(_sqlite_insert if are_new else _sqlite_replace, values)
    return {row.id: _cut_note() for row in rows if len(row.body) > LONGEST_BODY}


def _put_on_postgres(transaction: Transaction, rows: Sequence[Indexed], are_new: bool) -> dict[int, str]:
    notes: dict[int, str] = {}
    values: list[dict[str, Any]] = []
    for row in rows:
        body = storable(row.body[:LONGEST_BODY])
        vector = vector_of(row.path, row.words, body)
        if not vector.is_whole:
            notes[row.id] = f"only its first {vector.length:,} words are in the index"
        elif len(row.body) > LONGEST_BODY:
            notes[row.id] = _cut_note()
        values.append(
            {
                "id": row.id,
                "body": body,
                "length": vector.length,
                "lexemes": vector.lexemes,
                "in_order": vector.in_order,
                "standing": vector.standing,
            }
        )
    transaction.run_many(_postgres_insert if are_new else _postgres_replace, values)
    return notes


def _cut_note() -> str:
    return f"only its first {LONGEST_BODY:,} characters are in the index"
