import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from brasstag.store.database import sqlite as module
from brasstag.store.database.schema import facts, metadata
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.words.errors import StoreError, StoreLost


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def opened(file: Path) -> SqliteDatabase:
    database = SqliteDatabase(file)
    with database.rebuild() as connection:
        metadata.create_all(connection)
    return database


def put(database: SqliteDatabase, name: str) -> None:
    with database.write() as transaction:
        transaction.execute(insert(facts).values(name=name, value="x"))


def test_a_file_that_stays_locked_is_lost_for_the_moment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(file).close()
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    hasty = SqliteDatabase(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLost, match="Another process held it for too long"):
            put(hasty, "a")
        other.execute("ROLLBACK")
    put(hasty, "a")
    hasty.close()


def test_a_full_disk_loses_the_database_until_somebody_frees_some(file: Path) -> None:
    database = opened(file)
    with pytest.raises(StoreLost, match="Free some disk space"), database.write() as transaction:
        transaction.execute(text("PRAGMA max_page_count = 1"))
        for number in range(1000):
            transaction.execute(insert(facts).values(name=str(number), value="x" * 1000))
    database.close()


def test_the_number_watched_changes_with_every_commit_and_only_then(file: Path) -> None:
    ours, theirs = opened(file), SqliteDatabase(file)
    with ours.watch() as number:
        before = number()
        with ours.read() as view:
            view.execute(select(facts)).all()
        assert number() == before
        put(ours, "a")
        after_ours = number()
        put(theirs, "b")
        assert len({before, after_ours, number()}) == 3
    ours.close()
    theirs.close()


def test_a_database_in_memory_can_be_watched_and_nothing_is_to_be_seen() -> None:
    database = SqliteDatabase(None)
    with database.watch() as number:
        before = number()
        put(database, "a")
        assert number() == before
    database.close()


def test_a_file_that_was_replaced_while_it_is_watched_is_told(file: Path) -> None:
    opened(file).close()
    database = SqliteDatabase(file)
    file.write_bytes(b"not a database at all" * 100)
    with database.watch() as number, pytest.raises(StoreError, match="damaged"):
        number()
    database.close()


def test_what_a_task_wants_approved_is_found_without_looking_at_what_others_want(file: Path) -> None:
    database = opened(file)
    wanted = "SELECT * FROM approvals WHERE task_id = 'task_a' AND state = 'open' ORDER BY id"
    with database.read() as view:
        plan = " ".join(str(row) for row in view.execute(text(f"EXPLAIN QUERY PLAN {wanted}")))
    database.close()
    assert "approvals_by_task (task_id=? AND state=?)" in plan


def test_a_new_room_is_opened_while_another_process_writes_its_first_page(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()
    monkeypatch.setattr(module.time, "sleep", lambda _seconds: tried.set())
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE first (page)")

        def end() -> None:
            assert tried.wait(60)
            other.execute("COMMIT")

        ending = threading.Thread(target=end)
        ending.start()
        database = SqliteDatabase(file)
        with database.read() as view:
            assert view.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
        ending.join()
        database.close()
