"""The full-text index as a whole: whether it holds every document it should, and how it is made anew."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, case, column, exists, func, select, table, text, update
from sqlalchemy.exc import DatabaseError

from brasstag.store.damage import of_the_index
from brasstag.store.database import Transaction
from brasstag.store.documents import Pending
from brasstag.store.locks import Lock
from brasstag.store.schema import SQLITE_FULLTEXT, conversions, documents
from brasstag.words.previews import ABSENT, file_state

POSTGRES_FULLTEXT = (
    """CREATE TABLE fulltext (
        id integer PRIMARY KEY, body text NOT NULL, length integer NOT NULL,
        lexemes tsvector NOT NULL, in_order text NOT NULL, standing text[] NOT NULL DEFAULT '{}'
    ) WITH (toast_tuple_target = 8160)""",
    "ALTER TABLE fulltext ALTER COLUMN lexemes SET STORAGE EXTERNAL",
    "CREATE INDEX fulltext_lexemes ON fulltext USING gin (lexemes)",
    "CREATE INDEX fulltext_standing ON fulltext USING gin (standing)",
)
"""The index on Postgres, as the migrations make it."""

_DROP = text("DROP TABLE IF EXISTS fulltext")
# What FTS5 keeps a table in; it opens that before it drops it, which damage may prevent.
_SHADOWS = ("data", "idx", "content", "docsize", "config")
_PULLED_OUT = (
    "PRAGMA writable_schema = ON",
    "DELETE FROM sqlite_master WHERE name = 'fulltext'",
    "PRAGMA writable_schema = RESET",
    *(f"DROP TABLE IF EXISTS fulltext_{name}" for name in _SHADOWS),
)

_IS_THERE = documents.c.state != ABSENT
# The lengths of texts are the smallest of what FTS5 keeps a row a text of.
_HELD = {"sqlite": table("fulltext_docsize", column("id")), "postgresql": table("fulltext", column("id"))}


def forget_index(transaction: Transaction, converted: Collection[str]) -> None:
    """Make the index anew, whatever has become of it; every document waits for its text.

    Documents of the types in ``converted`` wait to be converted first.
    """
    transaction.lock(Lock.DOCUMENTS)
    is_postgres = transaction.connection.dialect.name == "postgresql"
    try:
        transaction.execute(_DROP)
    except DatabaseError:
        if is_postgres:
            raise
        for statement in _PULLED_OUT:
            transaction.execute(text(statement))
    for statement in POSTGRES_FULLTEXT if is_postgres else SQLITE_FULLTEXT:
        transaction.execute(text(statement))
    _let_wait(transaction, _IS_THERE, converted)
    # Looked at again, too: what could not be read then may be a text now.
    transaction.execute(update(documents).where(_IS_THERE).values(fingerprint=""))


def expect_outdated(transaction: Transaction, converter: str) -> None:
    """Let documents wait to be converted again whose text in the index another converter made."""
    transaction.lock(Lock.DOCUMENTS)
    is_outdated = exists().where(
        conversions.c.digest == func.substr(documents.c.state, len(file_state("")) + 1),
        conversions.c.media_type == documents.c.media_type,
        conversions.c.converter.not_in(("", converter)),
    )
    transaction.execute(
        update(documents)
        .where(_IS_THERE, documents.c.pending == Pending.NOTHING, is_outdated)
        .values(pending=Pending.CONVERT)
    )


def count_missing(view: Connection) -> int:
    """Return how many documents the index should hold and does not; raise IndexDamaged where nobody can say."""
    with of_the_index():
        missing = select(func.count()).select_from(documents).where(_is_missing(view))
        return int(view.execute(missing).scalar_one())


def expect_missing(transaction: Transaction, converted: Collection[str]) -> None:
    """Let documents wait for their text that the index should hold and does not."""
    transaction.lock(Lock.DOCUMENTS)
    with of_the_index():
        _let_wait(transaction, _is_missing(transaction.connection), converted)


def require_sound_index(transaction: Transaction) -> None:
    """Compare the index with all the texts it keeps, as far as a database can; raise IndexDamaged where they differ."""
    if transaction.connection.dialect.name == "sqlite":
        with of_the_index():
            transaction.execute(text("INSERT INTO fulltext (fulltext) VALUES ('integrity-check')"))


def _is_missing(view: Connection) -> ColumnElement[bool]:
    held = _HELD[view.dialect.name]
    is_held = exists().where(held.c.id == documents.c.id)
    return _IS_THERE & (documents.c.pending == "") & ~is_held


def _let_wait(transaction: Transaction, which: ColumnElement[bool], converted: Collection[str]) -> None:
    first = case((documents.c.media_type.in_(sorted(converted)), Pending.CONVERT), else_=Pending.TEXT)
    transaction.execute(update(documents).where(which).values(pending=first, note=""))
