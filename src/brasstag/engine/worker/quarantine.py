"""Quarantine for tasks that killed their last workers.

Such a task may do so again, and every task beside it would count that death as an attempt of its own. So a process
works on one such task at a time, until that task has made progress.
"""

import asyncio
from typing import Any

SUSPECTED = 2
"""After so many attempts without progress, a task has to pass through quarantine."""


class Quarantine:
    """Lets in one task at a time of those that had too many attempts without progress."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._inside: asyncio.Task[Any] | None = None

    async def admit(self, attempts: int) -> None:
        """Wait, if the task had ``SUSPECTED`` attempts or more, until no other such task is in quarantine."""
        if attempts >= SUSPECTED:
            await self._lock.acquire()
            self._inside = asyncio.current_task()

    def clear(self) -> None:
        """Leave quarantine: the current task has made progress, or has ended."""
        if self._inside is asyncio.current_task():
            self._inside = None
            self._lock.release()
