import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from brasstag.store.database import migrate as migrating
from brasstag.store.database.base import Database
from brasstag.store.database.migrate import HEAD, migrate, revision
from brasstag.store.database.schema import SQLITE_FULLTEXT, metadata
from brasstag.store.fulltext.index import Indexed, put_texts
from brasstag.store.fulltext.postgres_vectors import SHORT
from brasstag.store.maintenance.rebuild_index import forget_index
from brasstag.store.tasks.rows import read_tasks
from brasstag.words.errors import StoreError
from tests.store.conftest import OpenDatabase, on_postgres, on_sqlite


@pytest.fixture(params=["made new", "migrated"])
def either(request: pytest.FixtureRequest, open_bare: OpenDatabase, tmp_path: Path) -> Database:
    """A room that was made as it is now, and one that every migration has brought there."""
    database = open_bare()
    if request.param == "made new":
        migrate(database, tmp_path / "lock")
    else:
        _upgrade(database, HEAD)
    return database


def test_new_rooms_and_old_ones_have_exactly_the_schema(either: Database, kind: str) -> None:
    # SQLite gives defaults back in other words than it was told.
    opts = {"compare_type": True, "compare_server_default": kind == "postgres", "include_object": _is_ours}
    with either.read() as connection:
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []


def _is_ours(_object: object, name: str | None, kind: str, *_: object) -> bool:
    """Leave out the tables of procrastinate, which lie beside ours on Postgres, and those behind the index."""
    return kind != "table" or not str(name).startswith(("procrastinate_", "fulltext"))


@on_sqlite
def test_new_rooms_and_old_ones_have_the_same_index(either: Database) -> None:
    with either.read() as connection:
        made = connection.execute(text("SELECT sql FROM sqlite_master WHERE name = 'fulltext'")).scalar_one()
        size = connection.execute(text("SELECT v FROM fulltext_config WHERE k = 'hashsize'")).scalar_one()
    assert (made, size) == (SQLITE_FULLTEXT[0], 16 << 20)


def test_head_is_the_newest_revision() -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == HEAD


def test_a_room_of_a_newer_brasstag_is_refused(database: Database, tmp_path: Path) -> None:
    with database.write() as transaction:
        transaction.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer Brasstag"):
        migrate(database, tmp_path / "lock")


def test_a_room_of_an_older_brasstag_is_brought_up_to_date(open_bare: OpenDatabase, tmp_path: Path) -> None:
    database = open_bare()
    _upgrade(database, "0001")
    with database.write() as transaction:
        transaction.execute(
            text(
                "INSERT INTO tasks (id, kind, actor, role, status, boot, next_seq, head, signature, opened_at) "
                "VALUES ('task_a', 'desk', 'ada', 'operator', 'done', 'boot_a', 1, 'h', 's', 'then')"
            )
        )
    migrate(database, tmp_path / "lock")
    with database.read() as view:
        (task,) = read_tasks(view)
        assert (task.id, task.opened_at, task.wake, task.cost) == ("task_a", "then", 0, 0)


@on_postgres
def test_an_index_made_anew_is_as_the_migrations_make_it(either: Database) -> None:
    before = _index_on_postgres(either)
    forget_index(either, ())
    assert _index_on_postgres(either) == before


def _index_on_postgres(database: Database) -> list[object]:
    columns = (
        "SELECT column_name, data_type, column_default, is_nullable FROM information_schema.columns"
        " WHERE table_schema = current_schema() AND table_name = 'fulltext' ORDER BY ordinal_position"
    )
    asked = (
        columns,
        "SELECT attname, attstorage FROM pg_attribute WHERE attrelid = 'fulltext'::regclass ORDER BY attnum",
        "SELECT reloptions FROM pg_class WHERE oid = 'fulltext'::regclass",
        "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'fulltext' ORDER BY 1",
    )
    with database.read() as view:
        return [view.execute(text(query)).all() for query in asked]


@on_postgres
def test_an_older_index_knows_after_a_migration_what_stands_out(
    open_bare: OpenDatabase, tmp_path: Path
) -> None:
    chance = random.Random(7)
    lengths = (1, 7, SHORT - 2, SHORT - 1, SHORT, 500, 9_000)
    texts = [
        Indexed(
            number, "whale.md", "calm sea", " ".join(chance.choices(["a", "b", "whale", "sea"], k=length))
        )
        for number, length in enumerate(lengths, start=1)
    ]
    database = open_bare()
    _upgrade(database, "0003")
    with database.write() as transaction:
        transaction.execute(text("ALTER TABLE fulltext ADD COLUMN standing text[]"))
        put_texts(transaction, texts)
        transaction.execute(text("ALTER TABLE fulltext DROP COLUMN standing"))
    migrate(database, tmp_path / "lock")
    after = _standing(database)
    with database.write() as transaction:
        put_texts(transaction, texts)
    assert after == _standing(database)


def _standing(database: Database) -> dict[int, list[str]]:
    with database.read() as view:
        rows = view.execute(text("SELECT id, standing FROM fulltext"))
        return {number: sorted(standing) for number, standing in rows}


def test_processes_that_open_a_new_room_together_make_it_once(
    open_bare: OpenDatabase, tmp_path: Path
) -> None:
    opened = [open_bare() for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda database: migrate(database, tmp_path / "lock"), opened))
    assert [revision(database) for database in opened] == [HEAD] * 4


@on_postgres
def test_hosts_that_share_no_lock_file_make_it_once_too(open_bare: OpenDatabase, tmp_path: Path) -> None:
    opened = [open_bare() for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda at: migrate(opened[at], tmp_path / f"lock{at}"), range(4)))
    assert [revision(database) for database in opened] == [HEAD] * 4


@on_postgres
def test_a_queue_of_an_older_procrastinate_is_brought_up_to_date(database: Database, tmp_path: Path) -> None:
    trigger = "procrastinate_trigger_status_events_update_v1"
    known = "03.04.00_01_pre_add_retry_failed_job_procedure.sql"
    with database.write() as transaction:
        transaction.execute(text(f"DROP TRIGGER {trigger} ON procrastinate_jobs"))
        transaction.execute(text(f"UPDATE facts SET value = '{known}' WHERE name = 'queue_schema'"))
    migrate(database, tmp_path / "lock")
    with database.read() as view:
        found = view.execute(
            text("SELECT tgname FROM pg_trigger WHERE tgrelid = 'procrastinate_jobs'::regclass")
        )
        assert trigger in found.scalars().all()


def _upgrade(database: Database, revision: str) -> None:
    config = _config()
    with database.rebuild() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrating.__file__).parent / "migrations"))
    return config
