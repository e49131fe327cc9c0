from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from brasstag.store import migrate as migrating
from brasstag.store.database import Database
from brasstag.store.migrate import HEAD, migrate, revision
from brasstag.store.schema import metadata
from brasstag.store.tasks import read_tasks
from brasstag.words.errors import StoreError
from tests.store.conftest import OpenDatabase, on_postgres


def test_the_migrations_make_exactly_the_schema(database: Database, kind: str) -> None:
    # SQLite gives defaults back in other words than it was told.
    opts = {"compare_type": True, "compare_server_default": kind == "postgres", "include_object": _is_ours}
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []


def _is_ours(_object: object, name: str | None, kind: str, *_: object) -> bool:
    """Leave out the tables of procrastinate, which lie beside ours on Postgres, and those behind the index."""
    return kind != "table" or not str(name).startswith(("procrastinate_", "fulltext"))


def test_head_is_the_newest_revision() -> None:
    assert ScriptDirectory.from_config(_config()).get_current_head() == HEAD


def test_a_room_of_a_newer_brasstag_is_refused(database: Database, tmp_path: Path) -> None:
    with database.write() as transaction:
        transaction.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer Brasstag"):
        migrate(database, tmp_path / "lock")


def test_a_room_of_an_older_brasstag_is_brought_up_to_date(open_bare: OpenDatabase, tmp_path: Path) -> None:
    database = open_bare()
    with database.rebuild() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(
            text(
                "INSERT INTO tasks (id, kind, actor, role, status, boot, next_seq, head, signature, opened_at) "
                "VALUES ('task_a', 'desk', 'ada', 'operator', 'done', 'boot_a', 1, 'h', 's', 'then')"
            )
        )
    migrate(database, tmp_path / "lock")
    with database.read() as view:
        (task,) = read_tasks(view)
        assert (task.id, task.opened_at, task.wake, task.cost) == ("task_a", "then", 0, 0)


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


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrating.__file__).parent / "migrations"))
    return config
