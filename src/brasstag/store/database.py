"""One database, SQLite in WAL mode: a single writer per process, readers beside it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.pool import QueuePool, StaticPool

from brasstag.store.schema import metadata
from brasstag.words.errors import StoreError

BUSY_MILLISECONDS = 30_000
"""How long a writer waits for a writer of another process."""

AfterCommit = Callable[[], None]

View = Connection
"""What a reader is handed; other rooms know it by this name and never speak SQL to it."""


class Transaction:
    """What a write holds: the connection, and what to do once the commit is on disk."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.after_commit: list[AfterCommit] = []


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
        if path is None:
            metadata.create_all(self._engine)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One durable transaction; what it recorded is on disk when this block ends."""
        with self._lock, _readable_errors():
            if self._writer is None:
                self._writer = self._engine.connect().execution_options(brasstag_write=True)
            with self._writer.begin():
                transaction = Transaction(self._writer)
                yield transaction
            for act in transaction.after_commit:
                act()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the tables; in memory there is one connection, so readers queue with writers."""
        if self.path is None:
            with self._lock, _readable_errors(), self._engine.connect() as connection:
                yield connection
        else:
            with _readable_errors(), self._engine.connect() as connection:
                yield connection

    def close(self) -> None:
        """Let go of every connection."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._engine.dispose()


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise StoreError(
            f"the room's database cannot be used: {error.orig}. {_mend(str(error.orig))}"
        ) from error
    except DatabaseError as error:
        if "IntegrityError" in type(error).__name__:
            raise
        raise StoreError(
            f"the room's database is damaged: {error.orig}. "
            "Keep a copy of .brasstag/ and restore state.db from a backup."
        ) from error


def _mend(message: str) -> str:
    if "full" in message:
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
    write = connection.get_execution_options().get("brasstag_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
