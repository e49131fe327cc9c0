"""The floor: where a process works on ready tasks, until it is told to stop.

One asyncio task for each task it holds, none for those that are blocked; a slow tick looks after what hints cannot tell.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from brasstag.engine.advance import Advancing
from brasstag.engine.dispatch import Counter
from brasstag.engine.reconciling import reconcile
from brasstag.engine.shop import Shop
from brasstag.store.tasks import held_tasks
from brasstag.words.errors import StoreError

log = logging.getLogger("brasstag")

GLANCE_SECONDS = 0.25
"""How often a process looks whether the tasks it holds are still its own."""

GLANCES_TO_RECONCILE = 20
"""How many glances lie between two looks over the whole room."""


def _nobody_told(_task_id: str, _begins: bool) -> None:
    """Nobody wants to know."""


class Floor:
    """Serves one room's ready tasks."""

    def __init__(self, shop: Shop, counter: Counter) -> None:
        self._shop = shop
        self._counter = counter
        self._advancing = Advancing(shop, counter)
        self._here: dict[asyncio.Task[None], str] = {}
        self.told: Callable[[str, bool], None] = _nobody_told
        """Told of each task that is looked at here, and, with False, that it has been left."""

    async def serve(self, queue: str = "", concurrency: int = 8) -> None:
        """Work on ready tasks, of one queue or of all, until ``drain``; returns when what it held is done or given back."""
        self._shop.boot.beat()
        ticking = asyncio.create_task(self._tick())
        try:
            await self._shop.books.jobs.serve(self._advance, queue=queue, concurrency=concurrency)
        finally:
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking

    def drain(self) -> None:
        """Begin nothing more, and give back at its next step what is held."""
        self._advancing.draining = True
        self._shop.books.jobs.stop()

    def abandon(self) -> None:
        """Break off what is held: models that still answer are not waited for."""
        for work in self._here:
            work.cancel()

    async def _advance(self, task_id: str, wake: int) -> None:
        work = asyncio.create_task(self._advancing.advance(task_id, wake))
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

    async def _tick(self) -> None:
        glances = 0
        while True:
            is_due = glances % GLANCES_TO_RECONCILE == 0
            if is_due:
                # First of all: who has to wait for the database has not stopped.
                self._shop.boot.beat()
            with suppress(StoreError):
                if self._here:
                    await self._leave_what_moved_on()
                if is_due:
                    await self._counter.watched(reconcile, self._shop, self._holds)
            glances += 1
            await asyncio.sleep(GLANCE_SECONDS)

    async def _leave_what_moved_on(self) -> None:
        """Break off work on tasks that were stopped, or taken by another worker."""
        here = dict(self._here)
        look: Callable[..., dict[str, tuple[str, int]]] = self._shop.books.read
        found = await self._shop.threads.run(look, lambda view: held_tasks(view, list(here.values())))
        for work, name in here.items():
            if name in found and found[name][0] not in ("ready", "running"):
                self._counter.hurry(name)
                work.cancel()

    def _holds(self, task_id: str) -> bool:
        """Say whether anybody here works on a task."""
        return task_id in tuple(self._here.values())
