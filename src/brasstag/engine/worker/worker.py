"""Worker: takes ready tasks and works on them until it is told to stop.

One asyncio task for each task it holds, none for those that are blocked. Four rounds look after what hints cannot tell,
each at its own pace, so that none is held up by what another waits for:

    beating       shows other processes that this one does its work           waits for nothing
    glancing      breaks off what was stopped, or taken by another worker     waits for the database
    reconciling   repairs what dead and stopped workers left behind           waits for the database
    desks         settles what dead processes left at desks (no holder)       waits for tools
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import cast

from brasstag.engine.calls.counter import Counter
from brasstag.engine.recovery.crashed import recover_desks
from brasstag.engine.recovery.reconcile import reconcile
from brasstag.engine.runtime import Runtime
from brasstag.engine.worker.advance import TaskRunner
from brasstag.store.tasks.rows import Status, held_tasks
from brasstag.words.errors import StoreError

log = logging.getLogger("brasstag")

BEAT_SECONDS = 2.0
"""How often a process shows that it does its work."""

GLANCE_SECONDS = 0.25
"""How often a process looks whether the tasks it holds are still its own."""

RECONCILE_SECONDS = 5.0
"""How often a process looks over the whole room."""

_Look = Callable[..., dict[str, tuple[Status, int]]]


def _not_told(_task_id: str, _begins: bool) -> None:
    """Do nothing: no listener is set."""


class Worker:
    """Serves one room's ready tasks."""

    def __init__(self, runtime: Runtime, counter: Counter) -> None:
        self._runtime = runtime
        self._counter = counter
        self._tasks = TaskRunner(runtime, counter)
        self._here: dict[asyncio.Task[None], str] = {}
        self.told: Callable[[str, bool], None] = _not_told
        """Told of each task that is looked at here, and, with False, that it has been left."""

    async def serve(self, queue: str = "", concurrency: int = 8) -> None:
        """Work on ready tasks, of one queue or of all, until ``drain``; returns when what it held is done or given back."""
        self._runtime.boot.beat()
        rounds = [
            asyncio.create_task(_every(BEAT_SECONDS, self._beat)),
            asyncio.create_task(_every(GLANCE_SECONDS, self._leave_what_moved_on)),
            asyncio.create_task(_every(RECONCILE_SECONDS, self._reconcile)),
            asyncio.create_task(_every(RECONCILE_SECONDS, self._look_after_desks)),
        ]
        try:
            await self._runtime.store.jobs.serve(self._advance, queue=queue, concurrency=concurrency)
        finally:
            for one in rounds:
                one.cancel()
            await asyncio.gather(*rounds, return_exceptions=True)

    def drain(self) -> None:
        """Begin nothing more, and give back at its next step what is held."""
        self._tasks.draining = True
        self._runtime.store.jobs.stop()

    def abandon(self) -> None:
        """Break off what is held: models that still answer are not waited for."""
        for work in self._here:
            work.cancel()

    async def _advance(self, task_id: str, wake: int) -> None:
        work = asyncio.create_task(self._tasks.advance(task_id, wake))
        self._here[work] = task_id
        self.told(task_id, True)
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.wait({work})
            raise
        finally:
            del self._here[work]
            self.told(task_id, False)
        if not work.cancelled() and work.exception() is not None:
            log.error("advancing %s failed", task_id, exc_info=work.exception())

    async def _beat(self) -> None:
        self._runtime.boot.beat()

    async def _leave_what_moved_on(self) -> None:
        """Break off work on tasks that were stopped, or taken by another worker."""
        if not self._here:
            return
        # Listed before the look, so that a task taken in between is not judged by it.
        here = [(work, name, self._tasks.epoch_of(work)) for work, name in self._here.items()]
        names, look = [name for _, name, _ in here], self._runtime.store.read
        found = await self._runtime.threads.run(cast("_Look", look), lambda view: held_tasks(view, names))
        for work, name, epoch in here:
            status, held = found.get(name, ("running", epoch))
            if status not in ("ready", "running") or epoch not in (None, held):
                self._runtime.in_flight.stop(name)
                work.cancel()

    async def _reconcile(self) -> None:
        # First the endings that are known here and could not be written: a task may wait only for those.
        await self._runtime.threads.run(self._runtime.in_flight.write_unsettled)
        await self._runtime.in_flight.run(reconcile, self._runtime, self._holds)

    async def _look_after_desks(self) -> None:
        await self._runtime.in_flight.run(recover_desks, self._runtime)

    def _holds(self, task_id: str) -> bool:
        """Say whether this process works on a task."""
        return task_id in tuple(self._here.values())


async def _every(seconds: float, look: Callable[[], Awaitable[None]]) -> None:
    """Look again and again; one look that fails does not keep the next from being tried."""
    while True:
        try:
            await look()
        except StoreError as error:
            log.info("a look over the room was cut short: %s", error)
        except Exception:
            log.exception("a look over the room failed in an unforeseen way")
        await asyncio.sleep(seconds)
