"""What dead workers left that only a tool can finish: run by whoever holds the task, and by nobody once it has ended."""

import asyncio
from pathlib import Path

import pytest

from brasstag import Room, tool
from brasstag.store.tasks.ledger import claims_of_tasks, is_unsettled
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.engine.crews import Script, call, turn
from tests.faults.conftest import MakeWorld
from tests.faults.harness import World, until
from tests.faults.workers import Fate, hasten
from tests.processes import KILLED, call_and_die, end, start

AGAIN: Script = {"boss": [turn(call("repeat")), turn(text="built")]}


def shut_gate(world: World) -> Path:
    """Let the tool that may run again wait, whenever it does, until a file is there; return which."""
    gate = world.mill.project.parent / "open"
    wait = f"import time\n    while not os.path.exists({str(gate)!r}): time.sleep(0.01)"
    world.mill.write_tool("repeat", wait, limits={"timeout_seconds": 600})
    world.mill.accept()
    return gate


async def death_in_the_act(world: World, room: Room) -> str:
    """Return a run whose worker died when its call had claimed, and before it acted."""
    run = await room.start("Build", serve=False)
    world.hire(Fate("claimed"))
    await until(lambda: world.bury() > 0, "the death of a worker")
    assert world.mill.done() == {}
    return run


async def ends(room: Room, task_id: str) -> list[tuple[str, str]]:
    """Return how a task's calls that acted ended, with the code of those that failed."""
    settled = [entry for entry in await room.timeline(task_id) if entry.kind is EntryKind.SETTLED]
    payloads = [entry.payload or {} for entry in settled]
    return [(payload["outcome"], payload["result"].get("error", {}).get("code", "")) for payload in payloads]


async def test_a_call_of_a_run_that_was_stopped_is_not_run_again(make_world: MakeWorld) -> None:
    world = make_world(AGAIN)
    async with Room.open(world.mill.project) as room:
        run = await death_in_the_act(world, room)
        await room.stop(run, "ada")
        world.hire()
        await until(
            lambda: not room.store.read(lambda view: claims_of_tasks(view, [run])), "the call's settling"
        )
        await world.dismiss()
        assert [outcome for outcome, _ in await ends(room, run)] == ["unknown"]
        assert world.mill.done() == {}
        assert (await room.verify()).ok


async def test_opening_a_room_leaves_an_agents_call_to_whoever_works_on_its_task(
    make_world: MakeWorld,
) -> None:
    world = make_world(AGAIN)
    async with Room.open(world.mill.project) as room:
        run = await death_in_the_act(world, room)
    async with Room.open(world.mill.project) as room:
        assert room.recovered.tasks == [run]
        assert room.recovered.calls == []
        assert world.mill.done() == {}
        world.hire()
        await world.play(room, [run])
        await world.dismiss()
        assert world.mill.done() == {("repeat", f"{run}:0.0"): 1}
        assert await world.violations(room) == []


async def test_a_call_that_is_run_again_ends_when_its_run_is_stopped(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasten(monkeypatch.setattr)
    world = make_world(AGAIN)
    gate = shut_gate(world)
    async with Room.open(world.mill.project) as room:
        run = await death_in_the_act(world, room)
        serving = asyncio.create_task(room.serve())
        await until(lambda: bool(world.mill.done()), "the call's second beginning")
        await room.stop(run, "ada")

        async def settled() -> bool:
            return bool(await ends(room, run))

        await until(settled, "the end of the call, though its tool still runs")
        assert await ends(room, run) == [("failed", Code.CANCELLED)]
        gate.touch()
        room.runs.drain()
        await serving


async def test_a_desks_call_that_is_run_again_holds_up_nothing_else(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasten(monkeypatch.setattr)
    world = make_world({"boss": [turn(call("wait")), turn(text="never")]})
    gate = shut_gate(world)
    begun, broken_off = asyncio.Event(), asyncio.Event()

    @tool(approval="auto", limits={"timeout_seconds": 600})
    async def wait() -> str:
        """Wait for ever."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            broken_off.set()
        return "never"

    async with Room.open(world.mill.project) as room:
        room.register(wait)
        serving = asyncio.create_task(room.serve())
        run = await room.start("Build", serve=False)
        await begun.wait()
        project, user = world.mill.project, world.place.user
        desk = start(call_and_die, project, user, 0, [("repeat", {})])
        assert await asyncio.to_thread(end, desk) == KILLED
        await until(lambda: bool(world.mill.done()), "the desk's call, run again here")

        lock = project / ".brasstag" / "boots" / f"{room._runtime.boot.id}.lock"
        beaten = lock.stat().st_mtime_ns
        await until(lambda: lock.stat().st_mtime_ns > beaten, "another beat")
        await room.stop(run, "ada")
        await until(broken_off.is_set, "the end of what was stopped")
        [(_, call_id)] = world.mill.done()
        assert room.store.read(lambda view: is_unsettled(view, call_id))
        gate.touch()
        await until(
            lambda: not room.store.read(lambda view: is_unsettled(view, call_id)),
            "the end of the desk's call",
        )
        room.runs.drain()
        await serving
        assert (await room.verify()).ok
