"""SQLite in WAL mode: a single writer in each process, readers beside it."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlalchemy.pool import QueuePool, StaticPool

from brasstag.store.database.base import PATIENCE_SECONDS, Transaction
from brasstag.store.database.fair_lock import FairLock
from brasstag.store.database.index_damage import is_of_an_index_in_parts, is_of_the_index
from brasstag.store.database.schema import create_tables
from brasstag.store.database.statements import Guarded, Prepared
from brasstag.words.errors import IndexDamaged, StoreError, StoreLost

OLDEST_SQLITE = (3, 35)
"""The first with all we use."""

WRITER_CACHE_KIB = 16_000
"""What the writer remembers of the file: a large commit that does not fit is written more than once."""

QUEUE_SECONDS = 3.0
"""How long a writer waits in the queue; then it only asks SQLite, as the first in the queue may have stopped."""

SWITCH_SECONDS = 0.01
"""How long to wait before the next try to switch to the write-ahead log."""

_PASSING = ("locked", "busy", "is full", "disk I/O")
"""What SQLite says of troubles that pass: nothing was written, and the caller may try again."""


class SqliteTransaction(Transaction):
    """A write to SQLite, which has one writer at a time: an open transaction holds every lock."""

    def _wait_for(self, name: str) -> None:
        """Nothing to wait for: we are the writer."""


class SqliteDatabase:
    """The room's tables in one file, or in memory."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or a database in memory where ``path`` is None."""
        self._path = path
        self._engine = create_engine(
            f"sqlite:///{path}" if path else "sqlite://",
            poolclass=QueuePool if path else StaticPool,
            connect_args={"check_same_thread": False, "timeout": PATIENCE_SECONDS},
        )
        event.listen(self._engine, "connect", _prepare_connection)
        self._lock = threading.Lock()
        self._fair_lock = FairLock(path.with_name("writing.lock")) if path else None
        self._writer: Connection | None = None
        self._cursor: Any = None
        if path is None:
            with self._engine.begin() as connection:
                create_tables(connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One durable transaction; what it recorded is on disk when this block ends."""
        with self._lock, _readable_errors(self._path):
            if self._writer is None:
                # SQLAlchemy leaves transactions alone here: ours begin and end on the driver's own cursor.
                self._writer = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
                self._cursor = self._writer.connection.cursor()
                self._cursor.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB}")
            transaction = SqliteTransaction(self._writer, self._cursor)
            # Processes write in the order in which they came: SQLite lets those that wait sleep and try by chance.
            is_first = self._fair_lock is not None and self._fair_lock.acquire(QUEUE_SECONDS)
            try:
                self._cursor.execute("BEGIN IMMEDIATE")
                try:
                    yield transaction
                    transaction.commit()
                except BaseException:
                    self._roll_back(self._writer)
                    raise
            finally:
                if is_first and self._fair_lock is not None:
                    self._fair_lock.release()
        transaction.follow_up()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        # In memory there is one connection, so readers queue with writers.
        queue = self._lock if self._path is None else nullcontext()
        with queue, _readable_errors(self._path), self._engine.connect() as connection:
            yield connection

    def _roll_back(self, writer: Connection) -> None:
        if writer.connection.driver_connection.in_transaction:  # type: ignore[union-attr]
            self._cursor.execute("ROLLBACK")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view of the tables: all of it as it was at the first look."""
        with self._connected() as connection:
            # BEGIN on the driver, at once: a look without SQLAlchemy sees the same moment. The pool ends it.
            connection.connection.driver_connection.execute("BEGIN")  # type: ignore[union-attr]
            yield connection

    def look(self, statement: Prepared, **values: Any) -> list[Any]:
        """Return the rows of one statement, which needs no view of more than itself."""
        with self._connected() as connection:
            return statement.rows(connection, **values)

    def add(self, statement: Guarded, **values: Any) -> bool:
        """Put one guarded row on disk, as a commit of its own; returns whether it went in."""
        with self.write() as transaction:
            return transaction.run_guarded(statement, **values)

    @contextmanager
    def rebuild(self) -> Iterator[Connection]:
        """A transaction for changes to the tables themselves, which SQLAlchemy begins and commits."""
        with self._lock, _readable_errors(self._path), self._engine.begin() as connection:
            connection.exec_driver_sql("BEGIN")
            yield connection

    @contextmanager
    def watch(self) -> Iterator[Callable[[], int]]:
        """Yield a cheap look: a function whose number is another one after another connection has committed.

        No other process can see a database in memory, so there the number stays.
        """
        if self._path is None:
            yield int
            return
        with closing(
            sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        ) as connection:

            def look() -> int:
                with _readable_errors(self._path):
                    return int(connection.execute("PRAGMA data_version").fetchone()[0])

            yield look

    def whereabouts(self) -> str:
        """Say where the tables are."""
        return f"SQLite, {self._path or 'in memory'}"

    def close(self) -> None:
        """Let go of every connection."""
        with self._lock:
            if self._writer is not None:
                self._cursor.close()
                self._writer.close()
                self._writer = self._cursor = None
            if self._fair_lock is not None:
                self._fair_lock.close()
            self._engine.dispose()


def sqlite_version() -> tuple[int, ...]:
    """Return the version of the SQLite this Python brings."""
    return sqlite3.sqlite_version_info


@contextmanager
def _readable_errors(path: Path | None) -> Iterator[None]:
    try:
        yield
    except (IntegrityError, sqlite3.IntegrityError):
        raise
    except (DatabaseError, sqlite3.DatabaseError) as error:
        raise _as_store_error(getattr(error, "orig", error), path) from error


def _as_store_error(error: Any, path: Path | None) -> StoreError:
    said = str(error)
    if is_of_the_index(error) or (path is not None and is_of_an_index_in_parts(error, path)):
        return IndexDamaged(said)
    if isinstance(error, sqlite3.OperationalError):
        kind = StoreLost if any(word in said for word in _PASSING) else StoreError
        mend = _mend(said)
        hint = "" if mend else "`brasstag doctor` says more"
        return kind(f"the room's database cannot be used: {said}. {mend}".strip(), hint=hint)
    return StoreError(
        f"the room's database is damaged: {said}. Keep a copy of .brasstag/ and restore state.db from a backup."
    )


def _mend(message: str) -> str:
    if "is full" in message or "disk I/O" in message:
        return "Free some disk space and try again; nothing was half written."
    if "locked" in message:
        return "Another process held it for too long; try again."
    if "readonly" in message or "unable to open" in message:
        return "Check that you may write to .brasstag/."
    return ""


def _prepare_connection(connection: Any, _record: Any) -> None:
    # We say BEGIN ourselves: the driver's own would take the write lock too late to be fair between processes.
    connection.isolation_level = None
    _write_ahead(connection)
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _write_ahead(connection: Any) -> None:
    """Switch to the write-ahead log. SQLite does not wait while another process does the same, so this does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    is_waiting = True
    while is_waiting:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            is_waiting = False
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(SWITCH_SECONDS)
