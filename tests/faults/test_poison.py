"""Tasks that kill whoever works on them: given up after a few deaths, while everything else goes on."""

from brasstag import Room
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.engine.crews import Script, call, turn
from tests.faults.conftest import MakeWorld
from tests.faults.workers import Fate

DIE = "os.kill(os.getpid(), 9)"

PLAY: Script = {
    "boss": [
        {"when": "Delegate", "turns": [turn(call("route_to_worker", request="Try")), turn(text="told")]},
        {"when": "Slowly", "turns": [turn(call("slow")), turn(text="slow, but done")]},
    ],
    "worker": [turn(call("fatal")), turn(text="survived")],
}


async def test_a_tool_that_kills_its_workers_ends_its_task_and_no_other(make_world: MakeWorld) -> None:
    world = make_world(PLAY)
    world.mill.write_tool("fatal", DIE, "ask", effects="none")
    world.mill.write_tool("slow", "import time; time.sleep(1)", "ask", effects="none")
    world.mill.accept()
    async with Room.open(world.mill.project) as room:
        poisoned = await room.start("Delegate", serve=False)
        others = [await room.start("Slowly", serve=False) for _ in range(3)]
        world.hire()
        await world.play(room, [poisoned, *others])
        await world.dismiss()
        told = [entry.payload or {} for entry in await room.timeline() if entry.kind is EntryKind.RETURNED]
        assert [payload["result"]["error"]["code"] for payload in told] == [Code.POISONED]
        ends = [await room.runs.ended(run) for run in (poisoned, *others)]
        assert [end and end.result for end in ends] == ["told", *["slow, but done"] * 3]
        assert await world.violations(room) == []
    assert 4 <= world.deaths <= 8


async def test_a_tool_that_may_run_again_and_kills_each_time_is_not_run_for_ever(
    make_world: MakeWorld,
) -> None:
    world = make_world({"boss": [turn(call("repeat")), turn(text="survived")]})
    world.mill.write_tool("repeat", DIE)
    world.mill.accept()
    async with Room.open(world.mill.project) as room:
        run = await room.start("Try", serve=False)
        world.hire()
        await world.play(room, [run])
        await world.dismiss()
        ended = await room.runs.ended(run)
        assert ended is not None
        assert ended.result == "survived"
        assert await world.violations(room) == []
    assert 4 <= world.deaths <= 8


async def test_a_model_whose_answer_kills_the_worker_ends_its_task(make_world: MakeWorld) -> None:
    world = make_world({"boss": [turn(text="never heard")]})
    async with Room.open(world.mill.project) as room:
        run = await room.start("Try", serve=False)
        world.hire(Fate("answered"))
        await world.play(room, [run], [Fate("answered")] * 10)
        await world.dismiss()
        ended = await room.runs.ended(run)
        assert ended is not None
        assert ended.result["error"]["code"] == Code.POISONED
        assert await world.violations(room) == []
    assert world.deaths == 5
