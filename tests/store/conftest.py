from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brasstag.store.contents.blobs import Blobs
from brasstag.store.database.base import Database
from brasstag.store.database.migrate import migrate
from brasstag.store.database.postgres import PostgresDatabase
from brasstag.store.database.postgres_address import Address
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.store.open import open_jobs
from brasstag.store.store import Store
from brasstag.store.tasks.processes import ProcessLock
from brasstag.store.tasks.writer import Desk
from brasstag.store.timeline.seals import Sealer, load_or_create_key
from brasstag.words.calls import Call
from brasstag.words.ids import new_id
from tests.postgres import Server

OpenDatabase = Callable[[], Database]
OpenBooks = Callable[[], Store]

on_sqlite = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
"""For what is said of files."""

on_postgres = pytest.mark.parametrize("kind", ["postgres"], indirect=True)
"""For what is said of several writers at once, or of a server."""


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which database a test runs on: on each in turn."""
    return str(request.param)


@pytest.fixture
def open_bare(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[OpenDatabase]:
    """Open the same room's database as often as wanted, without any tables in it at first."""
    opened: list[Database] = []
    state = tmp_path / "state"
    state.mkdir()
    room = new_id("room")
    server: Server | None = request.getfixturevalue("postgres") if kind == "postgres" else None

    def open_again() -> Database:
        database: Database = (
            PostgresDatabase(Address(server.url), room) if server else SqliteDatabase(state / "state.db")
        )
        opened.append(database)
        return database

    yield open_again
    for database in opened:
        database.close()
    if server:
        server.execute(f"DROP SCHEMA IF EXISTS {room} CASCADE")


@pytest.fixture
def open_database(open_bare: OpenDatabase, tmp_path: Path) -> OpenDatabase:
    """Open the same room's tables as often as wanted, each time as another process would."""

    def open_again() -> Database:
        database = open_bare()
        migrate(database, tmp_path / "state" / "migrate.lock")
        return database

    return open_again


@pytest.fixture
def database(open_database: OpenDatabase) -> Database:
    return open_database()


@pytest.fixture
def open_store(open_database: OpenDatabase, tmp_path: Path) -> OpenBooks:
    """Open the same room's books as often as wanted, each time as another process would."""

    def open_again() -> Store:
        database = open_database()
        sealer = Sealer(load_or_create_key(tmp_path / "user"), tmp_path / "user" / "witness.json")
        boot = ProcessLock(tmp_path / "state" / "boots")
        blobs = Blobs(tmp_path / "state" / "blobs")
        return Store(database, blobs, sealer, boot.id, jobs=open_jobs(database))

    return open_again


@pytest.fixture
def store(open_store: OpenBooks) -> Store:
    return open_store()


def open_desk(store: Store) -> str:
    desk = Desk(new_id("task"), "cli:ada", "operator", "test")
    store.expect_desk(desk)
    return desk.id


def call_at(task_id: str, tool: str = "read_file", **arguments: object) -> Call:
    return Call(new_id("call"), tool, arguments, "cli:ada", "operator", task_id)
