"""Jobs on SQLite: the tasks table is the queue, and asking which tasks are ready is cheap.

A commit of this process rings a bell; one of another process shows in a number that SQLite keeps, read every few dozen
milliseconds. No SQL runs on the event loop.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from sqlalchemy import Connection, select

from brasstag.store.database.base import Transaction
from brasstag.store.database.schema import tasks
from brasstag.store.database.sqlite import SqliteDatabase
from brasstag.store.jobs.pool import Serving, ServingJobs, TaskPool
from brasstag.store.tasks.hints import OUTSIDE, Advance
from brasstag.store.tasks.transitions import ASIDE
from brasstag.words.errors import StoreError

log = logging.getLogger("brasstag")

_T = TypeVar("_T")
Work = tuple[str, int]

QUICK_SECONDS = 0.05
"""How soon a commit of another process is noticed while things happen."""

SLOW_SECONDS = 0.25
"""How soon, when nothing has happened for long."""

SLOWER = 1.1
"""What the pause grows by each time nothing has happened."""

SURE_SECONDS = 1.0
"""How often to look whatever the number says, and how long to leave a task alone that came back unchanged."""


class EmbeddedJobs(ServingJobs):
    """Brings ready tasks to the workers that serve them, in any process that has the file open."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__()
        self._database = database

    def hint(self, transaction: Transaction, task_id: str, queue: str, wake: int) -> None:  # noqa: ARG002
        """Ring the bell once the task is ready on disk; the table says which one it is."""
        transaction.after_commit.append(self._ring)

    async def _work(self, serving: Serving, advance: Advance, queue: str, concurrency: int) -> None:
        with _ReadyPoll(self._database, queue, concurrency) as poll:

            def left(task_id: str, wake: int) -> None:
                poll.returned.add((task_id, wake))
                serving.ring()

            async with TaskPool(advance, concurrency, left) as pool:
                pause, rang = QUICK_SECONDS, True
                while not serving.is_over:
                    has_changed = rang or bool(pool.free and await poll.sees_change())
                    if pool.free and (has_changed or poll.is_due):
                        await poll.fill(pool)
                    pause = QUICK_SECONDS if has_changed else min(pause * SLOWER, SLOW_SECONDS)
                    rang = await serving.rest(pause)


class _ReadyPoll:
    """Looks for ready tasks on a thread of its own, as other threads may be busy for long."""

    def __init__(self, database: SqliteDatabase, queue: str, concurrency: int) -> None:
        self.returned: set[Work] = set()
        """Tasks that left the pool since the last look."""
        self._database = database
        self._tree = queue
        self._concurrency = concurrency
        self._thread = ThreadPoolExecutor(1, "brasstag-jobs")
        self._open = ExitStack()
        self._version: Callable[[], int] = int
        self._seen = -1
        self._look_by = 0.0
        self._left_alone: dict[Work, float] = {}

    def __enter__(self) -> "_ReadyPoll":
        self._version = self._open.enter_context(self._database.watch())
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        self._open.close()

    @property
    def is_due(self) -> bool:
        """Whether the last look was long ago."""
        return asyncio.get_running_loop().time() >= self._look_by

    async def sees_change(self) -> bool:
        """Say whether another connection has committed anything since the last look."""
        version = await self._off_the_loop(self._version)
        return version is not None and version != self._seen

    async def fill(self, pool: TaskPool) -> None:
        """Begin as many ready tasks as there are places for."""
        now = asyncio.get_running_loop().time()
        self._look_by = now + SURE_SECONDS
        self._left_alone = {work: until for work, until in self._left_alone.items() if until > now}
        for work in await self._off_the_loop(self._look) or ():
            if work in self.returned:
                # Ready as before: the worker could do nothing with it just now.
                self._left_alone[work] = now + SURE_SECONDS
            elif pool.free and not pool.holds(work[0]) and work not in self._left_alone:
                pool.begin(*work)
        self.returned.clear()

    def _look(self) -> list[Work]:
        # Up to so many of the ready tasks are in the pool and not claimed yet, or left alone.
        most = 2 * self._concurrency + len(self._left_alone)
        # The number is read first: a commit after this line then shows as a change.
        self._seen = self._version()
        with self._database.read() as connection:
            return ready_tasks(connection, self._tree, most)

    async def _off_the_loop(self, look: Callable[[], _T]) -> _T | None:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, look)
        except StoreError as error:
            log.warning("ready tasks could not be looked for, and will be looked for again: %s", error)
            return None


def ready_tasks(connection: Connection, queue: str, most: int) -> list[tuple[str, int]]:
    """Return ready tasks, of one queue or of all, with their wakes; the task that has waited longest comes first."""
    # A task that has stepped aside comes forward by itself.
    query = select(tasks.c.id, tasks.c.wake).where(tasks.c.status == "ready", tasks.c.boot != ASIDE)
    query = query.where(tasks.c.queue == queue if queue else tasks.c.queue != OUTSIDE)
    found = connection.execute(query.order_by(tasks.c.woken_at, tasks.c.id).limit(most))
    return [(row.id, row.wake) for row in found]
