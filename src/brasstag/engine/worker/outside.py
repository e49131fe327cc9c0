"""Tasks whose turns a program outside takes: it renders the messages, asks a model of its own, and hands in its calls.

    render   run what is left of the last turn ─ budget ─ notices ─ compaction ─ messages
    record   budget ─ write the turn down ─ words alone end the task, unless their evidence is challenged
    handle   write the turn down where it is not ─ take the call to the counter ─ go on, or block

A task stays held between these steps, until it ends, blocks, or the room closes. No worker takes it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from brasstag.engine.calls.counter import Counter
from brasstag.engine.graph.close import failure
from brasstag.engine.runtime import Runtime
from brasstag.engine.transcript.state import CallState, OpenCall
from brasstag.engine.worker.budget import allowance
from brasstag.engine.worker.challenge import is_challenged
from brasstag.engine.worker.endings import closing_of, ending_of
from brasstag.engine.worker.finish import as_failure, finish
from brasstag.engine.worker.journal import Journal
from brasstag.engine.worker.open_calls import OpenCalls
from brasstag.engine.worker.outage import until_database_is_back
from brasstag.engine.worker.turn import Turns, record_once
from brasstag.store.tasks.rows import Task, get_task, tasks_of_tree
from brasstag.store.tasks.types import Held
from brasstag.toolkit.kinds import Action
from brasstag.words.calls import ToolCall, as_stored
from brasstag.words.errors import Code, Fenced, StoreError, ToolError
from brasstag.words.ids import TurnCall
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Model, ModelError, Offer, Turn, TurnRequest

_T = TypeVar("_T")

Stand = Literal["its turn", "blocked", "ended"]


@dataclass(frozen=True, slots=True)
class LoopStep:
    """What the program outside does next: it goes on with its loop, or leaves the task."""

    action: Literal["continue", "return"]
    value: Any = None
    calls: tuple[ToolCall, ...] = ()
    """The calls of the turn that was recorded."""


class OutsideTasks:
    """The tasks of one room that a program outside takes the turns of."""

    def __init__(self, runtime: Runtime, counter: Counter) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._open_calls = OpenCalls(runtime, counter)
        self._turns = Turns(runtime, self._open_calls.offers, lambda: False)
        self._journals: dict[str, Journal] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def render(self, name: str, model: Model) -> TurnRequest:
        """Return what a model is asked with next; calls of the last turn that are still open are run first.

        Raises ToolError: BUSY where the task waits, TASK_CLOSED where it has ended, or why it could not go on.
        """
        async with self._holding(name) as journal:
            self._require_turn(journal, await self._advance(journal))
            _, request = await self._ending(
                journal, lambda: self._off_loop(self._turns.prepare, journal, model)
            )
            if request is None:
                raise ToolError(Code.BUSY, "other tasks of its run are taking the last steps; try again")
            return request

    async def record(self, name: str, turn: Turn) -> LoopStep:
        """Write a model's turn down, before any of its calls runs; a turn without calls hands off its words."""
        async with self._holding(name) as journal:
            self._require_turn(journal, await self._advance(journal))
            calls = await self._record(journal, turn)
            if calls:
                return LoopStep("continue", calls=calls)
            stand = await self._advance(journal)
            return LoopStep("return", turn.text) if stand == "ended" else LoopStep("continue")

    async def handle(self, name: str, use: ToolUse, call_id: str = "") -> LoopStep:
        """Take one call to the counter; a call that no recorded turn made is recorded as a turn of its own first."""
        async with self._holding(name) as journal:
            found = self._planned(journal, use, call_id)
            if found is None and call_id:
                return await self._earlier(journal, call_id)
            if found is None:
                self._require_turn(journal, await self._advance(journal))
                found = (await self._record(journal, Turn(calls=(use,), stop="calls")))[0].id
            await self._ending(journal, lambda: self._run(journal, found))
            if found not in journal.state.open and not journal.state.ended:
                return await self._known(found)
            stand = await self._advance(journal)
            if stand == "ended":
                return LoopStep("return", await self._off_loop(self._result, journal.held.id, use))
            return LoopStep("return") if stand == "blocked" else await self._known(found)

    async def offers(self, name: str) -> tuple[Offer, ...]:
        """Return the tools that a task may use."""
        return self._open_calls.offers(await self._off_loop(self._store.task, name))

    def next_of(self, tree: str) -> Task | Literal["none", "ended"]:
        """Return a task of a run whose turn it is: one that was left here first, else the one that waits longest."""
        tasks = self._store.read(lambda view: tasks_of_tree(view, tree))
        if all(task.has_ended for task in tasks if task.id == tree):
            return "ended"
        mine = [one for one in tasks if one.is_outside and not one.has_ended and not self._is_busy(one.id)]
        left = [task for task in mine if task.id in self._journals]
        ready = [task for task in mine if task.status == "ready" or self._is_left(task)]
        return next(iter([*left, *sorted(ready, key=lambda task: task.woken_at)]), "none")

    async def let_go(self) -> None:
        """Give back what is held here: the room closes."""
        for journal in self._journals.values():
            # If this write is lost, the next process that opens the room finds a task of a dead one.
            with suppress(StoreError):
                await self._off_loop(self._store.graph.let_go, journal.held)
        self._journals.clear()

    @asynccontextmanager
    async def _holding(self, name: str) -> AsyncIterator[Journal]:
        task_id = (await self._off_loop(self._store.task, name)).id
        async with self._locks.setdefault(task_id, asyncio.Lock()):
            try:
                if task_id not in self._journals:
                    self._journals[task_id] = await self._off_loop(self._take, task_id)
                else:
                    await self._off_loop(self._journals[task_id].refresh)
                yield self._journals[task_id]
            except Fenced:
                self._journals.pop(task_id, None)
                task = await self._off_loop(self._store.task, task_id)
                raise _closed(task) if task.has_ended else _elsewhere(task) from None

    def _take(self, task_id: str) -> Journal:
        return Journal(self._runtime, self._hold(task_id))

    def _hold(self, task_id: str) -> Held:
        task = self._store.read(lambda view: get_task(view, task_id))
        if not task.is_outside:
            raise ToolError(
                Code.NOT_SUPPORTED,
                f"workers of this room work on {task.id}; Room.open_task opens tasks for a loop of yours",
            )
        if task.has_ended:
            raise _closed(task)
        if task.status == "running" and (task.boot == self._runtime.boot.id or self._is_left(task)):
            self._store.graph.reclaim(task)
            task = self._store.read(lambda view: get_task(view, task_id))
        held = self._store.graph.take(task.id, task.wake) if task.status == "ready" else None
        if held is None:
            raise _waits(task) if task.status == "blocked" else _elsewhere(task)
        return held

    async def _advance(self, journal: Journal) -> Stand:
        """Do what can be done without a model; say where the task stands then."""
        stand = await self._ending(journal, lambda: self._work(journal))
        if stand != "its turn":
            self._journals.pop(journal.held.id, None)
        return stand

    async def _work(self, journal: Journal) -> Stand:
        held = journal.held
        await self._off_loop(journal.refresh)
        while not journal.state.ended:
            if journal.state.open:
                if await self._open_calls.run(journal):
                    continue
                if await self._off_loop(self._store.graph.block, held, journal.state.seen):
                    return "blocked"
                await self._off_loop(journal.refresh)
            elif "evidence" in journal.opened and await self._off_loop(is_challenged, self._runtime, journal):
                return "its turn"
            elif journal.state.said_its_last:
                await finish(self._runtime, held, "done", journal.state.text)
                return "ended"
            else:
                return "its turn"
        return "ended"

    async def _record(self, journal: Journal, turn: Turn) -> tuple[ToolCall, ...]:
        await self._ending(journal, lambda: self._off_loop(allowance, self._store, journal))
        await record_once(self._runtime, self._turns, journal, turn)
        return tuple(
            ToolCall(call.id, call.use.tool, call.use.arguments) for call in journal.state.open.values()
        )

    async def _run(self, journal: Journal, call_id: str) -> None:
        await self._off_loop(journal.refresh)
        await self._open_calls.run_one(journal, call_id)

    async def _ending(self, journal: Journal, act: Callable[[], Awaitable[_T]]) -> _T:
        """Act; where the task cannot go on, it ends with why, as it would with a worker."""
        try:
            return await until_database_is_back(act)
        except (ToolError, ModelError) as error:
            why = as_failure(journal.held.id, error)
            await until_database_is_back(
                lambda: finish(
                    self._runtime, journal.held, "failed", failure(why), why.details.get("seconds", 0.0)
                )
            )
            self._journals.pop(journal.held.id, None)
            raise why.as_error() from None

    def _planned(self, journal: Journal, use: ToolUse, call_id: str) -> str | None:
        """Return the recorded call that is meant, or None where it has ended or was not recorded."""
        state = journal.state
        if call_id:
            place = TurnCall.of(call_id)
            if place is None or place.task_id != journal.held.id or place.turn >= state.turns:
                raise _no_call(journal, call_id)
            if call_id in state.open and not _is_same(state.open[call_id], use):
                raise ToolError(Code.INVALID_ARGUMENTS, f"{call_id} was recorded with other words than these")
            return call_id if call_id in state.open else None
        planned = [call for call in state.open.values() if call.state is CallState.PLANNED]
        same = next((call.id for call in planned if _is_same(call, use)), None)
        if same is None and planned:
            names = ", ".join(f"{call.use.tool} ({call.id})" for call in planned)
            raise ToolError(
                Code.INVALID_ARGUMENTS,
                f"the turn that was recorded makes other calls: {names}; hand in those first",
            )
        return same

    async def _earlier(self, journal: Journal, call_id: str) -> LoopStep:
        """Return how a call ended that is handed in once more."""
        if not await self._off_loop(self._store.entries, journal.held.id, call_id):
            raise _no_call(journal, call_id)
        return await self._known(call_id)

    async def _known(self, call_id: str) -> LoopStep:
        outcome = await self._off_loop(ending_of, self._store, call_id)
        return LoopStep("continue", as_stored(outcome)["result"])

    def _result(self, task_id: str, use: ToolUse) -> Any:
        tool = self._runtime.registry.get(use.tool)
        if (
            tool is not None
            and tool.config.behaviour.action is Action.STOP
            and not isinstance(use.arguments, str)
        ):
            return dict(use.arguments)
        return closing_of(self._store, task_id)

    def _require_turn(self, journal: Journal, stand: Stand) -> None:
        if stand != "its turn":
            raise _closed(journal.held.task) if stand == "ended" else _waits(journal.held.task)

    def _is_left(self, task: Task) -> bool:
        return task.status == "running" and not self._runtime.boot.is_alive(task.boot)

    def _is_busy(self, task_id: str) -> bool:
        return task_id in self._locks and self._locks[task_id].locked()

    async def _off_loop(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await self._runtime.threads.run_short(function, *arguments)


def _is_same(call: OpenCall, use: ToolUse) -> bool:
    given, asked = call.use.arguments, use.arguments
    same = (
        dict(given) == dict(asked)
        if isinstance(given, Mapping) and isinstance(asked, Mapping)
        else given == asked
    )
    return call.use.tool == use.tool and same


def _no_call(journal: Journal, call_id: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, f"{call_id} is no call of {journal.held.id}")


def _closed(task: Task) -> ToolError:
    return ToolError(Code.TASK_CLOSED, f"{task.id} has ended; Room.finished says how")


def _waits(task: Task) -> ToolError:
    return ToolError(
        Code.BUSY,
        f"{task.id} waits for a person or another task; Room.ready yields it again when it can go on",
    )


def _elsewhere(task: Task) -> ToolError:
    return ToolError(Code.BUSY, f"another process takes the turns of {task.id} now")
