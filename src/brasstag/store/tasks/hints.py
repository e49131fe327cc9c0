"""Hints that a task is ready; the tasks table is the truth, so a lost or doubled hint does no harm."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from brasstag.store.database.base import Transaction

OUTSIDE = "outside"
"""The queue of tasks whose turns a program outside takes: no worker takes them, and no hint tells of them."""

Advance = Callable[[str, int], Awaitable[None]]
"""Runs one task, at one of its wakes, until it ends or blocks; never raises."""


class Jobs(Protocol):
    """Brings ready tasks to the workers that serve them."""

    def hint(self, transaction: Transaction, task_id: str, queue: str, wake: int) -> None:
        """Say, in the transaction that makes a task ready, that it is; nothing is said if that rolls back."""

    async def serve(self, advance: Advance, *, queue: str = "", concurrency: int = 8) -> None:
        """Run ready tasks, of one queue or of all, until ``stop``; returns once what it began has ended."""

    def stop(self) -> None:
        """Begin nothing more."""


class NoHints:
    """Drops all hints, for a store that no worker serves; the tables still say what is ready."""

    def hint(self, transaction: Transaction, task_id: str, queue: str, wake: int) -> None:
        """Drop the hint."""

    async def serve(self, advance: Advance, *, queue: str = "", concurrency: int = 8) -> None:
        """Return at once."""

    def stop(self) -> None:
        """Nothing was begun."""
