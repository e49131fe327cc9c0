"""Services: trusted code that works on the tasks of a role, where other roles have a model.

Each call that the code makes is a turn of its task, recorded before it runs, and takes the whole path under its role.
What the code returns is handed off. Its first entry says that it began: where its process died after that, it is not
known what else it did, so it is begun again only if its role says that this is safe.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from brasstag.engine.agents import SERVICE, Chosen, Service
from brasstag.engine.calls.function import scrub
from brasstag.engine.runtime import Runtime
from brasstag.engine.worker.budget import allowance, out_of_time, seconds_left
from brasstag.engine.worker.endings import ending_of
from brasstag.engine.worker.finish import finish
from brasstag.engine.worker.journal import Journal
from brasstag.engine.worker.open_calls import LOOK_SECONDS, OpenCalls
from brasstag.engine.worker.outage import until_database_is_back
from brasstag.engine.worker.turn import Turns, record_once
from brasstag.store.jobs.pool import lending_place
from brasstag.words.calls import Failed, Settled
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import BrasstagError, Code, ToolError
from brasstag.words.ids import TurnCall
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Turn, Usage

_NOTHING_CHOSEN = Chosen()
FREE = Usage(cost=0)
"""What a turn takes that code takes: no model is asked."""


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """What the code of a service is given: what it is asked to do, and the way to its tools."""

    request: str
    documents: tuple[str, ...]
    """Workspace paths that came with the request."""
    role: str
    task_id: str
    _calls: "_ServiceCalls" = field(repr=False)

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Settled:
        """Take one call through the whole path, and wait for its end: also for a person's approval, or another task."""
        return await self._calls.make(tool, arguments or {})


class Services:
    """Works on tasks of roles that code serves."""

    def __init__(self, runtime: Runtime, open_calls: OpenCalls, turns: Turns) -> None:
        self._runtime = runtime
        self._open_calls = open_calls
        self._turns = turns

    async def work(self, journal: Journal) -> None:
        """Let the code work on a task, and end the task with what it returns; raise ToolError where it fails."""
        task, state = journal.held.task, journal.state
        if state.ended:
            return
        service = self._service(task.role, journal.opened["model"])
        calls = _ServiceCalls(self._runtime, self._open_calls, self._turns, journal)
        if state.turns:
            await self._settle_first(journal, calls)
            if journal.state.ended:
                return
        else:
            await calls.begin()
        given = journal.opened["input"]
        context = ServiceContext(given["request"], tuple(given["documents"]), task.role, task.id, calls)
        left = await self._runtime.threads.run_short(allowance, self._runtime.store, journal)
        calls.clock = _Clock(asyncio.timeout(left.seconds))
        result = await self._run(service, context, calls.clock, journal)
        if not journal.state.ended:
            await finish(self._runtime, journal.held, "done", result, calls.clock.worked)

    async def _settle_first(self, journal: Journal, calls: "_ServiceCalls") -> None:
        """Find out what came of calls that a dead process left; then the code begins again, or its task fails."""
        await calls.settle()
        role = self._runtime.agents.role(journal.held.task.role)
        if not journal.state.ended and role.service_replay != "safe":
            raise ToolError(
                Code.EXECUTION_ERROR,
                f"the process in which {role.service} worked on this ended before it was done; what it did besides "
                "the calls on this timeline is not known, so it was not begun again",
            )

    async def _run(self, service: Service, context: ServiceContext, clock: "_Clock", journal: Journal) -> Any:
        try:
            async with clock.limit:
                result = await service(context)
        except BrasstagError:
            raise
        except (Exception, SystemExit) as error:
            if clock.limit.expired():
                raise out_of_time(journal.held.task, "while its service worked", clock.worked) from None
            said = scrub(self._runtime, f"{type(error).__name__}: {error}")
            raise ToolError(Code.EXECUTION_ERROR, f"the service failed: {said}") from error
        if reason := why_not_json(result):
            raise ToolError(Code.INVALID_RESULT, f"what the service returned is not JSON: {reason}")
        return result

    def _service(self, role: str, model: str) -> Service:
        found = self._runtime.agents.services.get(role)
        if found is None or self._runtime.agents.model_name(role, _NOTHING_CHOSEN) != model:
            raise ToolError(
                Code.NOT_SUPPORTED,
                f"this task was opened for {model}, which serves {role} no more; ask for it anew",
            )
        return found


class _Clock:
    """The time that the code of a service works itself; it stands still while a call is made, or waits for a person."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self.limit = limit
        self._began = time.monotonic()
        self._stood = 0.0

    @property
    def worked(self) -> float:
        """How many seconds the code has worked."""
        return round(max(0.0, time.monotonic() - self._began - self._stood), 3)

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Stand still; what a call took of the budget is on the timeline."""
        stopped, until = time.monotonic(), self.limit.when()
        self._reschedule(None)
        try:
            yield
        finally:
            stood = time.monotonic() - stopped
            self._stood += stood
            self._reschedule(None if until is None else until + stood)

    def spend(self, seconds: float) -> None:
        """Leave the code so much less time."""
        until = self.limit.when()
        self._reschedule(None if until is None else until - seconds)

    def _reschedule(self, until: float | None) -> None:
        # A call that the code left behind may end when the limit is no more.
        with suppress(RuntimeError):
            self.limit.reschedule(until)


class _ServiceCalls:
    """Makes the calls of one service, one after another."""

    def __init__(self, runtime: Runtime, open_calls: OpenCalls, turns: Turns, journal: Journal) -> None:
        self._runtime = runtime
        self._open_calls = open_calls
        self._turns = turns
        self._journal = journal
        self._one_at_a_time = asyncio.Lock()
        self.clock = _Clock(asyncio.timeout(None))

    async def begin(self) -> None:
        model: str = self._journal.opened["model"]
        await self._record(Turn(text=f"{model.removeprefix(SERVICE)} begins.", usage=FREE, model=model))

    async def make(self, tool: str, arguments: Mapping[str, Any]) -> Settled:
        if reason := why_not_json(arguments):
            return Failed(Code.INVALID_ARGUMENTS, f"{tool}: the arguments are not JSON: {reason}")
        async with self._one_at_a_time:
            journal = self._journal
            if journal.state.ended:
                raise ToolError(
                    Code.TASK_CLOSED, "the task of this service has ended; it makes no more calls"
                )
            with self.clock.standing():
                before = await self._runtime.threads.run_short(allowance, self._runtime.store, journal)
                place = TurnCall(journal.held.id, journal.state.turns, 0)
                use = ToolUse("", tool, arguments)
                await self._record(
                    Turn(calls=(use,), usage=FREE, model=journal.opened["model"], stop="calls")
                )
                await self.settle()
                after = await self._runtime.threads.run_short(seconds_left, self._runtime.store, journal)
            self.clock.spend((before.seconds or 0) - (after or 0))
            return await self._runtime.threads.run_short(ending_of, self._runtime.store, place.id)

    async def settle(self) -> None:
        """Wait until every open call has ended."""
        await until_database_is_back(self._settle)

    async def _settle(self) -> None:
        journal = self._journal
        await self._runtime.threads.run(journal.refresh)
        while journal.state.open and not journal.state.ended:
            if not await self._open_calls.run(journal):
                # Another task may have to run before this one goes on.
                with lending_place():
                    await asyncio.sleep(LOOK_SECONDS)
                await self._runtime.threads.run(journal.refresh)

    async def _record(self, turn: Turn) -> None:
        await record_once(self._runtime, self._turns, self._journal, turn)
