"""Tasks whose timeline does not hold, or was removed: they end, can be stopped, and whoever waits for them hears of it."""

import asyncio
from pathlib import Path

from sqlalchemy import update

from brasstag import Room, tool
from brasstag.store.database.schema import tasks
from brasstag.store.maintenance.redact import redact
from brasstag.store.tasks.rows import Task
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.engine.crews import ADA, call, turn, write_script
from tests.engine.graph.test_unknowns import post, question_of


def spoil(room: Room, task_id: str) -> None:
    """Give a task a head that nobody here has signed."""
    with room.store.database.write() as transaction:
        transaction.execute(update(tasks).where(tasks.c.id == task_id).values(signature="ab" * 32))


async def worker_that_waits(room: Room, crew: Path) -> tuple[str, str, Task]:
    """Return a run, the task of its worker, and the question that one waits for."""
    write_script(
        crew,
        {
            "boss": [turn(call("route_to_worker", request="Work", documents=[])), turn(text="Then without.")],
            "worker": [turn(call("post", letter="to Bob")), turn(text="Posted.")],
        },
    )
    room.register(post)
    run = await room.start("Go")
    question = await question_of(room, run)
    return run, question.parent_id, question


async def told(room: Room, run: str) -> str:
    """Return the code of the failure a run's lead was told of."""
    [returned] = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.RETURNED]
    return str((returned.payload or {})["result"]["error"]["code"])


async def test_a_task_whose_timeline_does_not_hold_ends_and_its_parent_goes_on(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, worker, question = await worker_that_waits(room, crew)
        before = len(await room.timeline(worker))
        spoil(room, worker)
        await room.answer(question.id, "It happened.", ADA)
        assert (await room.finished(run)).result == "Then without."
        assert await told(room, run) == Code.INTERNAL_ERROR
        assert len(await room.timeline(worker)) == before
        assert not (await room.verify()).ok


async def test_a_task_whose_timeline_does_not_hold_is_stopped_with_its_run(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, worker, question = await worker_that_waits(room, crew)
        spoil(room, worker)
        stopped = await room.stop(run, "ada")
        assert stopped.tasks == [question.id, worker, run]
        assert {task.status for task in await room.tasks(run)} == {"cancelled"}


async def test_a_run_whose_timeline_does_not_hold_fails(crew: Path) -> None:
    write_script(crew, {"boss": [turn(call("ask_master", question="How?")), turn(text="So.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go")
        question = await question_of(room, run)
        spoil(room, run)
        await room.answer(question.id, "So.", ADA)
        assert (await room.finished(run)).task.status == "failed"


async def test_a_task_whose_request_was_removed_ends_and_its_parent_goes_on(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, worker, question = await worker_that_waits(room, crew)
        opened = (await room.timeline(worker))[0]
        redact(room.store, opened, "ada", "private")
        await room.answer(question.id, "It happened.", ADA)
        assert (await room.finished(run)).result == "Then without."
        assert await told(room, run) == Code.CANCELLED
        assert (await room.verify()).ok


async def test_a_call_that_cannot_be_written_down_for_good_ends_its_task(crew: Path) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    @tool(approval="auto")
    async def wait() -> str:
        """Wait for a sign."""
        begun.set()
        await go.wait()
        return "waited"

    write_script(crew, {"boss": [turn(call("wait")), turn(text="Done.")]})
    async with Room.open(crew) as room:
        room.register(wait)
        run = await room.start("Go")
        await begun.wait()
        room.store.timeline.forget(run)
        spoil(room, run)
        go.set()
        ended = await room.finished(run)
        assert ended.result["error"]["code"] == Code.INTERNAL_ERROR
