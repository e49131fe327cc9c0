"""Tasks that wait while everything around them goes away: their worker, the code of their tools, their role."""

import asyncio
import os
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from brasstag import ApprovalResponse, Done, Room
from brasstag.app.project.create import create_project
from brasstag.app.state import open_state
from brasstag.store.tasks.rows import Task
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.engine.crews import ADA, CREW, Script, call, turn
from tests.faults.conftest import MakeWorld
from tests.faults.harness import World, until
from tests.faults.workers import Fate
from tests.processes import KILLED, _context, end, start

MANY = 200
PROCESSES = 4

ASKING: Script = {"boss": [turn(call("ask_master", question="So?")), turn(text="built")]}


async def test_many_blocked_tasks_survive_their_worker_and_go_on_when_answered(make_world: MakeWorld) -> None:
    world = make_world(ASKING)
    async with Room.open(world.mill.project) as room:
        runs = [await room.start(f"Build {number}", serve=False) for number in range(MANY)]
        (worker,) = world.hire()

        async def all_wait() -> bool:
            return len(await room.runs.tasks_in("blocked")) == 2 * MANY

        await until(all_wait, f"{MANY} runs and their questions wait")
        worker.kill()
        worker.join()
        assert worker.exitcode == KILLED
        world.bury()
        world.hire()
        questions = [task.id for task in await room.tasks() if task.role == "person"]
        await asyncio.gather(*(room.answer(question, "Blue", ADA) for question in questions))
        await world.play(room, runs)
        await world.dismiss()
        assert await world.violations(room) == []
        assert {task.status for task in await _agents(room)} == {"done"}


CONFIRMED: Script = {"boss": [turn(call("repeat")), turn(text="built")]}


async def test_a_call_whose_tool_changed_after_it_was_approved_is_asked_anew(make_world: MakeWorld) -> None:
    world = make_world(CONFIRMED)
    world.mill.write_tool("repeat", approval="confirm")
    world.mill.accept()
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        await _die_blocked(world)
        (asked,) = await room.approvals(ApprovalState.OPEN)
        await room.decide(asked.id, ApprovalResponse(True), ADA)
    world.mill.write_tool("repeat", "call_id = 'edited'", approval="confirm")
    world.mill.accept()
    async with Room.open(world.mill.project) as room:
        world.hire()

        async def asks_again() -> bool:
            return bool(await room.approvals(ApprovalState.OPEN))

        await until(asks_again, "it is asked anew")
        assert world.mill.done() == {}
        await world.play(room, [run])
        await world.dismiss()
        states = [approval.state for approval in await room.approvals()]
        assert states == [ApprovalState.VOID, ApprovalState.CONSUMED]
        assert list(world.mill.done().values()) == [1]
        assert await world.violations(room) == []


DELEGATED: Script = {
    "boss": [turn(call("route_to_worker", request="Go on")), turn(text="told")],
    "worker": [turn(call("ask_master", question="So?")), turn(text="worked")],
}


async def test_a_task_whose_role_is_gone_fails_and_says_so(make_world: MakeWorld) -> None:
    world = make_world(DELEGATED)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        await _die_blocked(world)
    settings = world.mill.project / "brasstag.toml"
    gone = CREW[CREW.index("[roles.worker]") : CREW.index("[roles.helper]")]
    text = settings.read_text()
    assert gone in text
    settings.write_text(text.replace(gone, "").replace('["worker", "helper"]', '["helper"]'))
    world.mill.accept()
    async with Room.open(world.mill.project) as room:
        world.hire()
        await world.play(room, [run])
        await world.dismiss()
        (told,) = [
            entry.payload or {} for entry in await room.timeline(run) if entry.kind is EntryKind.RETURNED
        ]
        assert told["result"]["error"]["code"] == Code.UNKNOWN_ROLE
        assert await world.violations(room) == []


async def test_processes_that_open_a_new_room_at_once_open_the_same_room(tmp_path: Path, url: str) -> None:
    project = tmp_path / "new"
    project.mkdir()
    barrier, opened = _context.Barrier(PROCESSES), _context.Queue()
    openers = [
        start(open_at_once, project, tmp_path / "user", url, barrier, opened) for _ in range(PROCESSES)
    ]
    found = {opened.get(timeout=60) for _ in openers}
    assert [end(opener) for opener in openers] == [0] * PROCESSES
    assert len(found) == 1
    create_project(project, "data", "careful")
    async with Room.open(project) as room:
        assert found == {(room.state.folder.name, room.store.sealer.key.id)}
        assert isinstance(await room.call("stop_and_think", {"thoughts": "here"}), Done)
        assert (await room.verify()).ok


def open_at_once(project: Path, user: Path, url: str, barrier: Barrier, opened: Any) -> None:
    """Open a room when the others do, and say which one it is and whose key it has."""
    os.environ["BRASSTAG_USER_DIR"] = str(user)
    os.environ["BRASSTAG_DATABASE_URL"] = url
    barrier.wait(60)
    room_state = open_state(project)
    opened.put((room_state.folder.name, room_state.store.sealer.key.id))
    room_state.close()


async def _die_blocked(world: World) -> None:
    """Let a worker take everything as far as it goes, and die of that."""
    world.hire(Fate("blocked"))
    await until(lambda: bool(world.bury()), "a worker died")
    assert world.deaths == 1


async def _agents(room: Room) -> list[Task]:
    return [task for task in await room.tasks() if task.kind != "desk"]
