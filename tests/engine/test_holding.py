"""Holding a task: taken, given back, reclaimed."""

import asyncio
from pathlib import Path

from brasstag import Room
from brasstag.app.runs import Ended
from brasstag.engine.advance import MOST_ATTEMPTS
from brasstag.store.tasks import Task, get_task
from brasstag.words.errors import Code
from tests.engine.crews import turn, write_script


def look(room: Room, run: str) -> Task:
    return room.books.read(lambda view: get_task(view, run))


async def serve_until_ended(room: Room, run: str) -> Ended:
    serving = asyncio.create_task(room.serve())
    ended = await room.finished(run)
    room.runs.drain()
    await serving
    return ended


async def test_a_task_given_back_any_number_of_times_is_not_given_up(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", serve=False)
        for _ in range(2 * MOST_ATTEMPTS):
            held = room.books.graph.take(run, look(room, run).wake)
            assert held is not None
            room.books.graph.let_go(held)
        assert (await serve_until_ended(room, run)).result == "Done."


async def test_a_task_whose_holders_keep_dying_is_given_up(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", serve=False)
        for _ in range(MOST_ATTEMPTS):
            assert room.books.graph.take(run, look(room, run).wake) is not None
            assert room.books.graph.reclaim(look(room, run))
        assert (await serve_until_ended(room, run)).result["error"]["code"] == Code.POISONED
