"""One database, SQLite in WAL mode: a single writer per process, readers beside it."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.pool import QueuePool, StaticPool

from brasstag.store.prepared import Prepared
from brasstag.store.schema import metadata
from brasstag.words.errors import StoreError

log = logging.getLogger("brasstag")

BUSY_MILLISECONDS = 30_000
"""How long a writer waits for a writer of another process."""

OLDEST_SQLITE = (3, 35)
"""The first with all we use."""

AfterCommit = Callable[[], None]
BeforeCommit = Callable[[], None]

View = Connection
"""What a reader is handed; other rooms know it by this name and never speak SQL to it."""


class Transaction:
    """What a write holds: the connection, and what to do once the commit is on disk."""

    def __init__(self, connection: Connection, cursor: Any) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.before_commit: list[BeforeCommit] = []
        """Done last of all: what takes the room-wide lock, so that it is held as briefly as can be."""
        self.after_commit: list[AfterCommit] = []
        self._cursor = cursor
        self._dialect = connection.dialect

    def run(self, statement: Prepared, **values: Any) -> Any:
        """Run a prepared statement; returns the driver's cursor."""
        return statement.run(self._cursor, self._dialect, values)

    def run_many(self, statement: Prepared, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a prepared statement once for each row."""
        statement.run_many(self._cursor, self._dialect, rows)

    def lock(self, what: str) -> None:
        """Wait until no other transaction of the room holds this lock; it is let go of at the end.

        Locks are taken in this order: leases, then task rows (child before parent), then seals.
        """
        # SQLite has one writer at a time, and we are it.


class Database:
    """The room's tables, behind two doors: ``write`` and ``read``."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or a database in memory where ``path`` is None."""
        self.path = path
        self._engine = create_engine(
            f"sqlite:///{path}" if path else "sqlite://",
            poolclass=QueuePool if path else StaticPool,
            connect_args={"check_same_thread": False, "timeout": BUSY_MILLISECONDS / 1000},
        )
        event.listen(self._engine, "connect", _prepare_connection)
        event.listen(self._engine, "begin", _begin)
        self._lock = threading.Lock()
        self._writer: Connection | None = None
        self._cursor: Any = None
        if path is None:
            metadata.create_all(self._engine)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One durable transaction; what it recorded is on disk when this block ends."""
        with self._lock, _readable_errors():
            if self._writer is None:
                # SQLAlchemy leaves transactions alone here: ours begin and end on the driver's own cursor.
                self._writer = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                self._cursor = self._writer.connection.cursor()
            transaction = Transaction(self._writer, self._cursor)
            self._cursor.execute("BEGIN IMMEDIATE")
            try:
                yield transaction
                for act in transaction.before_commit:
                    act()
                self._cursor.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            for act in transaction.after_commit:
                _carry_out(act)

    def _roll_back(self) -> None:
        assert self._writer is not None  # noqa: S101 - only write() comes here
        if self._writer.connection.driver_connection.in_transaction:  # type: ignore[union-attr]
            self._cursor.execute("ROLLBACK")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the tables; in memory there is one connection, so readers queue with writers."""
        if self.path is None:
            with self._lock, _readable_errors(), self._engine.connect() as connection:
                yield connection
        else:
            with _readable_errors(), self._engine.connect() as connection:
                yield connection

    @contextmanager
    def rebuild(self) -> Iterator[Connection]:
        """A transaction for whoever changes the tables themselves, which SQLAlchemy begins and commits."""
        with self._lock, _readable_errors(), self._engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Let go of every connection."""
        with self._lock:
            if self._writer is not None:
                self._cursor.close()
                self._writer.close()
                self._writer = self._cursor = None
            self._engine.dispose()


def sqlite_version() -> tuple[int, ...]:
    """Return the version of the SQLite this Python brings."""
    return sqlite3.sqlite_version_info


def _carry_out(act: AfterCommit) -> None:
    """Do what follows a commit; it is on disk, and nothing that goes wrong now may say otherwise."""
    try:
        act()
    except OSError as error:
        log.warning("a commit is on disk, but what follows it failed: %s", error.strerror)


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except (IntegrityError, sqlite3.IntegrityError):
        raise
    except (OperationalError, sqlite3.OperationalError) as error:
        said = getattr(error, "orig", error)
        raise StoreError(f"the room's database cannot be used: {said}. {_mend(str(said))}") from error
    except (DatabaseError, sqlite3.DatabaseError) as error:
        raise StoreError(
            f"the room's database is damaged: {getattr(error, 'orig', error)}. "
            "Keep a copy of .brasstag/ and restore state.db from a backup."
        ) from error


def _mend(message: str) -> str:
    if "full" in message or "disk I/O" in message:
        return "Free some disk space and try again; nothing was half written."
    if "locked" in message:
        return "Another process held it for too long; try again."
    if "readonly" in message or "unable to open" in message:
        return "Check that you may write to .brasstag/."
    return "Run `brasstag doctor` for more."


def _prepare_connection(connection: Any, _record: Any) -> None:
    # We say BEGIN ourselves: the driver's own would take the write lock too late to be fair between processes.
    connection.isolation_level = None
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN")
