"""kill -9 at every point a worker passes, and anywhere: nothing is lost, nothing happens twice, nothing stays lying."""

from collections.abc import Iterator

import pytest

from brasstag import Room
from tests.faults.conftest import MakeWorld
from tests.faults.workers import Fate

POINTS = (
    ("taken", "claimed", "synced"),
    ("answered", "performed", "0: written"),
    ("turn recorded", "settled", "0: checked"),
    ("opened", "0: placed", "finished"),
    ("blocked", "0: exchanged", "ended"),
    ("persisted", "0: cleared", "finished"),
)
"""Between any two of these a worker may die; those with a number are steps of a change to a file."""


@pytest.mark.parametrize("points", POINTS, ids=", ".join)
async def test_whoever_dies_at_a_point_leaves_everything_to_the_next(
    make_world: MakeWorld, points: tuple[str, ...]
) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        run = await room.start("Build", serve=False)
        # One after the other, so that each comes to its point.
        world.hire(Fate(points[0]))
        await world.play(room, [run], [*map(Fate, points[1:]), Fate(points[0], 1)])
        await world.dismiss()
        assert await world.whole(room, run) == []
    assert world.deaths >= len(points)


@pytest.mark.parametrize("seed", range(1))
async def test_whoever_dies_anywhere_leaves_everything_to_the_next(make_world: MakeWorld, seed: int) -> None:
    world = make_world()
    async with Room.open(world.mill.project) as room:
        runs = [await room.start("Build", serve=False), await room.start("Build again", serve=False)]
        world.hire(*_by_chance(seed, 3))
        await world.play(room, runs, _by_chance(100 + seed, 12))
        await world.dismiss()
        assert await world.violations(room) == []
    assert world.deaths >= 3


def _by_chance(seed: int, workers: int) -> Iterator[Fate]:
    for number in range(workers):
        yield Fate(share=0.05, seed=1000 * seed + number, most_attempts=50)
