"""The bench: where tasks are worked on side by side, each in one place only."""

import asyncio
import logging
from collections.abc import Callable

from brasstag.store.jobs import Advance

log = logging.getLogger("brasstag")


class NotBegun(Exception):
    """There was no place for this task before the bench closed, or whoever brought it had to go."""


class Bench:
    """Advances tasks, so many at once and no more, and never one task twice at the same time."""

    def __init__(
        self, advance: Advance, places: int, on_end: Callable[[str, int], None] | None = None
    ) -> None:
        """Tell ``on_end`` of each task that leaves, and the wake it was there for."""
        self._advance = advance
        self._places = places
        self._on_end = on_end
        self._running: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._is_closed = False

    @property
    def free(self) -> int:
        """How many more tasks there is room for."""
        return self._places - len(self._running)

    def holds(self, task_id: str) -> bool:
        """Say whether a task is being worked on here."""
        return task_id in self._running

    def begin(self, task_id: str, wake: int) -> "asyncio.Task[None]":
        """Begin to work on a task, for which there must be a place."""
        running = asyncio.create_task(self._work(task_id, wake), name=f"advance {task_id}")
        self._running[task_id] = running
        return running

    async def run(self, task_id: str, wake: int) -> None:
        """Wait for a place, and until the task is done here; who is cancelled then does not stop the work."""
        try:
            while not self._is_closed and (self.free <= 0 or self.holds(task_id)):
                await self._changed.wait()
        except asyncio.CancelledError:
            raise NotBegun(task_id) from None
        if self._is_closed:
            raise NotBegun(task_id)
        await asyncio.shield(self.begin(task_id, wake))

    async def __aenter__(self) -> "Bench":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Begin nothing more, and wait until the bench is empty; whoever cancels that cancels what is there."""
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
        try:
            await self._advance(task_id, wake)
        except Exception:
            # It promises not to raise; the task stays as it is, and others go on.
            log.exception("%s could not be advanced", task_id)
        finally:
            del self._running[task_id]
            self._stir()
            if self._on_end is not None:
                self._on_end(task_id, wake)

    def _stir(self) -> None:
        """Let everybody who waits look again."""
        self._changed.set()
        self._changed = asyncio.Event()
