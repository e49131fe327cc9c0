"""Who serves a room, and what waits in it."""

from pathlib import Path

from brasstag import Room
from brasstag.app.state import open_state
from brasstag.app.workers import WorkerMarks
from tests.conftest import MakeProject
from tests.engine.crews import CREW, call, turn, write_script


def test_a_mark_is_good_for_what_it_names_while_its_process_lives(project: Path) -> None:
    mine, other = open_state(project), open_state(project)
    serving, looking = WorkerMarks(mine), WorkerMarks(other)
    assert not looking.serves()
    serving.begin("task_a")
    assert looking.serves("task_a")
    assert not looking.serves("task_b")
    assert not looking.serves(), "one run is not every run"
    serving.begin()
    assert looking.serves("task_b")
    serving.end()
    assert not looking.serves("task_a")
    serving.begin()
    mine.close()
    assert not looking.serves(), "a process that ended without a word serves nothing"
    other.boot.sweep()
    assert list((project / ".brasstag" / "serving").iterdir()) == []
    other.close()


async def test_a_room_says_which_run_it_works_on(make_project: MakeProject) -> None:
    crew = make_project(CREW)
    write_script(crew, {"boss": [turn(call("ask_master", question="Sure?")), turn(text="Done.")]})
    room_state = open_state(crew)
    async with Room.open(crew) as room:
        run = await room.start("Do it")
        assert WorkerMarks(room_state).serves(run)
        assert not WorkerMarks(room_state).serves()
        later = await room.start("Do that", serve=False)
        assert not WorkerMarks(room_state).serves(later)
    assert not WorkerMarks(room_state).serves(run)
    room_state.close()


async def test_an_overview_says_who_waits_for_whom(make_project: MakeProject) -> None:
    crew = make_project(CREW)
    (crew / "data" / "a.md").write_text("old")
    write_script(
        crew,
        {
            "boss": [
                {"when": "Which colour", "turns": [turn(call("ask_master", question="Which?\nTell me."))]},
                {"turns": [turn(call("route_to_worker", request="Paint"), call("delete_file", path="a.md"))]},
            ],
            "worker": [turn(call("ask_master", question="Which colour?"))],
        },
    )
    async with Room.open(crew) as room:
        run = await room.start("Do it")
        async for _ in room.watch(run):
            overview = await room.runs.overview(run)
            if overview.waits_for_people and overview.questions and overview.approvals:
                break
        boss, worker, answering, person = overview.tasks
        assert overview.waits_for(boss) == ["approval of delete_file", "worker"]
        assert overview.waits_for(worker) == ["boss"]
        assert overview.waits_for(answering) == ["an answer"]
        assert overview.waits_for(person) == ["a person"]
        assert overview.asked == {person.id: "Which?\nTell me."}
        assert [one.id for one in overview.requests] == [overview.approvals[0].id, person.id]
        assert [task.id for task in overview.roots()] == [run]


async def test_several_of_a_kind_are_counted(make_project: MakeProject) -> None:
    crew = make_project(CREW)
    questions = [call("ask_master", question=one) for one in ("Which colour?", "Which size?")]
    write_script(crew, {"boss": [turn(*questions)]})
    async with Room.open(crew) as room:
        run = await room.start("Do it")
        async for _ in room.watch(run):
            overview = await room.runs.overview(run)
            if overview.waits_for_people:
                break
        assert overview.waits_for(overview.tasks[0]) == ["an answer (2)"]
