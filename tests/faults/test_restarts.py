"""Postgres ended the hard way and started again, while workers are in the middle of things."""

import asyncio

import pytest

from brasstag import Room
from brasstag.words.errors import StoreLost
from tests.faults.conftest import MakeWorld
from tests.faults.harness import until
from tests.faults.workers import Fate
from tests.postgres import Server

ENTRIES = (10, 40, 80)
"""How long the timelines are when the server goes; two runs of the whole script take more than this."""


@pytest.mark.slow
@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_server_that_crashes_and_comes_back_costs_no_call_and_no_worker(
    make_world: MakeWorld, postgres: Server
) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        runs = [await room.start("Build", serve=False) for _ in range(2)]
        hired = world.hire(*[Fate()] * 2)
        await asyncio.gather(world.play(room, runs), _crash_again_and_again(room, postgres))
        assert world.workers == hired
        await world.dismiss()
        assert await world.violations(room) == []
    assert world.deaths == 0


async def _crash_again_and_again(room: Room, server: Server) -> None:
    for entries in ENTRIES:

        async def has_come_so_far(least: int = entries) -> bool:
            try:
                return len(await room.timeline()) >= least
            except StoreLost:
                return False

        await until(has_come_so_far, f"a timeline of {entries} entries")
        await asyncio.to_thread(server.restart)
