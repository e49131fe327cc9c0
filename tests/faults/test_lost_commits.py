"""Commits that arrived although the worker heard otherwise, and commits that did not: it looks again, and goes on."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from brasstag import Room, tool
from tests.engine.crews import call, turn
from tests.faults.conftest import MakeWorld
from tests.faults.harness import PATIENCE, World
from tests.faults.losing import Loses, Losses, every, sometimes
from tests.faults.mill import SHORT
from tests.faults.workers import hasten

APART = 6
"""Every so many commits one is lost, beginning with each of the first so many: together that is every one of a run."""

FEWEST_COMMITS = 24
"""A run of the short script takes more than this."""


@pytest.fixture(autouse=True)
def _hastened(monkeypatch: pytest.MonkeyPatch) -> None:
    hasten(monkeypatch.setattr)


@asynccontextmanager
async def losing_worker(world: World, loses: Loses) -> AsyncIterator[Losses]:
    """A worker in this process, whose commits get lost."""
    async with Room.open(world.mill.project) as worker:
        losses = Losses(worker, loses)
        serving = asyncio.create_task(worker.serve())
        try:
            yield losses
        finally:
            losses.end()
            worker.runs.drain()
            await serving


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("first", range(APART))
async def test_a_commit_lost_is_no_call_lost(
    make_world: MakeWorld, first: int, when: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_world(SHORT)
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        async with losing_worker(world, every(APART, first, when)) as losses:
            await world.play(room, [run])
        assert await world.violations(room) == []
        ended = await room.runs.ended(run)
        assert ended is not None
        assert ended.result == "built"
    assert losses.lost >= FEWEST_COMMITS // APART
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize("seed", range(2))
async def test_one_commit_in_five_lost_is_no_call_lost(
    make_world: MakeWorld, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        async with (
            losing_worker(world, sometimes(seed, 0.2)) as one,
            losing_worker(world, sometimes(seed + 10, 0.2)) as other,
        ):
            await world.play(room, [run])
        assert await world.whole(room, run) == []
    assert one.lost + other.lost
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_an_end_that_is_lost_twice_is_written_while_its_task_waits_for_it(
    make_world: MakeWorld,
) -> None:
    world = make_world({"boss": [turn(call("post")), turn(text="built")]})
    losing: list[str] = []

    @tool(effects="external", approval="auto")
    def post() -> str:
        """Post a letter, just before the database goes away."""
        losing.extend(["before"] * 2)
        return "posted"

    async with Room.open(world.mill.project) as room:
        room.register(post)
        Losses(room, lambda _: losing.pop() if losing else "")
        run = await room.start("Build")
        async with asyncio.timeout(PATIENCE):
            assert (await room.finished(run)).result == "built"
        assert losing == []
        assert await world.violations(room) == []
