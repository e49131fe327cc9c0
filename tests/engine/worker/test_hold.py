"""Holding a task: taken, given back, reclaimed."""

import asyncio
from pathlib import Path

from brasstag import Room, tool
from brasstag.app.runs import Ended
from brasstag.engine.worker.advance import MOST_ATTEMPTS
from brasstag.store.tasks.rows import Task, get_task
from brasstag.words.errors import Code
from brasstag.words.turns import Usage
from tests.engine.crews import call, turn, write_script


def look(room: Room, run: str) -> Task:
    return room.store.read(lambda view: get_task(view, run))


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
            held = room.store.graph.take(run, look(room, run).wake)
            assert held is not None
            room.store.graph.let_go(held)
        assert (await serve_until_ended(room, run)).result == "Done."


async def test_a_task_whose_holders_keep_dying_is_given_up(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", serve=False)
        for _ in range(MOST_ATTEMPTS):
            assert room.store.graph.take(run, look(room, run).wake) is not None
            assert room.store.graph.reclaim(look(room, run))
        assert (await serve_until_ended(room, run)).result["error"]["code"] == Code.POISONED


async def test_a_task_given_back_after_a_turn_has_no_attempt_behind_it(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", serve=False)
        held = room.store.graph.take(run, look(room, run).wake)
        assert held is not None
        room.store.graph.record_turn(held, {"turn": 0, "calls": []}, Usage(1, 1))
        room.store.graph.let_go(held)
        assert look(room, run).attempts == 0


async def test_work_on_a_task_that_another_worker_has_taken_is_broken_off(crew: Path) -> None:
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

    write_script(crew, {"boss": [turn(call("wait")), turn(text="Done.")]})
    async with Room.open(crew) as room:
        room.register(wait)
        run = await room.start("Go", serve=False)
        serving = asyncio.create_task(room.serve())
        await begun.wait()
        # Another queue, so that it is taken here and nowhere else.
        room.store.graph.requeue(run, "elsewhere")
        room.runs.drain()
        assert room.store.graph.reclaim(look(room, run))
        held = room.store.graph.take(run, look(room, run).wake)
        assert held is not None
        async with asyncio.timeout(120):
            await broken_off.wait()
            await serving
        assert look(room, run).epoch == held.epoch
        assert look(room, run).status == "running"
