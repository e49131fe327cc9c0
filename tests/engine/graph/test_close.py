"""Endings that somebody else gets in the way of: they are written all the same, or at least the task ends."""

import asyncio
import threading
from pathlib import Path

from sqlalchemy import delete, text

from brasstag import Room, Waiting
from brasstag.store.database.schema import tasks
from brasstag.store.tasks.approvals import get_approval
from brasstag.store.tasks.end import Decision
from brasstag.store.tasks.types import Ending
from brasstag.words.approvals import ApprovalState
from brasstag.words.calls import Call
from brasstag.words.events import EntryKind
from tests.engine.crews import ADA, turn, write_script
from tests.engine.worker.test_hold import look, serve_until_ended
from tests.engine.worker.test_unproven import worker_that_waits

NO_MORE_ENDS = {
    "sqlite": "CREATE TRIGGER no_more BEFORE INSERT ON entries WHEN NEW.kind = 'closed' "
    "BEGIN SELECT RAISE(ABORT, 'no more ends'); END",
    "postgresql": "ALTER TABLE entries ADD CONSTRAINT no_more CHECK (kind <> 'closed')",
}


async def test_a_task_ends_as_it_does_though_a_person_decides_meanwhile(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    (crew / "data" / "a.md").write_text("old")
    decided, commit = threading.Event(), threading.Event()
    async with Room.open(crew) as room:
        store = room.store
        run = await room.start("Go", serve=False)
        held = store.graph.take(run, look(room, run).wake)
        assert held is not None
        arguments = {"path": "a.md", "content": "new"}
        call = Call(f"{run}:0.0", "write_file", arguments, "agent:boss", "boss", run, epoch=held.epoch)
        waiting = await room._counter.dispatch(call)
        assert isinstance(waiting, Waiting)
        approval = store.read(lambda view: get_approval(view, waiting.approval_id))

        def decide() -> None:
            with store.database.write() as transaction:
                denied = Decision(ApprovalState.DENIED, "ada")
                store.endings.decide(transaction, approval, denied, {"state": "denied"})
                decided.set()
                commit.wait()

        deciding = asyncio.create_task(asyncio.to_thread(decide))
        await asyncio.to_thread(decided.wait)
        ending = Ending("failed", {"type": "root", "tool": "end", "input": {}, "result": "too dear"})
        finishing = asyncio.create_task(asyncio.to_thread(store.graph.finish, held, ending))
        # Time enough to come as far as it can before the person's word is written.
        done, _ = await asyncio.wait({finishing}, timeout=0.5)
        assert not done
        commit.set()
        await asyncio.gather(deciding, finishing)
        [closed] = [entry for entry in await room.timeline(run) if entry.kind is EntryKind.CLOSED]
        assert (closed.payload or {})["result"] == "too dear"
        assert [one.state for one in await room.approvals()] == [ApprovalState.DENIED]


async def test_a_task_whose_parent_is_gone_ends(crew: Path) -> None:
    async with Room.open(crew) as room:
        run, worker, question = await worker_that_waits(room, crew)
        with room.store.database.write() as transaction:
            transaction.execute(delete(tasks).where(tasks.c.id == run))
        await room.answer(question.id, "It happened.", ADA)
        ended = await room.finished(worker)
        assert ended.task.has_ended
        assert EntryKind.CLOSED in [entry.kind for entry in await room.timeline(worker)]


async def test_a_task_whose_end_can_never_be_written_ends_without_it(crew: Path) -> None:
    write_script(crew, {"boss": [turn(text="Done.")]})
    async with Room.open(crew) as room:
        run = await room.start("Go", serve=False)
        with room.store.database.write() as transaction:
            transaction.execute(text(NO_MORE_ENDS[transaction.connection.dialect.name]))
        ended = await serve_until_ended(room, run)
        assert ended.task.status == "failed"
        assert ended.task.attempts <= 1
        assert EntryKind.CLOSED not in [entry.kind for entry in await room.timeline(run)]
        assert not (await room.verify()).ok
