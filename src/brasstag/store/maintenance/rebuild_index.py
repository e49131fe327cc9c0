"""The full-text index as a whole: whether it holds every document it should, and how it is rebuilt."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, case, column, exists, func, select, table, text, update
from sqlalchemy.exc import DatabaseError

from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.index_damage import of_the_index
from brasstag.store.database.locks import Lock
from brasstag.store.database.schema import POSTGRES_FULLTEXT, SQLITE_FULLTEXT, conversions, documents
from brasstag.store.documents.rows import Pending
from brasstag.words.previews import ABSENT, file_state

_DROP = text("DROP TABLE IF EXISTS fulltext")
# The tables in which FTS5 keeps its data. FTS5 opens them before a drop, and damage may prevent that.
_SHADOWS = ("data", "idx", "content", "docsize", "config")
_PULLED_OUT = (
    "PRAGMA writable_schema = ON",
    "DELETE FROM sqlite_master WHERE name = 'fulltext'",
    "PRAGMA writable_schema = RESET",
    *(f"DROP TABLE IF EXISTS fulltext_{name}" for name in _SHADOWS),
)

_IS_THERE = documents.c.state != ABSENT
# Of the FTS5 tables with one row for each text, the one with the lengths is the smallest.
_HELD = {"sqlite": table("fulltext_docsize", column("id")), "postgresql": table("fulltext", column("id"))}


def forget_index(database: Database, converted: Collection[str]) -> None:
    """Make a new, empty index, whatever state the old one is in; every document waits for its text.

    Documents of the types in ``converted`` wait to be converted first.
    """
    with database.write() as transaction:
        transaction.lock(Lock.DOCUMENTS)
        _replace_index(transaction)
        _let_wait(transaction, _IS_THERE, converted)
        # Scan the files again, too: a file that could not be read before may be a text now.
        transaction.execute(update(documents).where(_IS_THERE).values(fingerprint=""))


def _replace_index(transaction: Transaction) -> None:
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


def expect_outdated(database: Database, converter: str) -> None:
    """Let documents wait to be converted again whose text in the index another converter made."""
    is_outdated = exists().where(
        conversions.c.digest == func.substr(documents.c.state, len(file_state("")) + 1),
        conversions.c.media_type == documents.c.media_type,
        conversions.c.converter.not_in(("", converter)),
    )
    with database.write() as transaction:
        transaction.lock(Lock.DOCUMENTS)
        transaction.execute(
            update(documents)
            .where(_IS_THERE, documents.c.pending == Pending.NOTHING, is_outdated)
            .values(pending=Pending.CONVERT)
        )


def count_missing(view: Connection) -> int:
    """Return how many documents the index should hold and does not; raise IndexDamaged where that is not known."""
    with of_the_index():
        missing = select(func.count()).select_from(documents).where(_is_missing(view))
        return int(view.execute(missing).scalar_one())


def notice_missing(database: Database, converted: Collection[str]) -> None:
    """Let documents wait for text that the index has lost, so that an incomplete index never counts as complete."""
    with database.read() as view:
        if not count_missing(view):
            return
    with database.write() as transaction:
        transaction.lock(Lock.DOCUMENTS)
        with of_the_index():
            _let_wait(transaction, _is_missing(transaction.connection), converted)


def require_sound_index(database: Database) -> None:
    """Compare the index with all the texts it keeps, as far as a database can; raise IndexDamaged where they differ."""
    with database.write() as transaction:
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
