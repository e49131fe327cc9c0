"""Hints, on each database: what is ready is run, side by side, and nothing is begun after the end."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text, update

from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.schema import tasks
from brasstag.store.jobs import sqlite
from brasstag.store.open import open_jobs
from brasstag.store.tasks.hints import Advance, Jobs
from brasstag.words.ids import new_id
from tests.postgres import Server
from tests.store.conftest import OpenDatabase, on_postgres, on_sqlite

SECONDS = 240.0


class Workshop:
    """A database with its jobs, and workers that claim as the engine does and note what they did."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.jobs: Jobs = open_jobs(database)
        self.offered: list[tuple[str, int]] = []
        self.done: list[tuple[str, int]] = []
        self.most = 0
        self.at_gate: set[str] = set()
        self._at_work: set[str] = set()
        self._gates: dict[str, asyncio.Event] = {}

    def ready(self, task_id: str = "", *, queue: str = "", wake: int = 1, jobs: Jobs | None = None) -> str:
        """Make a task ready, a new one where none is named, and hint at it."""
        with self.database.write() as transaction:
            task_id = self.put(transaction, task_id, queue=queue, wake=wake)
            (jobs or self.jobs).hint(transaction, task_id, queue or task_id, wake)
        return task_id

    def put(self, transaction: Transaction, task_id: str = "", *, queue: str = "", wake: int = 1) -> str:
        """Write a ready task down."""
        if task_id:
            again = update(tasks).where(tasks.c.id == task_id).values(status="ready", wake=wake)
            transaction.execute(again)
            return task_id
        task_id = new_id("task")
        columns = {"kind": "agent", "actor": "a", "role": "r", "boot": "b", "next_seq": 0, "head": "h"}
        columns |= {
            "signature": "s",
            "opened_at": "now",
            "woken_at": task_id,
            "status": "ready",
            "wake": wake,
        }
        transaction.execute(insert(tasks).values(id=task_id, queue=queue or task_id, **columns))
        return task_id

    def gate(self, task_id: str) -> asyncio.Event:
        """Let a task be worked on until this is set."""
        return self._gates.setdefault(task_id, asyncio.Event())

    async def advance(self, task_id: str, wake: int) -> None:
        self.offered.append((task_id, wake))
        assert task_id not in self._at_work, "one task was begun twice at the same time"
        self._at_work.add(task_id)
        self.most = max(self.most, len(self._at_work))
        try:
            if await self._retrying(lambda: self._move(task_id, wake, "ready", "running")):
                if task_id in self._gates:
                    self.at_gate.add(task_id)
                    await self._gates[task_id].wait()
                await self._retrying(lambda: self._move(task_id, wake, "running", "blocked"))
                self.done.append((task_id, wake))
        finally:
            self._at_work.discard(task_id)

    def _move(self, task_id: str, wake: int, before: str, after: str) -> bool:
        mine = (tasks.c.id == task_id, tasks.c.wake == wake, tasks.c.status == before)
        with self.database.write() as transaction:
            return transaction.execute(update(tasks).where(*mine).values(status=after)).rowcount == 1

    async def _retrying(self, act: Callable[[], bool]) -> bool:
        from brasstag.words.errors import StoreLost

        while True:
            try:
                return await asyncio.to_thread(act)
            except StoreLost:
                await asyncio.sleep(0.05)

    def is_at_work(self, task_id: str) -> bool:
        return task_id in self._at_work


@pytest.fixture
def workshop(database: Database) -> Workshop:
    return Workshop(database)


@asynccontextmanager
async def serving(jobs: Jobs, advance: Advance, **how: Any) -> AsyncIterator["asyncio.Task[None]"]:
    served = asyncio.ensure_future(jobs.serve(advance, **how))
    try:
        yield served
    finally:
        jobs.stop()
        await asyncio.wait_for(served, SECONDS)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 - what is waited for is a row in a database, or a list
            await asyncio.sleep(0.005)


async def test_a_task_made_ready_is_run(workshop: Workshop) -> None:
    async with serving(workshop.jobs, workshop.advance):
        for _ in range(3):
            task = await asyncio.to_thread(workshop.ready)
            await until(lambda task=task: (task, 1) in workshop.done)


async def test_what_was_ready_before_anybody_served_is_run(workshop: Workshop) -> None:
    waiting = [workshop.ready() for _ in range(5)]
    async with serving(workshop.jobs, workshop.advance, concurrency=1):
        await until(lambda: len(workshop.done) == 5)
    assert [task for task, _ in workshop.done] == waiting


async def test_a_hint_of_a_transaction_that_rolled_back_is_never_run(workshop: Workshop) -> None:
    async with serving(workshop.jobs, workshop.advance):
        with pytest.raises(RuntimeError), workshop.database.write() as transaction:
            lost = workshop.put(transaction)
            workshop.jobs.hint(transaction, lost, lost, 1)
            raise RuntimeError
        task = workshop.ready()
        await until(lambda: (task, 1) in workshop.done)
    assert lost not in dict(workshop.offered)


async def test_no_more_are_run_at_once_than_asked_for(workshop: Workshop) -> None:
    waiting = [workshop.ready() for _ in range(12)]
    gates = [workshop.gate(task) for task in waiting]
    async with serving(workshop.jobs, workshop.advance, concurrency=3):
        await until(lambda: workshop.most == 3)
        for gate in gates:
            gate.set()
        await until(lambda: len(workshop.done) == 12)
    assert workshop.most == 3


async def test_only_tasks_of_the_tree_asked_for_are_run(workshop: Workshop) -> None:
    queue, other = new_id("task"), new_id("task")
    others = [workshop.ready(queue=other) for _ in range(3)]
    mine = [workshop.ready(queue=queue) for _ in range(3)]
    async with serving(workshop.jobs, workshop.advance, queue=queue):
        await until(lambda: len(workshop.done) == 3)
        late = await asyncio.to_thread(lambda: workshop.ready(queue=queue))
        await until(lambda: (late, 1) in workshop.done)
    assert {task for task, _ in workshop.offered} == {*mine, late}
    async with serving(workshop.jobs, workshop.advance):
        await until(lambda: {task for task, _ in workshop.done} == {*mine, late, *others})


async def test_stop_lets_what_runs_end_and_begins_nothing_more(workshop: Workshop) -> None:
    task = workshop.ready()
    gate = workshop.gate(task)
    served = asyncio.ensure_future(workshop.jobs.serve(workshop.advance, concurrency=1))
    await until(lambda: task in workshop.at_gate)
    after = await asyncio.to_thread(workshop.ready)
    workshop.jobs.stop()
    gate.set()
    await asyncio.wait_for(served, SECONDS)
    assert workshop.offered == [(task, 1)] == workshop.done
    async with serving(workshop.jobs, workshop.advance):
        await until(lambda: (after, 1) in workshop.done)


async def test_a_stop_before_the_first_step_is_heard(workshop: Workshop) -> None:
    workshop.ready()
    served = asyncio.ensure_future(workshop.jobs.serve(workshop.advance))
    workshop.jobs.stop()
    await asyncio.wait_for(served, SECONDS)
    assert workshop.offered == []


async def test_a_stop_from_another_thread_is_heard(workshop: Workshop) -> None:
    served = asyncio.ensure_future(workshop.jobs.serve(workshop.advance))
    task = await asyncio.to_thread(workshop.ready)
    await until(lambda: (task, 1) in workshop.done)
    await asyncio.to_thread(workshop.jobs.stop)
    await asyncio.wait_for(served, SECONDS)


async def test_a_hint_given_twice_does_no_harm(workshop: Workshop) -> None:
    task = workshop.ready()
    workshop.ready(task)
    async with serving(workshop.jobs, workshop.advance):
        last = await asyncio.to_thread(workshop.ready)
        await until(lambda: {(task, 1), (last, 1)} <= set(workshop.done))
    assert workshop.done.count((task, 1)) == 1


async def test_a_task_woken_while_it_runs_is_run_again_when_it_has_ended(workshop: Workshop) -> None:
    task = workshop.ready()
    gate = workshop.gate(task)
    async with serving(workshop.jobs, workshop.advance):
        await until(lambda: task in workshop.at_gate)
        await asyncio.to_thread(lambda: workshop.ready(task, wake=2))
        gate.set()
        await until(lambda: (task, 2) in workshop.done)


async def test_a_task_another_process_made_ready_is_run(
    workshop: Workshop, open_database: OpenDatabase
) -> None:
    elsewhere = Workshop(open_database())
    async with serving(workshop.jobs, workshop.advance):
        first = await asyncio.to_thread(workshop.ready)
        await until(lambda: (first, 1) in workshop.done)
        task = await asyncio.to_thread(elsewhere.ready)
        await until(lambda: (task, 1) in workshop.done)


async def test_two_who_serve_run_each_task_once(workshop: Workshop, open_database: OpenDatabase) -> None:
    other = Workshop(open_database())
    async with serving(workshop.jobs, workshop.advance), serving(other.jobs, other.advance):
        waiting = [await asyncio.to_thread(workshop.ready) for _ in range(20)]
        await until(lambda: len(workshop.done) + len(other.done) == 20)
    assert sorted(workshop.done + other.done) == [(task, 1) for task in waiting]


async def test_one_that_fails_does_not_hold_up_the_others(
    workshop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    bad = workshop.ready()

    async def advance(task_id: str, wake: int) -> None:
        await workshop.advance(task_id, wake)
        if task_id == bad:
            raise ValueError("a bug")

    async with serving(workshop.jobs, advance, concurrency=1):
        task = await asyncio.to_thread(workshop.ready)
        await until(lambda: (task, 1) in workshop.done)
    assert f"{bad} could not be advanced" in caplog.text


async def test_cancelling_who_serves_cancels_what_runs(workshop: Workshop) -> None:
    task = workshop.ready()
    workshop.gate(task)
    served = asyncio.ensure_future(workshop.jobs.serve(workshop.advance))
    await until(lambda: task in workshop.at_gate)
    served.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(served, SECONDS)
    assert not workshop.is_at_work(task)
    assert workshop.done == []


@on_sqlite
async def test_a_task_nobody_could_take_is_left_alone_for_a_while(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "SURE_SECONDS", 3600.0)
    stubborn = workshop.ready()

    async def advance(task_id: str, wake: int) -> None:
        if task_id == stubborn:
            workshop.offered.append((task_id, wake))
        else:
            await workshop.advance(task_id, wake)

    async with serving(workshop.jobs, advance, concurrency=1):
        for _ in range(10):
            task = await asyncio.to_thread(workshop.ready)
            await until(lambda task=task: (task, 1) in workshop.done)
        assert workshop.offered.count((stubborn, 1)) == 1
        workshop.ready(stubborn, wake=2)
        await until(lambda: (stubborn, 2) in workshop.offered)


@on_postgres
async def test_jobs_that_are_done_are_not_kept(workshop: Workshop) -> None:
    async with serving(workshop.jobs, workshop.advance):
        for _ in range(5):
            await asyncio.to_thread(workshop.ready)
        await until(lambda: len(workshop.done) == 5)
        await until(lambda: _queued(workshop) == 0)


@on_postgres
async def test_jobs_of_workers_that_died_are_swept(workshop: Workshop) -> None:
    workshop.ready()
    with workshop.database.write() as transaction:
        transaction.execute(text("UPDATE procrastinate_jobs SET status = 'doing'"))
    async with serving(workshop.jobs, workshop.advance):
        await until(lambda: _queued(workshop) == 0)
    assert workshop.offered == []


def _queued(workshop: Workshop) -> int:
    with workshop.database.read() as view:
        return int(view.execute(select(func.count()).select_from(text("procrastinate_jobs"))).scalar_one())


@on_postgres
async def test_serving_goes_on_after_the_server_crashed(workshop: Workshop, postgres: Server) -> None:
    long = workshop.ready()
    gate = workshop.gate(long)
    async with serving(workshop.jobs, workshop.advance, concurrency=2):
        await until(lambda: long in workshop.at_gate)
        for _ in range(3):
            await asyncio.to_thread(postgres.restart)
            task = await asyncio.to_thread(workshop.ready)
            # While the long one is still at work: it is not waited for.
            await until(lambda task=task: (task, 1) in workshop.done)
        assert workshop.is_at_work(long)
        gate.set()
        await until(lambda: (long, 1) in workshop.done)


@on_postgres
async def test_a_server_that_is_away_is_told_of_in_one_sentence_and_tried_again(
    workshop: Workshop, postgres: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(workshop.jobs, workshop.advance):
        first = await asyncio.to_thread(workshop.ready)
        await until(lambda: (first, 1) in workshop.done)
        try:
            await asyncio.to_thread(lambda: postgres.stop(immediate=True))
            await until(lambda: "went away" in caplog.text)
        finally:
            await asyncio.to_thread(postgres.start)
        task = await asyncio.to_thread(workshop.ready)
        await until(lambda: (task, 1) in workshop.done)
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert {(record.name, record.exc_info) for record in told} == {("brasstag", None)}


@on_postgres
async def test_stop_is_heard_while_the_server_is_away(workshop: Workshop, postgres: Server) -> None:
    try:
        async with serving(workshop.jobs, workshop.advance):
            task = await asyncio.to_thread(workshop.ready)
            await until(lambda: (task, 1) in workshop.done)
            await asyncio.to_thread(lambda: postgres.stop(immediate=True))
    finally:
        await asyncio.to_thread(postgres.start)
