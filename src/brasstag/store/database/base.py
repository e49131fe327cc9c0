"""What every database offers: ``write``, ``read``, and transactions with actions after the commit.

sqlite     one file in the project, or memory: one writer at a time, readers beside it
postgres   one schema of a server: many writers at once
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Connection

from brasstag.store.database.locks import Keyring, Lock
from brasstag.store.database.statements import Guarded, Prepared

log = logging.getLogger("brasstag")

PATIENCE_SECONDS = 30
"""How long a writer waits for another transaction that holds a lock it needs."""

AfterCommit = Callable[[], None]
BeforeCommit = Callable[[], None]

View = Connection
"""What a reader is given; other packages use it by this name and never send SQL to it."""


class Transaction(ABC):
    """What a write holds: the connection, and what to do once the commit is on disk."""

    def __init__(self, connection: Connection, cursor: Any) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.before_commit: list[BeforeCommit] = []
        """Run last, before the commit: actions that take the room-wide lock, so that it is held only briefly."""
        self.after_commit: list[AfterCommit] = []
        self._keys = Keyring()
        self._cursor = cursor
        self._dialect = connection.dialect

    def run(self, statement: Prepared, **values: Any) -> Any:
        """Run a prepared statement; returns the driver's cursor."""
        return statement.run(self._cursor, self._dialect, values)

    def run_guarded(self, statement: Guarded, **values: Any) -> bool:
        """Run a guarded insertion; returns whether the row went in."""
        return statement.run(self._cursor, self._dialect, values)

    def run_many(self, statement: Prepared, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a prepared statement once for each row."""
        statement.run_many(self._cursor, self._dialect, rows)

    def lock(self, lock: Lock, which: str = "") -> None:
        """Wait until no other transaction of the room holds this lock; it is let go of at the end."""
        if self._keys.take(lock, which):
            self._wait_for(lock.name_of(which))

    def touch_tasks(self) -> None:
        """Say that rows of tasks are locked now; no lock that comes earlier in the order may be taken after that."""
        self._keys.take(Lock.TASKS)

    @abstractmethod
    def _wait_for(self, name: str) -> None:
        """Wait until no other transaction of the room holds the lock of this name."""

    def commit(self) -> None:
        """Do what comes last, and put everything on disk."""
        for act in self.before_commit:
            act()
        self._cursor.execute("COMMIT")

    def follow_up(self) -> None:
        """Run the actions after the commit; it is on disk, so an error now must not look like a failed commit."""
        for act in self.after_commit:
            try:
                act()
            except Exception as error:  # noqa: BLE001 - the commit stands, whatever it is
                log.warning("a commit is on disk, but what follows it failed: %s", _told(error))


def _told(error: Exception) -> str:
    """Return what went wrong; an error of the host is given without its path."""
    said = error.strerror if isinstance(error, OSError) else None
    return said or f"{type(error).__name__}: {error}"


class Database(Protocol):
    """The room's tables, used through ``write`` and ``read``."""

    def write(self) -> AbstractContextManager[Transaction]:
        """One durable transaction; what it recorded is on disk when this block ends."""

    def read(self) -> AbstractContextManager[Connection]:
        """A consistent view of the tables."""

    def look(self, statement: Prepared, **values: Any) -> list[Any]:
        """Return the rows of one statement, which needs no view of more than itself."""

    def add(self, statement: Guarded, **values: Any) -> bool:
        """Put one guarded row on disk, as a commit of its own; returns whether it went in."""

    def rebuild(self) -> AbstractContextManager[Connection]:
        """A transaction for changes to the tables themselves, which SQLAlchemy begins and commits."""

    def whereabouts(self) -> str:
        """Say where the tables are, and which program holds them; nothing in it is secret."""

    def close(self) -> None:
        """Let go of every connection."""
