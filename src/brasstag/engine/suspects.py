"""Suspects: tasks whose last workers died while they held them.

One of them may kill again, and everything beside it would count that death as its own. So a process works on one at a
time, until it has got somewhere.
"""

import asyncio
from typing import Any

SUSPECTED = 2
"""After so many holdings that led nowhere a task is one."""


class Suspects:
    """Lets one suspect in at a time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._inside: asyncio.Task[Any] | None = None

    async def admit(self, attempts: int) -> None:
        """Wait, for a task with so many attempts behind it, until no other suspect is inside."""
        if attempts >= SUSPECTED:
            await self._lock.acquire()
            self._inside = asyncio.current_task()

    def clear(self) -> None:
        """What is worked on here has got somewhere, or has come to its end."""
        if self._inside is asyncio.current_task():
            self._inside = None
            self._lock.release()
