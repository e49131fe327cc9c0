"""Threads for sync work beside the event loop; one that never returns can be left behind.

The engine itself is sync and runs here, one worker a call. So a call leaves the loop once and comes back once, and a
caller that goes away cannot stop it halfway.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")
_Job = Callable[[], None]


FEW = 8
"""Short jobs at once: enough to keep a database busy; with more, threads mostly wait for each other."""


MOST_IDLE = 32
"""Workers kept for the next jobs; after a rush the other workers end."""


class AnsweredElsewhere(BaseException):
    """Raised by a job that returns no result: another job gives, or has given, the result in its place."""


class Threads:
    """Idle workers, handed out one a job; a job that hangs keeps its worker, and others are not held up."""

    def __init__(self) -> None:
        self._idle: list[_Thread] = []
        self._busy: set[asyncio.Future[Any]] = set()
        self._quiet = asyncio.Event()
        self._few = asyncio.Semaphore(FEW)

    async def run(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run ``function`` on a worker and return what it returns, or raise what it raises."""
        return await self.start(function, *arguments)

    async def run_short(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Run a job that ends once the database has answered; only a few run at a time, however many tasks are live."""
        async with self._few:
            return await self.start(function, *arguments)

    def start(self, function: Callable[..., _T], *arguments: Any) -> "asyncio.Future[_T]":
        """Start ``function`` on a worker. The function goes on even if the caller drops the future."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()
        worker = self._idle.pop() if self._idle else _Thread()
        context = contextvars.copy_context()
        self._busy.add(future)

        # Annotations of a function made for each job are evaluated for each job, so these are short.
        def deliver(result: Any, error: Any) -> None:
            self._rest(worker)
            self.leave_behind(future)
            if future.done() or isinstance(error, AnsweredElsewhere):
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)

        def job() -> None:
            result: _T | None = None
            error: BaseException | None = None
            try:
                result = context.run(function, *arguments)
            except BaseException as caught:  # noqa: BLE001 - handed to the caller, who decides
                error = _deliverable(caught)
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver, result, error)

        worker.jobs.put(job)
        return future

    def _rest(self, worker: "_Thread") -> None:
        if len(self._idle) < MOST_IDLE:
            self._idle.append(worker)
        else:
            worker.jobs.put(None)

    def leave_behind(self, future: "asyncio.Future[Any]") -> None:
        """Stop waiting for a job: it has ended, or another job has recorded its end."""
        self._busy.discard(future)
        if not self._busy:
            self._quiet.set()

    async def drain(self, seconds: float) -> None:
        """Wait for jobs whose callers went away, so that they can record their ends."""
        while self._busy:
            self._quiet.clear()
            try:
                await asyncio.wait_for(self._quiet.wait(), seconds)
            except TimeoutError:
                return

    def close(self) -> None:
        """End the idle workers; busy ones end with the program."""
        while self._idle:
            self._idle.pop().jobs.put(None)


class _Thread:
    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="brasstag", daemon=True).start()

    def _work(self) -> None:
        while (job := self.jobs.get()) is not None:
            job()


def _deliverable(error: BaseException) -> BaseException:
    """A StopIteration cannot travel through a future."""
    return RuntimeError("StopIteration was raised") if isinstance(error, StopIteration) else error
