"""Bring a database to the newest schema; one look is enough when it is current."""

from pathlib import Path

from filelock import FileLock
from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, text

from brasstag.store.database import queue_schema
from brasstag.store.database.base import Database
from brasstag.store.database.schema import create_tables
from brasstag.words.errors import StoreError

HEAD = "0008"
"""The newest revision; a test holds it equal to what the migrations say."""

_revisions = MetaData()
_alembic_version = Table(
    "alembic_version",
    _revisions,
    Column("version_num", String(32), primary_key=True),
)
"""Where Alembic looks for the revision a database is at."""


def migrate(database: Database, lock_file: Path) -> None:
    """Upgrade where needed; two processes that open a new room together do it once."""
    if _is_current(database):
        return
    with FileLock(lock_file):
        if _is_current(database):
            return
        found = revision(database)
        if found is not None and found > HEAD:
            raise StoreError(
                f"this room was opened by a newer Brasstag (schema {found}, this one knows {HEAD}); upgrade Brasstag"
            )
        with database.rebuild() as connection:
            _upgrade(connection)


def revision(database: Database) -> str | None:
    """Return the revision a database is at, or None where it holds no room."""
    with database.read() as connection:
        return _revision(connection)


def _is_current(database: Database) -> bool:
    with database.read() as connection:
        return _revision(connection) == HEAD and _has_queue(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return None if found is None else str(found)


def _has_queue(connection: Connection) -> bool:
    return connection.dialect.name != "postgresql" or queue_schema.is_current(connection)


def _upgrade(connection: Connection) -> None:
    if _revision(connection) is None:
        # This saves the import of the code that runs migrations, which takes half a second.
        create_tables(connection)
        _revisions.create_all(connection, checkfirst=False)
        connection.execute(_alembic_version.insert().values(version_num=HEAD))
    else:
        _run_migrations(connection)
    if connection.dialect.name == "postgresql":
        queue_schema.bring_up_to_date(connection)


def _run_migrations(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - half a second that an up-to-date room never pays
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
