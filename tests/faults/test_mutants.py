"""Each promise left out, one at a time: the checks of these tests notice, and find nothing where it is kept."""

import asyncio
import signal

import psycopg
import pytest

from brasstag import Room
from tests.engine.crews import Script, call, turn
from tests.faults.conftest import MakeWorld
from tests.faults.harness import say_yes, until
from tests.faults.sleepers import QUICK, stopped_worker, wake
from tests.faults.workers import Fate

SEND: Script = {"boss": [turn(call("send")), turn(text="built")]}

WRITE: Script = {
    "boss": [turn(call("route_to_helper", request="Help")), turn(text="built")],
    "helper": [turn(call("write_file", path="old.md", content="new")), turn(text="helped")],
}
"""The helper waits for a yes, so that whoever gives it knows where the boss stands."""

HELP: Script = {
    "boss": [turn(call("route_to_helper", request="Help")), turn(text="built")],
    "helper": [turn(text="helped")],
}


@pytest.mark.parametrize("mutant", ["", "no_fence"])
async def test_a_worker_that_wakes_writes_a_turn_twice_unless_it_is_fenced(
    make_world: MakeWorld, mutant: str
) -> None:
    world = make_world(SEND)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        fate = Fate("answered", signal=signal.SIGSTOP, mutant=mutant)
        asleep = await stopped_worker(world, room, fate)
        world.hire(Fate(stopped_seconds=QUICK))
        await world.play(room, [run])
        wake(asleep)
        await world.dismiss()
        found = await world.violations(room)
    assert any("has turns [0, 1, 0]" in what for what in found) if mutant else found == []


@pytest.mark.parametrize("fate", [Fate("finished"), Fate(mutant="late_enqueue")])
async def test_a_task_woken_in_another_commit_than_its_reason_may_sleep_for_ever(
    make_world: MakeWorld, fate: Fate
) -> None:
    world = make_world(WRITE)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        world.hire(fate)

        async def waits() -> bool:
            boss = next(task for task in await room.tasks() if task.id == run)
            return boss.status == "blocked" and bool(await room.approvals())

        async def died() -> bool:
            await say_yes(room)
            return world.bury() == 1

        await until(waits, "a boss that waits for its helper")
        await until(died, "the death of a worker whose helper has ended")
        after = await room.start("Build once more", serve=False)
        world.hire()
        # Whoever ends a run that was begun later has had every reason to look at the first.
        await world.play(room, [after] if fate.mutant else [run, after])
        await world.dismiss()
        found = await world.violations(room)
    assert any(what.endswith("is stuck: blocked") for what in found) if fate.mutant else found == []


@pytest.mark.parametrize("mutant", ["", "blind_rerun"])
async def test_a_tool_that_acts_outside_acts_twice_where_recovery_runs_it_again(
    make_world: MakeWorld, mutant: str
) -> None:
    world = make_world(SEND)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        world.hire(Fate("performed"))
        await world.play(room, [run], [Fate(mutant=mutant)])
        await world.dismiss()
        found = await world.violations(room)
    assert world.deaths == 1
    assert any("ran 2 times and ended done" in what for what in found) if mutant else found == []


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
@pytest.mark.parametrize("mutant", ["child_before_parent", "parent_before_child"])
async def test_a_task_that_ends_while_its_run_is_stopped_deadlocks_where_it_locks_its_parent_first(
    make_world: MakeWorld, url: str, mutant: str
) -> None:
    world = make_world(HELP)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        asleep = await stopped_worker(world, room, Fate(mutant=mutant))
        stopping = asyncio.create_task(room.stop(run, "ada"))
        await until(lambda: _somebody_waits_for_a_lock(url), "a stop that waits for the worker")
        wake(asleep)
        (outcome,) = await asyncio.gather(stopping, return_exceptions=True)
        await world.play(room, [run])
        await world.dismiss()
        assert await world.violations(room) == []
    # The server chooses which of the two has to try again.
    heard = world.said("deadlock detected") + ("deadlock detected" in str(outcome))
    assert heard == (mutant == "parent_before_child")


def _somebody_waits_for_a_lock(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return bool(connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchall())
