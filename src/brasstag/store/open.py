"""Open a room's state: which database it is in, and that it is the same one as before.

On SQLite it is ``state.db``; on Postgres a schema named after the room, and the file ``room`` says which. One of the two
is there from the first opening on; whatever does not fit it is refused, as it would begin the room anew.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from filelock import FileLock

from brasstag.store.database.base import Database
from brasstag.store.database.migrate import migrate, revision
from brasstag.store.database.postgres_address import DATABASE_VARIABLE, Address, address_error
from brasstag.store.database.room_id import require_room_id, room_id
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.store.tasks.hints import Jobs
from brasstag.words.errors import StoreError
from brasstag.words.ids import new_id

if TYPE_CHECKING:
    from brasstag.store.database.postgres import PostgresDatabase


def open_database(state: Path, url: str) -> tuple[Database, str]:
    """Return a project's tables, made or migrated where needed, and the room's id; an empty ``url`` means SQLite."""
    _require_same_home(state, url)
    database, name = _on_postgres(state, url) if url else (SqliteDatabase(state / "state.db"), "")
    try:
        migrate(database, state / "migrate.lock")
        return database, room_id(database, name)
    except BaseException:
        database.close()
        raise


def open_existing(state: Path, url: str, seconds: int) -> Database:
    """Return a project's tables as they are, for a quick look; a server gets so many seconds to answer.

    Raises OSError where there are none.
    """
    if not url:
        (state / "state.db").stat()
        return SqliteDatabase(state / "state.db")
    from brasstag.store.database.postgres import PostgresDatabase  # noqa: PLC0415 - the driver is an extra

    database = PostgresDatabase(Address(url), (state / "room").read_text().strip())
    database.parameters["connect_timeout"] = seconds
    return database


def open_jobs(database: Database) -> Jobs:
    """Return what brings ready tasks of this database to the workers that serve them."""
    if isinstance(database, SqliteDatabase):
        from brasstag.store.jobs.sqlite import EmbeddedJobs  # noqa: PLC0415 - one of the two is needed

        return EmbeddedJobs(database)
    from brasstag.store.jobs.procrastinate import ProcrastinateJobs  # noqa: PLC0415

    return ProcrastinateJobs(cast("PostgresDatabase", database))


def _require_same_home(state: Path, url: str) -> None:
    if url and (state / "state.db").exists():
        raise address_error(
            f"is set, but this project keeps its state in {state.name}/state.db",
            "Unset it to go on there, or make a new project for Postgres.",
        )
    if not url and (state / "room").exists():
        raise address_error(
            f"is not set, but this project keeps its state on Postgres ({state.name}/room)",
            "Set it to that database.",
        )


def _on_postgres(state: Path, url: str) -> tuple[Database, str]:
    try:
        from brasstag.store.database.postgres import PostgresDatabase  # noqa: PLC0415 - the driver is an extra
    except ImportError as error:
        raise address_error(
            "is set, but the driver for Postgres is not installed", "Run `pip install 'brasstag[postgres]'`."
        ) from error
    address = Address(url)
    file = state / "room"
    if not file.exists():
        with FileLock(state / "room.lock"):
            if not file.exists():
                _make_room(PostgresDatabase(address, new_id("room")), state, file)
    name = require_room_id(file.read_text().strip())
    database = PostgresDatabase(address, name)
    if revision(database) is None:
        database.close()
        raise StoreError(
            f"{name}, the room of this project, is not in the database that {DATABASE_VARIABLE} names. "
            "Set it to the database the project was begun with, or restore the room there from a backup"
        )
    return database, name


def _make_room(database: "PostgresDatabase", state: Path, file: Path) -> None:
    try:
        migrate(database, state / "migrate.lock")
    finally:
        database.close()
    # The file comes last: a crash before it leaves a schema no project uses, never a name without a room.
    temporary = file.with_suffix(".tmp")
    with temporary.open("w") as stream:
        stream.write(f"{database.schema}\n")
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
