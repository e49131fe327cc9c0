"""Desks: tasks without a model, which own the calls of one command, Room or connection.

A desk is announced first and written down together with its first entry, so that idle desks cost nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.tasks.hints import Jobs
from brasstag.store.tasks.rows import find_task, insert_task
from brasstag.store.timeline.seals import Sealer
from brasstag.store.timeline.timeline import Timeline
from brasstag.words.events import EntryKind
from brasstag.words.times import Clock, stamp

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Desk:
    """A task without a model, not yet written down."""

    id: str
    actor: str
    role: str
    purpose: str

    @property
    def opening(self) -> Payload:
        """What its first entry says."""
        return _entry({"actor": self.actor, "role": self.role}, None) | {"purpose": self.purpose}

    @staticmethod
    def closing(result: Payload | None = None) -> Payload:
        """Return what the last entry of a desk says."""
        return _entry({}, result)


def _entry(given: Payload, result: Payload | None) -> Payload:
    return {"type": "root", "tool": "desk", "input": given, "result": result}


class Desks:
    """Writes to the timelines of a room in the name of one opening of it, and opens desks at the first write."""

    def __init__(self, database: Database, sealer: Sealer, boot_id: str, clock: Clock, jobs: Jobs) -> None:
        self.database = database
        self.sealer = sealer
        self.timeline = Timeline(sealer, clock)
        self.boot_id = boot_id
        self.jobs = jobs
        self._clock = clock
        self._unopened: dict[str, Desk] = {}

    def now(self) -> str:
        """Return the time as the store writes it."""
        return stamp(self._clock())

    def expect(self, desk: Desk) -> None:
        """Announce a desk."""
        self._unopened[desk.id] = desk

    def is_expected(self, task_id: str) -> bool:
        """Say whether a task is a desk that was announced, and not written to yet."""
        return task_id in self._unopened

    def forget(self, task_id: str) -> bool:
        """Forget a desk that was announced and never written to; False where it is no such desk."""
        return self._unopened.pop(task_id, None) is not None

    @contextmanager
    def writing(self, task_id: str) -> Iterator[Transaction]:
        """One commit about a task; a desk that was only announced is written down with it."""
        with self.database.write() as transaction:
            desk = self._unopened.get(task_id)
            if desk is not None:
                # Once only: calls may run at once, and an earlier commit may have succeeded, its reply lost.
                transaction.lock(Lock.DESK, desk.id)
                if find_task(transaction.connection, desk.id) is None:
                    self._open(transaction, desk)
            yield transaction
        if desk is not None:
            self._unopened.pop(task_id, None)

    def _open(self, transaction: Transaction, desk: Desk) -> None:
        insert_task(
            transaction,
            self.sealer.key,
            desk.id,
            kind="desk",
            actor=desk.actor,
            role=desk.role,
            status="running",
            boot=self.boot_id,
            at=self.now(),
            tree=desk.id,
        )
        self.timeline.append(transaction, desk.id, EntryKind.OPENED, "", desk.opening)
