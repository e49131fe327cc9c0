"""Advance one task until it ends or blocks.

take ─ read the timeline ─┬─ open calls: dispatch those that wait for nothing ─┐
                          ├─ none open: ask the model, record its turn ────────┤
                          ├─ the model said its last word: end ◀───────────────┤
                          │  its evidence does not hold: say so, ask again ────┘
                          └─ only waiting calls left: block, unless something was added meanwhile

Where the database goes away, the worker waits and then reads the state again. Anything else that keeps a task from
going on ends the task.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from brasstag.engine.agents import SERVICE
from brasstag.engine.calls.counter import Counter
from brasstag.engine.graph.close import failure
from brasstag.engine.runtime import Runtime
from brasstag.engine.worker.challenge import is_challenged
from brasstag.engine.worker.finish import as_failure, finish
from brasstag.engine.worker.journal import Journal
from brasstag.engine.worker.open_calls import OpenCalls
from brasstag.engine.worker.outage import FIRST_PAUSE, until_database_is_back
from brasstag.engine.worker.quarantine import Quarantine
from brasstag.engine.worker.service import Services
from brasstag.engine.worker.turn import Turns
from brasstag.store.tasks.rows import find_task
from brasstag.store.tasks.types import Held
from brasstag.words.calls import Failed
from brasstag.words.errors import Code, Fenced, StoreError, ToolError

log = logging.getLogger("brasstag")

_T = TypeVar("_T")

MOST_ATTEMPTS = 5
"""How often a task is taken without progress before it is given up: its workers keep dying."""

ENDING_TRIES = 4
"""How often the end of a task is written before its row alone is closed; the pauses between add up to seconds."""


class TaskRunner:
    """Runs tasks, one ``advance`` at a time for each; whatever goes wrong ends in the task, never in the caller."""

    def __init__(self, runtime: Runtime, counter: Counter) -> None:
        self._runtime = runtime
        self._graph = runtime.store.graph
        self._open_calls = OpenCalls(runtime, counter)
        self._turns = Turns(runtime, self._open_calls.offers, lambda: self.draining)
        self._services = Services(runtime, self._open_calls, self._turns)
        self._quarantine = Quarantine()
        self._epochs: dict[asyncio.Task[Any] | None, int] = {}
        self.draining = False
        """Whether tasks are given back at their next step, as this process is about to end."""

    async def advance(self, task_id: str, wake: int) -> None:
        """Take a task at one of its wakes and work on it; do nothing on a stale hint."""
        await self._quarantine.admit(await self._at_last(self._attempts, task_id))
        try:
            await self._advance(task_id, wake)
        finally:
            self._quarantine.clear()

    def epoch_of(self, work: "asyncio.Task[None]") -> int | None:
        """Return the epoch under which an ``advance`` holds its task, or None while it holds none."""
        return self._epochs.get(work)

    async def _advance(self, task_id: str, wake: int) -> None:
        held = await self._at_last(self._graph.take, task_id, wake)
        if held is None:
            return
        here = asyncio.current_task()
        self._epochs[here] = held.epoch
        self._runtime.at("taken")
        try:
            await self._see_through(held)
        except asyncio.CancelledError:
            # If this write is lost, reconciling finds the task later: held here, and no worker runs it.
            with suppress(StoreError):
                await asyncio.shield(self._off_loop(self._graph.let_go, held))
            raise
        finally:
            del self._epochs[here]

    async def _see_through(self, held: Held) -> None:
        """Work on a task; the first trouble that keeps it from going on ends it; later troubles do not replace it."""
        try:
            trouble = await self._work_until_trouble(held)
            if trouble is not None:
                await self._fail(held, trouble)
        except Fenced:
            log.info("%s is held elsewhere, or was stopped", held.id)

    async def _work_until_trouble(self, held: Held) -> Failed | None:
        try:
            await until_database_is_back(lambda: self._work(held))
        except Fenced:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends in the task
            return as_failure(held.id, error)
        return None

    async def _fail(self, held: Held, why: Failed) -> None:
        """End a task that cannot go on; where its end cannot be written, and that lasts, its row alone says so."""
        unwritten = why.details.get("seconds", 0.0)
        for tried in range(ENDING_TRIES):
            try:
                return await until_database_is_back(
                    lambda: finish(self._runtime, held, "failed", failure(why), unwritten)
                )
            except Fenced:
                raise
            except Exception as error:  # noqa: BLE001 - one that passes is not told from one that lasts
                log.warning("the end of %s cannot be written: %s", held.id, error)
                await asyncio.sleep(FIRST_PAUSE * 2**tried)
        log.error(
            "%s failed (%s), and is closed without an entry; the task that waits for it was not told, and can be stopped",
            held.id,
            why.message,
        )
        return await self._at_last(self._graph.give_up, held)

    async def _work(self, held: Held) -> None:
        if held.task.attempts > MOST_ATTEMPTS:
            raise ToolError(
                Code.POISONED,
                f"{held.task.attempts - 1} workers in a row ended while they held this task; it is given up",
            )
        journal = await self._off_loop(Journal, self._runtime, held)
        if journal.opened["model"].startswith(SERVICE):
            return await self._services.work(journal)
        while not journal.state.ended:
            state = journal.state
            if self.draining:
                return await self._off_loop(self._graph.let_go, held)
            if state.open:
                if await self._open_calls.run(journal):
                    continue
                if await self._off_loop(self._graph.block, held, state.seen):
                    self._runtime.at("blocked")
                    return None
                await self._off_loop(journal.refresh)
            elif "evidence" in journal.opened and await self._off_loop(is_challenged, self._runtime, journal):
                continue
            elif state.said_its_last:
                # The end of a turn without a handoff hands off its words.
                return await finish(self._runtime, held, "done", state.text)
            else:
                await self._turns.take(journal)
                self._quarantine.clear()
        return None

    def _attempts(self, task_id: str) -> int:
        task = self._runtime.store.read(lambda view: find_task(view, task_id))
        return 0 if task is None else task.attempts

    async def _at_last(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await until_database_is_back(lambda: self._off_loop(function, *arguments))

    async def _off_loop(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await self._runtime.threads.run_short(function, *arguments)
