"""A server that goes away, gives up or refuses, and an address that is wrong: told plainly, and never the password."""

import sqlite3
import threading
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from brasstag.store.database import postgres as module
from brasstag.store.database.base import Database
from brasstag.store.database.locks import Lock
from brasstag.store.database.postgres import PostgresDatabase
from brasstag.store.database.postgres_address import Address
from brasstag.store.database.schema import facts
from brasstag.store.database.statements import Guarded, Prepared
from brasstag.words.errors import ConfigError, StoreError, StoreLost
from brasstag.words.ids import new_id
from tests.postgres import Server
from tests.store.conftest import OpenDatabase, on_postgres
from tests.store.test_at_once import at_once

SECRET = "hunter2-Zq"


def put(database: Database, name: str, value: str = "x") -> None:
    with database.write() as transaction:
        transaction.execute(insert(facts).values(name=name, value=value))


def names(database: Database) -> list[str]:
    with database.read() as view:
        return sorted(view.execute(select(facts.c.name)).scalars())


def test_what_breaks_a_constraint_is_told_as_it_is(database: Database) -> None:
    put(database, "a")
    with pytest.raises(IntegrityError):
        put(database, "a")
    put(database, "b")
    assert {"a", "b"} <= set(names(database))


def test_what_follows_a_commit_is_done_after_it_and_only_then(
    database: Database, open_database: OpenDatabase
) -> None:
    other = open_database()
    seen: list[bool] = []
    with database.write() as transaction:
        transaction.execute(insert(facts).values(name="a", value="x"))
        transaction.after_commit.append(lambda: seen.append("a" in names(other)))
    assert seen == [True]
    with pytest.raises(RuntimeError), database.write() as transaction:
        transaction.after_commit.append(lambda: seen.append(False))
        raise RuntimeError
    assert seen == [True]


def test_a_reader_sees_one_moment(database: Database, open_database: OpenDatabase) -> None:
    other = open_database()
    with database.read() as view:
        before = view.execute(select(facts.c.name)).scalars().all()
        put(other, "later")
        assert view.execute(select(facts.c.name)).scalars().all() == before
    assert "later" in names(database)


def test_a_reader_that_uses_prepared_statements_only_sees_one_moment(
    database: Database, open_database: OpenDatabase
) -> None:
    other = open_database()
    named = Prepared(select(facts.c.name))
    with database.read() as view:
        before = named.rows(view)
        put(other, "later")
        assert named.rows(view) == before
    assert ("later",) in database.look(named)


def test_what_follows_a_commit_may_fail_in_any_way_and_the_commit_stands(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(error: Exception) -> None:
        raise error

    done: list[str] = []
    with database.write() as transaction:
        transaction.execute(insert(facts).values(name="a", value="x"))
        for error in (
            sqlite3.OperationalError("disk I/O error"),
            KeyError("gone"),
            OSError(28, "No space left", "/f"),
        ):
            transaction.after_commit.append(partial(fail, error))
        transaction.after_commit.append(lambda: done.append("rung"))
    assert "a" in names(database)
    assert done == ["rung"]
    told = [record.message for record in caplog.records if "a commit is on disk" in record.message]
    assert len(told) == 3
    assert told[-1].endswith("failed: No space left")


def test_what_follows_a_commit_may_write_again(database: Database) -> None:
    with database.write() as transaction:
        transaction.after_commit.append(lambda: put(database, "after"))
    assert "after" in names(database)


@on_postgres
def test_connections_that_died_in_the_pool_are_replaced_unnoticed(
    database: Database, postgres: Server
) -> None:
    barrier = threading.Barrier(6)

    def hold_one() -> None:
        with database.read():
            barrier.wait(30)

    assert at_once(*[hold_one] * 6) == [None] * 6
    postgres.restart(immediate=True)
    put(database, "after")
    assert "after" in names(database)


@on_postgres
def test_a_write_the_server_crashes_under_is_lost_and_the_next_one_is_not(
    database: Database, postgres: Server
) -> None:
    statement = Prepared(insert(facts).values(name="during", value="x"))
    for crash_before_commit in (True, False):
        with pytest.raises(StoreLost, match="cannot be reached"), database.write() as transaction:
            if crash_before_commit:
                postgres.restart(immediate=True)
                transaction.run(statement)
            else:
                transaction.run(statement)
                postgres.restart(immediate=True)
    assert "during" not in names(database)
    put(database, "after")


@on_postgres
def test_a_single_statement_the_server_goes_under_is_lost_and_leaves_no_dead_connection(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    end_yourself = func.pg_terminate_backend(func.pg_backend_pid())
    put(database, "a")
    deadly = Guarded(update(facts).where(facts.c.name == "a", end_yourself).values(value="y"), facts)
    with pytest.raises(StoreLost, match="cannot be reached"):
        database.add(deadly, name="b", value="x")
    with pytest.raises(StoreLost, match="cannot be reached"):
        database.look(Prepared(select(end_yourself)))
    # The pool would complain of a dead connection handed back to it.
    assert caplog.records == []
    assert "b" not in names(database)


@on_postgres
def test_a_row_is_added_though_every_connection_in_the_pool_has_died(
    database: Database, postgres: Server, caplog: pytest.LogCaptureFixture
) -> None:
    barrier = threading.Barrier(6)

    def hold_one() -> None:
        with database.read():
            barrier.wait(30)

    put(database, "a")
    both = Guarded(update(facts).where(facts.c.name == "a").values(value="y"), facts)
    for restarted, name in enumerate(("b", "c")):
        assert at_once(*[hold_one] * 6) == [None] * 6
        postgres.restart(immediate=bool(restarted))
        assert database.add(both, name=name, value="x")
    assert {"a", "b", "c"} <= set(names(database))
    assert caplog.records == []


@on_postgres
@pytest.mark.parametrize(
    ("state", "times"), [("55P03", 1), ("53100", 1), ("57014", 1), ("57P01", 13), ("08006", 13)]
)
def test_only_what_a_dead_connection_says_is_asked_again(database: Database, state: str, times: int) -> None:
    with database.write() as transaction:
        transaction.execute(text("CREATE SEQUENCE asked"))
        transaction.execute(
            text(
                "CREATE FUNCTION refuse() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('asked'); "
                f"RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"
            )
        )
    with pytest.raises(StoreError, match="no"):
        database.look(Prepared(select(func.refuse())))
    assert database.look(Prepared(select(func.nextval("asked")))) == [(times + 1,)]


@on_postgres
def test_a_server_that_is_away_is_told(database: Database, postgres: Server) -> None:
    postgres.stop(immediate=True)
    try:
        with pytest.raises(StoreLost, match="Check that the server runs"):
            put(database, "a")
        with pytest.raises(StoreLost, match="Check that the server runs"):
            names(database)
    finally:
        postgres.start()
    put(database, "a")


@on_postgres
def test_of_two_that_wait_for_each_other_one_is_lost(database: Database) -> None:
    put(database, "a")
    put(database, "b")
    barrier = threading.Barrier(2)

    def take(first: str, second: str) -> None:
        with database.write() as transaction:
            transaction.execute(update(facts).where(facts.c.name == first).values(value=second))
            barrier.wait(30)
            transaction.execute(update(facts).where(facts.c.name == second).values(value=first))

    results = at_once(lambda: take("a", "b"), lambda: take("b", "a"))
    assert sorted(type(result).__name__ for result in results) == ["NoneType", "StoreLost"]


@on_postgres
def test_who_waits_too_long_for_a_lock_is_lost(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(database, PostgresDatabase)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    hasty = PostgresDatabase(database.address, database.schema)
    with database.write() as transaction:
        transaction.lock(Lock.SEALS)
        with pytest.raises(StoreLost, match="lock timeout"), hasty.write() as late:
            late.lock(Lock.SEALS)
    with hasty.write() as late:
        late.lock(Lock.SEALS)
    hasty.close()


@on_postgres
def test_a_process_stopped_in_the_middle_of_a_write_holds_nobody_up_for_long(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(database, PostgresDatabase)
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.05)
    stopped = PostgresDatabase(database.address, database.schema)
    with pytest.raises(StoreLost), stopped.write() as transaction:
        transaction.lock(Lock.SEALS)
        with database.write() as other:
            # Waits until the server has ended the session that does nothing.
            other.lock(Lock.SEALS)
        transaction.execute(insert(facts).values(name="late", value="x"))
    stopped.close()
    assert "late" not in names(database)


@on_postgres
def test_locks_of_one_name_exclude_each_other_in_one_room_only(database: Database, postgres: Server) -> None:
    other_room = PostgresDatabase(Address(postgres.url), new_id("room"))
    with other_room.rebuild():
        pass
    with database.write() as transaction, other_room.write() as elsewhere:
        transaction.lock(Lock.SEALS)
        elsewhere.lock(Lock.SEALS)
    postgres.execute(f"DROP SCHEMA {other_room.schema}")
    other_room.close()


@on_postgres
def test_what_postgres_cannot_store_is_told(database: Database) -> None:
    statement = Prepared(insert(facts).values(name="nul", value="a\0b"))
    with pytest.raises(StoreError, match="NUL"), database.write() as transaction:
        transaction.run(statement)
    assert "nul" not in names(database)


@on_postgres
def test_every_session_keeps_its_promises(database: Database) -> None:
    settings = {"synchronous_commit": "on", "transaction_isolation": "read committed", "lock_timeout": "30s"}
    with database.write() as transaction:
        for name, value in settings.items():
            assert transaction.execute(text(f"SHOW {name}")).scalar_one() == value


@on_postgres
def test_an_address_cannot_move_the_room_to_another_schema(database: Database, postgres: Server) -> None:
    assert isinstance(database, PostgresDatabase)
    sly = Address(f"{postgres.url}&options=-c%20search_path%3Dpublic%20-c%20synchronous_commit%3Doff")
    same = PostgresDatabase(sly, database.schema)
    with same.write() as transaction:
        assert transaction.execute(text("SELECT current_schema()")).scalar_one() == database.schema
        assert transaction.execute(text("SHOW synchronous_commit")).scalar_one() == "on"
    same.close()


@pytest.mark.parametrize("name", ["public", "room_x", "room_" + "a" * 31, 'room_" ; DROP', ""])
def test_a_schema_is_named_after_a_room_or_refused(name: str) -> None:
    with pytest.raises(StoreError, match="not one that Brasstag gives"):
        PostgresDatabase(Address("postgresql://localhost/x"), name)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///x",
        "localhost",
        f"mysql://u:{SECRET}@h/d",
        f"postgresql://u:{SECRET}@more@h/d",
        f"postgresql://u:a/{SECRET}@h/d",
        f"postgresql://u:a?{SECRET}@h/d",
        f"postgresql://u:a#{SECRET}@h/d",
        f"postgresql://u:%zz{SECRET}@h/d",
        f"postgresql://u:{SECRET}@h/d?nonsense=1",
        f"postgresql+psycopg://u:{SECRET}@h/d",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="BRASSTAG_DATABASE_URL: is not the address") as refused:
        Address(url)
    assert SECRET not in str(refused.value)
    assert "%40" in str(refused.value)


@pytest.mark.parametrize(
    "place", ["127.0.0.1:1/d", "127.0.0.1:notaport/d", f"/d?host=/nowhere/{SECRET}", f"{SECRET}.invalid/d"]
)
def test_a_server_that_cannot_be_reached_is_told_without_the_password(place: str) -> None:
    database = PostgresDatabase(Address(f"postgres://u:{SECRET}@{place}"), new_id("room"))
    with pytest.raises(StoreError) as refused, database.read():
        pass
    assert SECRET not in str(refused.value)
    database.close()


def test_a_wrong_password_is_told_without_it(postgres: Server, tmp_path: Path) -> None:
    postgres.execute(f"CREATE ROLE guest LOGIN PASSWORD '{SECRET}x'")
    rules = postgres.data / "pg_hba.conf"
    open_to_all = rules.read_text()
    try:
        rules.write_text(f"local all guest scram-sha-256\n{open_to_all}")
        postgres.execute("SELECT pg_reload_conf()")
        address = postgres.url.replace("postgres@", f"guest:{SECRET}@")
        database = PostgresDatabase(Address(address), new_id("room"))
        with pytest.raises(StoreError, match="password authentication failed") as refused, database.read():
            pass
        assert SECRET not in str(refused.value)
        database.close()
    finally:
        rules.write_text(open_to_all)
        postgres.execute("SELECT pg_reload_conf()")
        postgres.execute("DROP ROLE guest")


def test_a_user_who_may_not_make_schemas_is_told_what_to_grant(postgres: Server) -> None:
    postgres.execute("CREATE ROLE reader LOGIN")
    database = PostgresDatabase(Address(postgres.url.replace("postgres@", "reader@")), new_id("room"))
    try:
        with pytest.raises(StoreError, match="GRANT CREATE ON DATABASE"), database.rebuild():
            pass
    finally:
        database.close()
        postgres.execute("DROP ROLE reader")


def test_a_database_that_does_not_exist_is_told(postgres: Server) -> None:
    database = PostgresDatabase(Address(postgres.url.replace("/postgres?", "/nowhere?")), new_id("room"))
    with pytest.raises(StoreError, match='"nowhere" does not exist'), database.read():
        pass
    database.close()
