"""Shifts: stretches of serving, begun by ``serve``, ended by ``stop``, woken from any thread."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from brasstag.store.jobs import Advance


class Shift:
    """One stretch of serving."""

    def __init__(self) -> None:
        self.is_over = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bell = asyncio.Event()
        self._over = asyncio.Event()

    def begin(self) -> None:
        """Hear the bell from now on."""
        self._loop = asyncio.get_running_loop()

    def ring(self) -> None:
        """Say that there may be something to do."""
        self._set(self._bell)

    def end(self) -> None:
        """Say that nothing more shall be begun."""
        self.is_over = True
        self._set(self._over)
        self.ring()

    async def rest(self, seconds: float | None) -> bool:
        """Wait for the bell, for so long at most; returns whether it rang, or the shift is over."""
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
            # A loop that has closed has nobody left to wake.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(event.set)


class Shifts(ABC):
    """What both kinds of jobs do alike: serve in shifts."""

    def __init__(self) -> None:
        self._shifts: set[Shift] = set()

    def serve(self, advance: Advance, *, queue: str = "", concurrency: int = 8) -> Coroutine[Any, Any, None]:
        """Run ready tasks, of one queue or of all, until ``stop``; returns once what it began has ended.

        Whoever cancels it cancels what it began.
        """
        # From this very moment, not from the first step of the coroutine: a stop that follows is heard.
        shift = Shift()
        self._shifts.add(shift)
        return self._serve(shift, advance, queue, concurrency)

    def stop(self) -> None:
        """Begin nothing more."""
        for shift in tuple(self._shifts):
            shift.end()

    def _ring(self) -> None:
        for shift in tuple(self._shifts):
            shift.ring()

    async def _serve(self, shift: Shift, advance: Advance, queue: str, concurrency: int) -> None:
        shift.begin()
        try:
            await self._work(shift, advance, queue, concurrency)
        finally:
            self._shifts.discard(shift)

    @abstractmethod
    async def _work(self, shift: Shift, advance: Advance, queue: str, concurrency: int) -> None:
        """Advance ready tasks until the shift is over and they have ended."""
