"""Another call may settle between the look of a call and its leases: the call looks again, and acts on what it finds."""

import asyncio
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from brasstag import Code, Done, Failed, Outcome, Room
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.runtimes import put_in

Request = tuple[str, dict[str, Any]]

RULES = """
[[rules]]
allow = ["write_file(**)", "edit_file(**)", "delete_file(**)", "move_file(**)"]
because = "this is about who comes first"
match = ["delete_file(d)"]
not_match = ["read_file(d)"]
"""


def write(path: str, content: str = "new") -> Request:
    return "write_file", {"path": path, "content": content}


def edit(path: str, old: str, new: str) -> Request:
    return "edit_file", {"path": path, "search_text": old, "replace_text": new}


def delete(path: str) -> Request:
    return "delete_file", {"path": path, "recursive": True}


def move(source: str, target: str) -> Request:
    return "move_file", {"source": source, "target": target}


async def call_between(room: Room, request: Request, *others: Request) -> Outcome:
    """Make a call, and let others settle between its look and its leases."""
    loop = asyncio.get_running_loop()
    settled: list[Outcome] = []

    def at(step: str) -> None:
        if step != "persisted" or settled:
            return
        for other in others:
            # The first is this one's place; a call made here passes here, too.
            settled.append(Failed(Code.BUSY, "under way"))
            settled[-1] = asyncio.run_coroutine_threadsafe(room.call(*other), loop).result(60)

    put_in(room, at=at)
    outcome = await room.call(*request)
    assert [type(one) for one in settled] == [Done] * len(others), settled
    return outcome


def claims_of(entries: Any) -> int:
    return sum(entry.kind is EntryKind.CLAIMED for entry in entries)


A, X = {"a.md": "one two"}, {"d/x": "x"}
"""What is there at first."""


@pytest.mark.parametrize(
    ("ours", "theirs", "left"),
    [
        pytest.param(edit("a.md", "one", "1"), edit("a.md", "two", "2"), {"a.md": "1 2", **X}, id="one file"),
        pytest.param(
            write("n/a"), write("n/b"), {"n/a": "new", "n/b": "new", **A, **X}, id="one new directory"
        ),
        pytest.param(
            write("n/o/a"), write("n/b"), {"n/o/a": "new", "n/b": "new", **A, **X}, id="a new directory above"
        ),
        pytest.param(write("d/a"), delete("d"), {"d/a": "new", **A}, id="into what was deleted"),
        pytest.param(write("d/a"), move("d", "e"), {"d/a": "new", "e/x": "x", **A}, id="into what was moved"),
        pytest.param(delete("d"), write("d/y"), A, id="deleting what was filled"),
        pytest.param(delete("d"), write("d/n/y"), A, id="deleting what was filled below"),
        pytest.param(
            move("d", "e"), write("d/y"), {"e/x": "x", "e/y": "new", **A}, id="moving what was filled"
        ),
        pytest.param(move("d/x", "e"), edit("d/x", "x", "y"), {"e": "y", **A}, id="moving what was edited"),
    ],
)
async def test_a_call_acts_on_what_another_call_left(
    make_project: MakeProject, ours: Request, theirs: Request, left: dict[str, str]
) -> None:
    project = make_project(RULES, profile="trusted")
    data = project / "data"
    (data / "a.md").write_text("one two")
    (data / "d").mkdir()
    (data / "d" / "x").write_text("x")
    async with Room.open(project) as room:
        outcome = await call_between(room, ours, theirs)
        assert isinstance(outcome, Done), outcome
        assert claims_of(await room.timeline()) == 2
        assert (await room.verify()).ok
    files = {str(path.relative_to(data)): path.read_text() for path in data.rglob("*") if path.is_file()}
    assert files == left


async def test_what_another_program_changed_before_the_claim_is_looked_at_again_too(
    make_project: MakeProject,
) -> None:
    project = make_project(profile="trusted")
    file = project / "data" / "a.md"
    file.write_text("one two")
    interfered: list[str] = []

    def at(step: str) -> None:
        if step == "persisted" and not interfered:
            interfered.append(step)
            file.write_text("one three")

    async with Room.open(project) as room:
        put_in(room, at=at)
        assert isinstance(await room.call(*edit("a.md", "one", "1")), Done)
    assert file.read_text() == "1 three"


async def test_what_another_program_changes_after_the_claim_is_changed(make_project: MakeProject) -> None:
    project = make_project(profile="trusted")
    file = project / "data" / "a.md"
    file.write_text("one two")
    async with Room.open(project) as room:
        put_in(room, at=lambda step: file.write_text("three") if step == "claimed" else None)
        outcome = await room.call(*edit("a.md", "one", "1"))
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.CHANGED
    assert file.read_text() == "three"


@pytest.mark.parametrize("ours", [delete("d"), move("d", "e")], ids=lambda one: one[0])
async def test_a_directory_in_which_another_call_is_at_work_is_waited_for(
    make_project: MakeProject, ours: Request
) -> None:
    project = make_project(RULES)
    (project / "data" / "d").mkdir()
    (project / "data" / "d" / "x").write_text("x")
    looked, ready, loop = threading.Event(), asyncio.Event(), asyncio.get_running_loop()

    def at(step: str) -> None:
        if step == "0: ready":
            loop.call_soon_threadsafe(ready.set)
            assert looked.wait(60)

    async with Room.open(project) as room:
        workspace = room._runtime.workspace
        is_at_work = workspace.is_at_work

        def noted(call_id: str) -> bool:
            found = is_at_work(call_id)
            looked.set()
            return found

        workspace.is_at_work = noted
        put_in(room, at=at)
        theirs = asyncio.create_task(room.call(*write("d/x")))
        await ready.wait()
        outcome = await room.call(*ours)
        assert isinstance(outcome, Done), outcome
        assert isinstance(await theirs, Done)
        assert (await room.verify()).ok
    assert not (project / "data" / "d").exists()


async def test_a_directory_in_which_an_ended_call_has_left_something_stays(make_project: MakeProject) -> None:
    project = make_project(RULES)
    (project / "data" / "d").mkdir()
    async with Room.open(project) as room:
        (project / "data" / "d" / ".brasstag-call_1-0.old").write_text("x")
        outcome = await room.call(*delete("d"))
    assert isinstance(outcome, Failed)
    assert outcome.code is Code.CONTROL_FILE


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_code_lands_in_a_directory_that_another_call_has_made_meanwhile(project: Path) -> None:
    code = "import os; os.makedirs('n/o'); open('n/o/a', 'w').write('code'); print('ran')"
    async with Room.open(project) as room:
        run = "run_code", {"language": "python", "code": code}
        outcome = await call_between(room, run, write("n/b"))
        assert isinstance(outcome, Done), outcome
        assert outcome.value["changes"] == [
            {"path": "n/o", "change": "creates"},
            {"path": "n/o/a", "change": "creates"},
        ]
        assert (await room.verify()).ok
    assert (project / "data" / "n" / "o" / "a").read_text() == "code"
    assert (project / "data" / "n" / "b").read_text() == "new"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_code_does_not_land_over_a_file_that_another_call_has_written_meanwhile(project: Path) -> None:
    code = "import os; os.makedirs('n'); open('n/a', 'w').write('code')"
    async with Room.open(project) as room:
        run = "run_code", {"language": "python", "code": code}
        outcome = await call_between(room, run, write("n/a"))
        assert isinstance(outcome, Failed)
        assert outcome.code is Code.CHANGED
        assert "patch" in outcome.details
    assert (project / "data" / "n" / "a").read_text() == "new"
