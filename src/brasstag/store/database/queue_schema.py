"""The tables of procrastinate, which carries hints on Postgres, in the room's own schema."""

from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import Connection, insert, select, update

from brasstag.store.database.schema import facts

_FACT = "queue_schema"


def is_current(connection: Connection) -> bool:
    """Say whether the tables are those of the procrastinate installed here, or of a newer one."""
    known = _known(connection)
    return known is not None and known >= _newest()


def bring_up_to_date(connection: Connection) -> None:
    """Make the tables, or apply the changes that came with newer versions of procrastinate."""
    known = _known(connection)
    if known is None:
        from procrastinate.schema import SchemaManager  # noqa: PLC0415 - only a new room needs it

        _run(connection, SchemaManager.get_schema())
        connection.execute(insert(facts).values(name=_FACT, value=_newest()))
        return
    for file in _changes():
        if file.name > known:
            _run(connection, file.read_text(encoding="utf-8"))
    connection.execute(update(facts).where(facts.c.name == _FACT).values(value=max(known, _newest())))


def _known(connection: Connection) -> str | None:
    return connection.execute(select(facts.c.value).where(facts.c.name == _FACT)).scalar_one_or_none()


def _newest() -> str:
    return _changes()[-1].name


def _changes() -> list[Path]:
    """Return the files of changes, oldest first: their names begin with the version they came with."""
    # Found, not imported: to look whether the tables are current needs none of its code.
    package = find_spec("procrastinate")
    folders = (package and package.submodule_search_locations) or ()
    return sorted(file for folder in folders for file in Path(folder, "sql", "migrations").glob("*.sql"))


def _run(connection: Connection, statements: str) -> None:
    # On the driver's own cursor, which leaves the per cent signs in them alone.
    connection.connection.cursor().execute(statements)
