"""A full-text index that lost something: it is never taken for a whole one, and can always be made anew."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from sqlalchemy import text

from brasstag import Code, Done, Failed, Room
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.store.maintenance import rebuild_index
from brasstag.store.maintenance.rebuild_index import count_missing, forget_index
from brasstag.surfaces.cli.commands.doctor import Check, examine
from brasstag.words.errors import IndexDamaged, StoreError, StoreLost
from tests.conftest import MakeProject
from tests.documents.scans import require_law
from tests.postgres import Server

Damage = Callable[[str], None]

WORDS = " ".join(f"word{number}" for number in range(2_000))
SHADOWS = ("data", "idx", "content", "docsize", "config")
DAMAGES = {
    "its blocks are overwritten": "UPDATE fulltext_data SET block = x'00112233' WHERE id > 10",
    "its blocks are gone": "DELETE FROM fulltext_data WHERE id > 10",
    "all it is made of is gone": "DELETE FROM fulltext_data",
    "all it is made of is overwritten": "UPDATE fulltext_data SET block = x'00112233'",
    "its lengths are gone": "DELETE FROM fulltext_docsize",
    "its texts are gone": "DELETE FROM fulltext_content",
    "its rows are gone": "DELETE FROM fulltext",
    "its settings are gone": "DELETE FROM fulltext_config",
    "it is of another time": "UPDATE fulltext_config SET v = 9 WHERE k = 'version'",
    "it is gone": "DROP TABLE fulltext",
    **{f"its table of {name} is gone": f"DROP TABLE fulltext_{name}" for name in SHADOWS},
}
REFUSED = (
    "its blocks are overwritten",
    "its blocks are gone",
    "all it is made of is gone",
    "its settings are gone",
    "it is of another time",
    "it is gone",
    *(f"its table of {name} is gone" for name in SHADOWS),
)
"""Damages that a search meets."""
FAST = ("its blocks are overwritten", "its settings are gone", "it is gone", "its table of data is gone")


def each(damages: Iterable[str]) -> list[ParameterSet]:
    """Return every damage; to try all of them takes long."""
    return [pytest.param(what, marks=() if what in FAST else pytest.mark.slow) for what in damages]


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    made = make_project(profile="trusted")
    (made / "data" / "whale.md").write_text(f"the white whale {WORDS}")
    (made / "data" / "shark.md").write_text(f"the grey shark {WORDS}")
    (made / "data" / "page.html").write_text("<p>a whale of a page</p>")
    return made


@pytest.fixture
async def _indexed(project: Path) -> None:
    async with Room.open(project) as room:
        assert await found(room, "whale") == ["page.html", "whale.md"]


@pytest.fixture
def damage(project: Path) -> Damage:
    def run(statement: str) -> None:
        with closing(sqlite3.connect(project / ".brasstag" / "state.db")) as connection, connection:
            connection.execute(statement)

    return run


@pytest.fixture
async def room(project: Path, _indexed: None) -> AsyncIterator[Room]:
    async with Room.open(project) as opened:
        yield opened


async def found(room: Room, words: str) -> list[str]:
    outcome = await room.call("search_documents", {"query": words})
    assert isinstance(outcome, Done), outcome
    assert outcome.value["incomplete"] is None
    return sorted(hit["path"] for hit in outcome.value["hits"])


@pytest.mark.parametrize("what", each(DAMAGES))
@pytest.mark.usefixtures("_indexed")
async def test_an_index_is_made_anew_whatever_has_become_of_it(
    project: Path, damage: Damage, what: str
) -> None:
    damage(DAMAGES[what])
    async with Room.open(project) as room:
        await room.documents.scan(rebuild=True)
        done = await room.documents.index()
        assert (done.indexed, done.failed, done.left) == (3, 0, 0)
        assert await found(room, "whale") == ["page.html", "whale.md"]
        assert await found(room, "word77 -whale") == ["shark.md"]
        require_law(room)


@pytest.mark.parametrize("what", each(REFUSED))
@pytest.mark.usefixtures("_indexed")
async def test_a_search_that_meets_damage_names_the_mend_and_no_backup(
    project: Path, damage: Damage, what: str
) -> None:
    damage(DAMAGES[what])
    async with Room.open(project) as room:
        outcome = await room.call("search_documents", {"query": "word77"})
        assert isinstance(outcome, Failed), outcome
        assert outcome.code is Code.INDEX_DAMAGED
        assert "brasstag documents reindex --rebuild" in outcome.hint
        assert "backup" not in outcome.message
        assert "disk space" not in outcome.message


@pytest.mark.usefixtures("_indexed")
async def test_what_is_to_be_written_into_a_damaged_index_fails_with_the_mend(
    project: Path, damage: Damage
) -> None:
    damage(DAMAGES["it is gone"])
    async with Room.open(project) as room:
        outcome = await room.call("tag_document", {"path": "whale.md", "add": ["big"]})
        assert isinstance(outcome, Failed), outcome
        assert outcome.code is Code.INDEX_DAMAGED
        (project / "data" / "new.md").write_text("new")
        with pytest.raises(IndexDamaged) as caught:
            await room.documents.scan()
        assert "reindex --rebuild" in caught.value.hint


@pytest.mark.parametrize(
    "lost", ["DELETE FROM fulltext", "DELETE FROM fulltext WHERE rowid = 1", "DELETE FROM fulltext_docsize"]
)
@pytest.mark.usefixtures("_indexed")
async def test_rows_that_an_index_has_lost_are_noticed_and_put_back(
    project: Path, damage: Damage, lost: str
) -> None:
    damage(lost)
    async with Room.open(project) as room:
        assert await found(room, "whale") == ["page.html", "whale.md"]
        assert await found(room, "shark") == ["shark.md"]
        assert room.store.read(count_missing) == 0


async def test_rows_lost_while_a_room_is_open_are_put_back_by_the_next_scan(
    room: Room, damage: Damage
) -> None:
    assert await found(room, "shark") == ["shark.md"]
    damage(DAMAGES["its rows are gone"])
    report = await room.documents.scan()
    assert report.differences == 0
    assert (await room.documents.index()).indexed == 3
    require_law(room)


async def test_a_room_that_is_open_finds_what_another_has_indexed_anew(
    room: Room, project: Path, damage: Damage
) -> None:
    damage(DAMAGES["its blocks are gone"])
    async with Room.open(project) as other:
        await other.documents.scan(rebuild=True)
        await other.documents.index()
    assert await found(room, "word77") == ["shark.md", "whale.md"]


@pytest.mark.usefixtures("_indexed")
async def test_a_rebuild_that_is_not_committed_leaves_the_index_as_it_was(
    project: Path, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(DAMAGES["its settings are gone"])

    def fail(*_given: object) -> None:
        _ = 1 / 0

    # It comes after the new index is made, in the same commit.
    monkeypatch.setattr(rebuild_index, "_let_wait", fail)
    async with Room.open(project) as room:
        with pytest.raises(ZeroDivisionError):
            forget_index(room.store.database, ())
        with room.store.database.read() as view:
            assert view.execute(text("SELECT count(*) FROM fulltext_content")).scalar_one() == 3


def test_a_missing_table_that_is_no_index_is_no_damage_of_the_index(project: Path) -> None:
    database = SqliteDatabase(project / ".brasstag" / "state.db")
    with pytest.raises(StoreError) as raised, database.read() as view:
        view.execute(text("SELECT * FROM fullness"))
    database.close()
    assert not isinstance(raised.value, IndexDamaged | StoreLost)
    assert "disk space" not in str(raised.value)


@pytest.mark.parametrize(
    "broken",
    [
        "",
        *(f"DROP TABLE fulltext_{name}" for name in SHADOWS),
        "ALTER TABLE fulltext_docsize RENAME COLUMN sz TO size",
    ],
)
@pytest.mark.usefixtures("_indexed")
def test_an_error_without_a_reason_is_of_the_index_only_where_that_lacks_a_part(
    project: Path, damage: Damage, broken: str
) -> None:
    if broken:
        damage(broken)
    database = SqliteDatabase(project / ".brasstag" / "state.db")
    with pytest.raises(StoreError, match="SQL logic error") as raised, database.read():
        raise sqlite3.OperationalError("SQL logic error")
    database.close()
    assert isinstance(raised.value, IndexDamaged) == bool(broken)


def index_check(project: Path) -> Check:
    (check,) = [check for check in examine(project) if check.what == "index"]
    return check


@pytest.mark.parametrize(
    "what",
    ["its blocks are overwritten", "all it is made of is overwritten", "its texts are gone", "it is gone"],
)
@pytest.mark.usefixtures("_indexed")
def test_doctor_finds_damage(project: Path, damage: Damage, what: str) -> None:
    assert index_check(project).ok
    damage(DAMAGES[what])
    check = index_check(project)
    assert not check.ok
    assert check.found.startswith(f"{Code.INDEX_DAMAGED}: ")


@pytest.mark.usefixtures("_indexed")
async def test_doctor_counts_what_is_missing_until_a_scan_has_mended_it(
    project: Path, damage: Damage
) -> None:
    damage(DAMAGES["its rows are gone"])
    check = index_check(project)
    assert not check.ok
    assert check.found == "3 documents are missing from it; run `brasstag documents reindex`"
    async with Room.open(project) as room:
        await room.documents.scan()
        await room.documents.index()
    assert index_check(project).ok


@pytest.mark.parametrize("lost", ["DELETE FROM fulltext", "DROP TABLE fulltext"])
async def test_on_postgres_an_index_is_made_anew_and_what_it_lost_put_back(
    make_project: MakeProject, postgres: Server, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    monkeypatch.setenv("BRASSTAG_DATABASE_URL", postgres.url)
    there = make_project(profile="trusted", name="there")
    (there / "data" / "whale.md").write_text("the white whale")
    async with Room.open(there) as room:
        assert await found(room, "whale") == ["whale.md"]
        with room.store.database.write() as transaction:
            transaction.execute(text(lost))
        if lost.startswith("DROP"):
            with pytest.raises(IndexDamaged):
                await room.documents.search("whale")
            await room.documents.scan(rebuild=True)
            await room.documents.index()
        assert await found(room, "whale") == ["whale.md"]
        require_law(room)


async def test_on_postgres_an_index_made_anew_is_as_the_migrations_make_it(
    make_project: MakeProject, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRASSTAG_DATABASE_URL", postgres.url)
    shape = text(
        "SELECT attname, atttypid, attstorage, attnotnull, indexdef FROM pg_attribute"
        " LEFT JOIN pg_indexes ON tablename = 'fulltext' AND schemaname = current_schema()"
        " WHERE attrelid = 'fulltext'::regclass AND attnum > 0 ORDER BY attnum, indexname"
    )
    async with Room.open(make_project(name="there")) as room:
        made = room.store.read(lambda view: view.execute(shape).fetchall())
        forget_index(room.store.database, ())
        assert room.store.read(lambda view: view.execute(shape).fetchall()) == made
        assert len(made) == 6 * 3


async def test_an_index_made_anew_holds_as_much_of_a_text_as_a_scan_puts_in(
    make_project: MakeProject,
) -> None:
    project = make_project("[documents]\nlargest_indexed_bytes = 1000\n")
    (project / "data" / "long.md").write_text(f"{'whale ' * 200}shark")
    async with Room.open(project) as room:
        (scanned,) = (await room.documents.list()).documents
        assert "first 1,000 bytes" in scanned.indexed
        await room.documents.scan(rebuild=True)
        await room.documents.index()
        assert (await room.documents.list()).documents == (scanned,)
        assert await found(room, "shark") == []
        assert await found(room, "whale") == ["long.md"]
