"""A database that takes nothing for a while: the disk is full, or another process holds it. Work waits, and goes on."""

import os
import signal
import sqlite3
from contextlib import closing

import pytest

from brasstag import Room
from tests.faults.conftest import MakeWorld
from tests.faults.harness import until
from tests.faults.workers import Fate


@pytest.fixture
def url() -> str:
    """A Postgres that is full says so, and is full for everybody: these are for SQLite."""
    return ""


@pytest.mark.parametrize("more", [10_000, 60_000, 110_000, 160_000])
async def test_a_full_disk_loses_no_call(make_world: MakeWorld, more: int) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        size = (world.mill.project / ".brasstag" / "state.db-wal").stat().st_size
        (worker,) = world.hire(Fate(largest_file=size + more))
        await until(
            lambda: world.said("waits for the database") + world.said("waiting for the database") > 2, "full"
        )
        os.kill(worker.pid or 0, signal.SIGUSR1)
        await world.play(room, [run])
        await world.dismiss()
        assert await world.whole(room, run) == []


async def test_a_database_held_for_too_long_loses_no_call(make_world: MakeWorld) -> None:
    world = make_world()
    file = world.mill.project / ".brasstag" / "state.db"
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            world.hire(Fate(patience=0.2))
            await until(lambda: world.said("locked") > 2, "it has waited in vain")
            other.execute("COMMIT")
        await world.play(room, [run])
        await world.dismiss()
        assert await world.whole(room, run) == []
