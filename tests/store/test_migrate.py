from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from brasstag.store import migrate as migrating
from brasstag.store.database import Database
from brasstag.store.migrate import HEAD, migrate
from brasstag.store.schema import metadata
from brasstag.words.errors import StoreError


def test_the_migrations_make_exactly_the_schema(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    migrate(database, tmp_path / "lock")
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    database.close()


def test_head_is_the_newest_revision() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrating.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_a_room_of_a_newer_brasstag_is_refused(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    migrate(database, tmp_path / "lock")
    with database.write() as transaction:
        transaction.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer Brasstag"):
        migrate(database, tmp_path / "lock")
    database.close()
