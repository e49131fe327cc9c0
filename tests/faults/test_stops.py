"""SIGSTOP: a worker that sleeps through its task's life must neither write nor touch anything when it wakes."""

import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from brasstag import Room
from brasstag.words.events import EntryKind
from tests.engine.crews import call, turn
from tests.faults.conftest import MakeWorld
from tests.faults.harness import World, until
from tests.faults.mill import SHORT
from tests.faults.workers import Fate

QUICK = 1.0
"""How soon the others of these tests take tasks from a worker that has stopped."""

OVERWRITE = {
    "boss": [turn(call("write_file", path="new.md", content="written by an agent")), turn(text="built")]
}


async def stopped_worker(world: World, point: str) -> BaseProcess:
    """Start a worker and wait until it has come to a point and sleeps there."""
    (worker,) = world.hire(Fate(point, signal=signal.SIGSTOP))
    await until(lambda: is_stopped(worker), f"a worker stopped at {point}")
    return worker


def is_stopped(worker: BaseProcess) -> bool:
    return Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def wake(worker: BaseProcess) -> None:
    os.kill(worker.pid or 0, signal.SIGCONT)


@pytest.mark.parametrize("point", ["taken", "answered", "turn recorded", "persisted", "settled", "opened"])
async def test_a_worker_that_wakes_after_its_run_was_finished_changes_nothing(
    make_world: MakeWorld, point: str
) -> None:
    world = make_world(SHORT)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        asleep = await stopped_worker(world, point)
        world.hire(Fate(stopped_seconds=QUICK))
        await world.play(room, [run])
        for name in ("old.md", "help.md"):
            (world.mill.project / "data" / name).write_text("edited since")
        before = await room.timeline()
        wake(asleep)
        await world.dismiss()
        assert await room.timeline() == before
        assert world.mill.files() == {"old.md": "edited since", "help.md": "edited since"}
        assert await world.violations(room) == []


@pytest.mark.parametrize("point", ["claimed", "0: written", "performed"])
async def test_a_worker_that_acts_keeps_its_claim_while_it_sleeps(make_world: MakeWorld, point: str) -> None:
    world = make_world(SHORT)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        asleep = await stopped_worker(world, point)
        world.hire(Fate(stopped_seconds=QUICK))
        claims = [entry.call_id for entry in await room.timeline() if entry.kind is EntryKind.CLAIMED]
        settled = [entry.call_id for entry in await room.timeline() if entry.kind is EntryKind.SETTLED]
        (acting,) = set(claims) - set(settled)
        wake(asleep)
        await world.play(room, [run])
        await world.dismiss()
        assert await world.violations(room) == []


@pytest.mark.parametrize("point", ["persisted", "claimed", "0: written"])
async def test_a_worker_that_wakes_after_its_run_was_stopped_leaves_the_workspace_alone(
    make_world: MakeWorld, point: str
) -> None:
    world = make_world(OVERWRITE)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        asleep = await stopped_worker(world, point)
        await room.stop(run, "ada")
        await until(lambda: True, "")
        before = world.mill.files()
        import asyncio

        await asyncio.sleep(2.5)
        wake(asleep)
        await world.dismiss()
        assert await world.violations(room) == []
        assert "new.md" not in world.mill.files()
