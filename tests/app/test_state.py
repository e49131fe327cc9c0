"""Where a room's state is: in the project or on Postgres, and never in both or in a second place."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from brasstag import Done, Room
from brasstag.app.project.create import create_project
from brasstag.app.state import open_state
from brasstag.store.jobs.procrastinate import ProcrastinateJobs
from brasstag.store.jobs.sqlite import EmbeddedJobs
from brasstag.words.errors import ConfigError, StoreError, UntrustedError
from tests.conftest import MakeProject
from tests.postgres import Server
from tests.processes import _context, end, start

VARIABLE = "BRASSTAG_DATABASE_URL"


@pytest.fixture
def on_postgres(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv(VARIABLE, postgres.url)
    return postgres


async def test_a_room_on_postgres_is_found_again(on_postgres: Server, make_project: MakeProject) -> None:
    project = make_project(profile="trusted")
    for number in range(2):
        async with Room.open(project) as room:
            outcome = await room.call("write_file", {"path": f"{number}.md", "content": "x"})
            assert isinstance(outcome, Done)
            assert isinstance(room.store.jobs, ProcrastinateJobs)
            report = await room.verify()
            assert (report.ok, report.tasks) == (True, number + 1)
    assert not (project / ".brasstag" / "state.db").exists()
    assert (project / ".brasstag" / "room").read_text().strip() == room.state.folder.name


def test_two_projects_on_one_server_are_two_rooms(on_postgres: Server, make_project: MakeProject) -> None:
    states = [open_state(make_project(name=name)) for name in ("one", "two")]
    assert len({room_state.folder for room_state in states}) == 2
    for room_state in states:
        room_state.close()


def test_without_an_address_state_is_a_file(make_project: MakeProject) -> None:
    project = make_project()
    room_state = open_state(project)
    assert isinstance(room_state.store.jobs, EmbeddedJobs)
    room_state.close()
    assert (project / ".brasstag" / "state.db").exists()


def test_a_project_with_a_file_is_not_begun_anew_on_postgres(
    make_project: MakeProject, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project()
    monkeypatch.setenv(VARIABLE, postgres.url)
    with pytest.raises(ConfigError, match=r"keeps its state in \.brasstag/state\.db\. Unset it"):
        open_state(project)
    assert not (project / ".brasstag" / "room").exists()


def test_a_project_on_postgres_is_not_begun_anew_in_a_file(
    on_postgres: Server, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project()
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ConfigError, match="is not set, but this project keeps its state on Postgres"):
        open_state(project)
    assert not (project / ".brasstag" / "state.db").exists()


def test_a_project_is_not_begun_anew_in_another_database(
    on_postgres: Server, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project()
    on_postgres.execute("CREATE DATABASE another")
    monkeypatch.setenv(VARIABLE, on_postgres.url.replace("/postgres?", "/another?"))
    try:
        with pytest.raises(StoreError, match="is not in the database that BRASSTAG_DATABASE_URL names"):
            open_state(project)
    finally:
        on_postgres.execute("DROP DATABASE another")


async def test_a_room_file_that_names_another_room_is_noticed(
    on_postgres: Server, make_project: MakeProject
) -> None:
    one, two = make_project(name="one"), make_project(name="two")
    (one / ".brasstag" / "room").write_text((two / ".brasstag" / "room").read_text())
    with pytest.raises(UntrustedError, match="not the state this machine knew"):
        async with Room.open(one):
            pass


@pytest.mark.parametrize("name", ["public", "../../etc", ""])
def test_a_room_file_that_names_no_room_is_refused(
    on_postgres: Server, make_project: MakeProject, name: str
) -> None:
    project = make_project()
    (project / ".brasstag" / "room").write_text(name)
    with pytest.raises(StoreError, match="not one that Brasstag gives"):
        open_state(project)


def test_a_server_that_cannot_be_reached_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "postgresql://ada:secret@127.0.0.1:1/x")
    with pytest.raises(StoreError, match="cannot be reached") as refused:
        create_project(tmp_path / "project", "data", "careful")
    assert "secret" not in str(refused.value)
    assert not list((tmp_path / "project").glob(".brasstag/room"))


def test_without_the_driver_it_says_what_to_install(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project()
    (project / ".brasstag" / "state.db").unlink()
    monkeypatch.setenv(VARIABLE, "postgresql://localhost/x")
    monkeypatch.delitem(sys.modules, "brasstag.store.database.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ConfigError, match=r"pip install 'brasstag\[postgres\]'"):
        open_state(project)


def test_processes_that_open_a_new_room_together_make_one(
    on_postgres: Server, make_project: MakeProject, tmp_path: Path
) -> None:
    project = make_project()
    for file in (project / ".brasstag").iterdir():
        if file.is_file():
            file.unlink()
    results = _context.Queue()
    workers = [
        start(open_and_tell, project, tmp_path / "user", os.environ[VARIABLE], results) for _ in range(4)
    ]
    assert len({results.get(timeout=60) for _ in workers}) == 1
    assert [end(worker) for worker in workers] == [0] * 4


def open_and_tell(project: Path, user: Path, url: str, results: Any) -> None:
    os.environ |= {"BRASSTAG_USER_DIR": str(user), VARIABLE: url}
    room_state = open_state(project)
    results.put(room_state.folder.name)
    room_state.close()
