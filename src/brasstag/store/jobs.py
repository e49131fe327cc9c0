"""Jobs: hints that a task is ready. The tasks table is the truth; a hint lost or given twice does no harm."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from brasstag.store.database import Transaction

Advance = Callable[[str, int], Awaitable[None]]
"""Runs one task, at one of its wakes, until it ends or blocks; never raises."""


class Jobs(Protocol):
    """Brings ready tasks to whoever serves them."""

    def hint(self, transaction: Transaction, task_id: str, queue: str, wake: int) -> None:
        """Say, in the transaction that makes a task ready, that it is; nothing is said if that rolls back."""

    async def serve(self, advance: Advance, *, queue: str = "", concurrency: int = 8) -> None:
        """Run ready tasks, of one queue or of all, until ``stop``; returns once what it began has ended."""

    def stop(self) -> None:
        """Begin nothing more."""


class Unheard:
    """Hints that go nowhere, for books that nobody works from; the tables still say what is ready."""

    def hint(self, transaction: Transaction, task_id: str, queue: str, wake: int) -> None:
        """Say it to nobody."""

    async def serve(self, advance: Advance, *, queue: str = "", concurrency: int = 8) -> None:
        """Return at once."""

    def stop(self) -> None:
        """Nothing was begun."""
