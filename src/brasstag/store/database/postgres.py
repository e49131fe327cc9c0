"""Postgres: one schema for each room, and as many writers at once as there are threads.

Every transaction begins and ends on the driver's own cursor, as on SQLite. ``look`` and ``add`` are one statement
each, which commits by itself. The first statement on a pooled connection also proves that the connection still lives:
a BEGIN, or a look, changes nothing, so a dead connection is replaced and the caller sees no error. What ``add`` sends
is never sent twice, as it may have happened: it looks for a sign of life first.
"""

import hashlib
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from sqlalchemy import Connection, create_engine, text

from brasstag.store.database.base import PATIENCE_SECONDS, Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.database.postgres_address import Address
from brasstag.store.database.postgres_errors import is_of_a_dead_connection, readable_errors
from brasstag.store.database.room_id import require_room_id
from brasstag.store.database.statements import Guarded, Prepared

_T = TypeVar("_T")

POOL_SIZE = 4
"""Connections kept open."""

MORE = 2 * POOL_SIZE
"""Connections made beside them while they are needed."""

IDLE_SECONDS = 20
"""A process that is stopped in the middle of a write holds its locks no longer than this; the server ends its session."""

_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_READ = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    # A read blocks no other transaction, and the program that reads may be slow: a pager, for example.
    "SET LOCAL idle_in_transaction_session_timeout = 0"
)


class PostgresTransaction(Transaction):
    """A write to Postgres, beside other writes."""

    def __init__(self, connection: Connection, cursor: Any, schema: str) -> None:
        super().__init__(connection, cursor)
        self._schema = schema

    def _wait_for(self, name: str) -> None:
        self._cursor.execute("SELECT pg_advisory_xact_lock(%s)", (lock_number(self._schema, name),))


class PostgresDatabase:
    """The room's tables in one schema of a server."""

    def __init__(self, address: Address, schema: str) -> None:
        """Name the server and the schema, which is the room's id; nothing is connected yet."""
        self.address = address
        self.schema = require_room_id(schema)
        self.parameters = address.parameters(
            {
                "search_path": schema,
                "synchronous_commit": "on",
                "default_transaction_isolation": r"read\ committed",
                "default_transaction_read_only": "off",
                "lock_timeout": f"{PATIENCE_SECONDS}s",
                "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
            }
        )
        self._engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: psycopg.connect(**self.parameters),
            isolation_level="AUTOCOMMIT",
            pool_size=POOL_SIZE,
            max_overflow=MORE,
            pool_timeout=PATIENCE_SECONDS,
        )

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One durable transaction; what it recorded is on disk when this block ends."""
        with readable_errors(self.address), self._begun(_WRITE) as (connection, cursor):
            transaction = PostgresTransaction(connection, cursor, self.schema)
            yield transaction
            transaction.commit()
        transaction.follow_up()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the tables: all of it as it was at the first look."""
        with readable_errors(self.address), self._begun(_READ) as (connection, _):
            yield connection

    def look(self, statement: Prepared, **values: Any) -> list[Any]:
        """Return the rows of one statement, which needs no view of more than itself: no BEGIN, no end, one way there."""

        def rows(connection: Connection, cursor: Any) -> list[Any]:
            return list(statement.run(cursor, connection.dialect, values).fetchall())

        with readable_errors(self.address), self._proven(rows) as (_, _, found):
            return found

    def add(self, statement: Guarded, **values: Any) -> bool:
        """Put one guarded row on disk, as a commit of its own: one way to the server, where a transaction takes three."""
        with readable_errors(self.address), self._proven(_require_sign_of_life) as (connection, cursor, _):
            return statement.run(cursor, connection.dialect, values)

    @contextmanager
    def rebuild(self) -> Iterator[Connection]:
        """A transaction for changes to the tables themselves, which SQLAlchemy begins and commits.

        One at a time; the first of all makes the schema.
        """
        with readable_errors(self.address), self._engine.connect() as plain:
            connection = plain.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                connection.execute(
                    text("SELECT pg_advisory_xact_lock(:number)"),
                    {"number": lock_number(self.schema, Lock.REBUILD.name_of())},
                )
                is_there = text("SELECT to_regnamespace(:name)")
                if connection.execute(is_there, {"name": self.schema}).scalar_one() is None:
                    connection.execute(text(f"CREATE SCHEMA {self.schema}"))
                yield connection

    def whereabouts(self) -> str:
        """Say where the tables are, and which server holds them; nothing in it is secret."""
        with self.read() as view:
            version = view.execute(text("SHOW server_version")).scalar_one()
        return f"Postgres {version} at {self.address.place}, schema {self.schema}"

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    @contextmanager
    def _begun(self, words: str) -> Iterator[tuple[Connection, Any]]:
        with self._proven(lambda _, cursor: cursor.execute(words)) as (connection, cursor, _):
            yield connection, cursor

    @contextmanager
    def _proven(self, ask: Callable[[Connection, Any], _T]) -> Iterator[tuple[Connection, Any, _T]]:
        """A connection, a cursor of it, and what it answered first, which proves that it lives."""
        connection, cursor, answer = self._ask(ask)
        try:
            yield connection, cursor, answer
        finally:
            _hand_back(connection, cursor)

    def _ask(self, ask: Callable[[Connection, Any], _T]) -> tuple[Connection, Any, _T]:
        # Every connection in the pool may have died with the server; the one after them is new.
        for others in reversed(range(POOL_SIZE + MORE + 1)):
            connection = self._engine.connect()
            cursor = connection.connection.cursor()
            try:
                return connection, cursor, ask(connection, cursor)
            except BaseException as error:
                _hand_back(connection, cursor)
                if not others or not is_of_a_dead_connection(error):
                    raise
        raise AssertionError("the last round returns or raises")


def lock_number(schema: str, name: str) -> int:
    """Return the number under which the server knows a lock of a room."""
    digest = hashlib.sha256(f"{schema}\n{name}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


def _require_sign_of_life(_: Connection, cursor: Any) -> None:
    """Raise as the driver does where the server has hung up: there is something to read where nothing was asked."""
    poll = select.poll()
    poll.register(cursor.connection.fileno(), select.POLLIN)
    if poll.poll(0):
        cursor.connection.close()
        raise psycopg.OperationalError("the server has hung up")


def _hand_back(connection: Connection, cursor: Any) -> None:
    """Return a connection to the pool with nothing left open on it, or drop it where that cannot be."""
    try:
        cursor.close()
        cursor.connection.rollback()
    except psycopg.Error:
        connection.invalidate()
    connection.close()
