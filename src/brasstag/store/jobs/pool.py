"""A pool of tasks that are worked on side by side, and the serving that starts, wakes and stops them."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from brasstag.store.tasks.hints import Advance

log = logging.getLogger("brasstag")


class NotBegun(Exception):
    """There was no place for this task before the pool closed, or the job that brought it was cancelled."""


_PLACE: ContextVar["tuple[TaskPool, str] | None"] = ContextVar("place", default=None)
"""The pool that works on this task, and the task."""


@contextmanager
def lending_place() -> Iterator[None]:
    """Let other tasks have the place of this one while it only waits; then it goes on, even if no place is free."""
    place = _PLACE.get()
    if place is None:
        yield
        return
    pool, task_id = place
    pool.lend(task_id)
    try:
        yield
    finally:
        pool.take_back(task_id)


class TaskPool:
    """Advances tasks, so many at once and no more, and never one task twice at the same time."""

    def __init__(
        self, advance: Advance, places: int, on_end: Callable[[str, int], None] | None = None
    ) -> None:
        """Tell ``on_end`` of each task that leaves, and the wake it was there for."""
        self._advance = advance
        self._places = places
        self._on_end = on_end
        self._running: dict[str, asyncio.Task[None]] = {}
        self._lent: set[str] = set()
        self._served: dict[str, asyncio.Future[None]] = {}
        """By task: the end of the job that brought it; it comes early where the task lends its place."""
        self._changed = asyncio.Event()
        self._is_closed = False

    @property
    def free(self) -> int:
        """How many more tasks there is room for."""
        return max(0, self._places - len(self._running) + len(self._lent))

    def holds(self, task_id: str) -> bool:
        """Say whether a task is being worked on here."""
        return task_id in self._running

    def begin(self, task_id: str, wake: int) -> "asyncio.Task[None]":
        """Begin to work on a task, for which there must be a place."""
        running = asyncio.create_task(self._work(task_id, wake), name=f"advance {task_id}")
        self._running[task_id] = running
        return running

    def lend(self, task_id: str) -> None:
        """Let other tasks have the place of one that only waits."""
        if task_id in self._running:
            self._lent.add(task_id)
            if (served := self._served.get(task_id)) is not None and not served.done():
                served.set_result(None)
            self._stir()

    def take_back(self, task_id: str) -> None:
        """End what ``lend`` began."""
        self._lent.discard(task_id)

    async def run(self, task_id: str, wake: int) -> None:
        """Wait for a place, then until the task is done here, or lends its place.

        Cancelling the second wait does not stop the work.
        """
        try:
            while not self._is_closed and (self.free <= 0 or self.holds(task_id)):
                await self._changed.wait()
        except asyncio.CancelledError:
            raise NotBegun(task_id) from None
        if self._is_closed:
            raise NotBegun(task_id)
        served = self._served[task_id] = asyncio.get_running_loop().create_future()
        self.begin(task_id, wake).add_done_callback(partial(_end, served))
        await asyncio.shield(served)

    async def __aenter__(self) -> "TaskPool":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Begin nothing more, and wait until the pool is empty; cancelling this wait cancels the tasks in the pool."""
        self._is_closed = True
        self._stir()
        try:
            if kind is not None and issubclass(kind, asyncio.CancelledError):
                self._cancel()
            while self._running:
                await asyncio.wait(self._running.values())
        except asyncio.CancelledError:
            self._cancel()
            raise

    def _cancel(self) -> None:
        for running in self._running.values():
            running.cancel()

    async def _work(self, task_id: str, wake: int) -> None:
        _PLACE.set((self, task_id))
        try:
            await self._advance(task_id, wake)
        except Exception:
            # ``advance`` should never raise. If it does, the task stays as it is, and others go on.
            log.exception("%s could not be advanced", task_id)
        finally:
            del self._running[task_id]
            self._lent.discard(task_id)
            self._served.pop(task_id, None)
            self._stir()
            if self._on_end is not None:
                self._on_end(task_id, wake)

    def _stir(self) -> None:
        """Let every waiting ``run`` look again."""
        self._changed.set()
        self._changed = asyncio.Event()


def _end(served: "asyncio.Future[None]", running: "asyncio.Task[None]") -> None:
    if not served.done():
        served.cancel() if running.cancelled() else served.set_result(None)


class Serving:
    """One period of serving, from ``begin`` to ``end``."""

    def __init__(self) -> None:
        self.is_over = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bell = asyncio.Event()
        self._over = asyncio.Event()

    def begin(self) -> None:
        """React to ``ring`` from now on."""
        self._loop = asyncio.get_running_loop()

    def ring(self) -> None:
        """Say that there may be something to do."""
        self._set(self._bell)

    def end(self) -> None:
        """Say that no more tasks are to be begun."""
        self.is_over = True
        self._set(self._over)
        self.ring()

    async def rest(self, seconds: float | None) -> bool:
        """Wait for the bell, for so long at most; returns whether it rang, or serving is over."""
        with suppress(TimeoutError):
            if not self.is_over:
                await asyncio.wait_for(self._bell.wait(), seconds)
        rang = self._bell.is_set() or self.is_over
        self._bell.clear()
        return rang

    async def until_over(self) -> None:
        """Wait for the end."""
        if not self.is_over:
            await self._over.wait()

    def _set(self, event: asyncio.Event) -> None:
        if self._loop is not None:
            # A loop that has closed has no waiting task left to wake.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(event.set)


class ServingJobs(ABC):
    """What both kinds of jobs do alike: start serving, and stop it."""

    def __init__(self) -> None:
        self._servings: set[Serving] = set()

    def serve(self, advance: Advance, *, queue: str = "", concurrency: int = 8) -> Coroutine[Any, Any, None]:
        """Run ready tasks, of one queue or of all, until ``stop``; returns once what it began has ended.

        Cancelling it cancels what it began.
        """
        # Registered now, not at the first step of the coroutine, so that a ``stop`` in between takes effect.
        serving = Serving()
        self._servings.add(serving)
        return self._serve(serving, advance, queue, concurrency)

    def stop(self) -> None:
        """Begin nothing more."""
        for serving in tuple(self._servings):
            serving.end()

    def _ring(self) -> None:
        for serving in tuple(self._servings):
            serving.ring()

    async def _serve(self, serving: Serving, advance: Advance, queue: str, concurrency: int) -> None:
        serving.begin()
        try:
            await self._work(serving, advance, queue, concurrency)
        finally:
            self._servings.discard(serving)

    @abstractmethod
    async def _work(self, serving: Serving, advance: Advance, queue: str, concurrency: int) -> None:
        """Advance ready tasks until serving is over and they have ended."""
