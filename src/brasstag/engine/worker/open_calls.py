"""The open calls of a held task: those that overlap run in order, the others together, a handoff last."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brasstag.engine.agents import offers
from brasstag.engine.calls.counter import Counter
from brasstag.engine.calls.extra_rows import EXTRA_ROWS
from brasstag.engine.graph.unknowns import ask_about
from brasstag.engine.recovery.crashed import settle_strays
from brasstag.engine.runtime import Runtime
from brasstag.engine.transcript.state import RUNNABLE, CallState, OpenCall, TaskState
from brasstag.engine.worker.budget import is_timed, out_of_time, seconds_left
from brasstag.engine.worker.journal import Journal
from brasstag.policy.match.subjects import names_path
from brasstag.policy.profiles import EXTERNAL_EFFECTS
from brasstag.store.tasks.rows import Task
from brasstag.toolkit.arguments.repair import read_arguments
from brasstag.toolkit.kinds import BEHAVIOUR, Action
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Done, Failed, Outcome, Unknown, Waiting
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError
from brasstag.words.turns import Offer

LONGEST_UNREAD = 2000
"""How much of arguments that are not JSON is written down."""

CUT_OFF = (
    "your answer was cut off at its greatest length{length} before this call was complete, so nothing was done; the same "
    "call would be cut off again. Do it in smaller parts: of a long file write a beginning with write_file that ends with "
    "a line of its own, then put each next part in place of that line with edit_file"
)
"""What a model is told of a call that did not fit into its answer."""

LOOK_SECONDS = 0.5
"""How often a worker looks whether a waiting call may go on, while others of the same task still run."""


class OpenCalls:
    """Takes a task's open calls to the counter."""

    def __init__(self, runtime: Runtime, counter: Counter) -> None:
        self._runtime = runtime
        self._counter = counter
        self._offered: dict[tuple[str, str], tuple[Offer, ...]] = {}
        self._offered_by = runtime.policy.roles

    async def run(self, journal: Journal) -> bool:
        """Run every open call that waits for nothing; return False where there was none."""
        running: dict[asyncio.Task[Outcome], str] = {}
        await self._look_at_time(journal)
        began = await self._settle_strays(journal)
        try:
            while True:
                began = self._start(journal, running) or began
                if not running:
                    return began
                done, _ = await asyncio.wait(
                    running, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    task.result()
                    del running[task]
                if not done or not journal.catch_up():
                    await self._runtime.threads.run(journal.refresh)
                await self._look_at_time(journal)
        except Exception:
            # Wait for calls that still run here: the next look would find them open and run them twice.
            await asyncio.gather(*running, return_exceptions=True)
            raise
        finally:
            for task in running:
                task.cancel()

    async def run_one(self, journal: Journal, call_id: str) -> None:
        """Run one open call; where an earlier call of its turn has to come first, or it is the last, run all of them."""
        while (call := journal.state.open.get(call_id)) is not None and call.state in RUNNABLE:
            if call not in may_start(self._runtime.registry, journal.state.open.values()):
                if not await self.run(journal):
                    return
                continue
            await self._look_at_time(journal)
            self._require_time(journal, call)
            await self._run(journal, call)
            if not journal.catch_up():
                await self._runtime.threads.run(journal.refresh)

    def offers(self, task: Task) -> tuple[Offer, ...]:
        """Return the tools a task's model is offered; worked out once for each role, until the room changes."""
        if self._offered_by is not self._runtime.policy.roles:
            self._offered, self._offered_by = {}, self._runtime.policy.roles
        key = (task.role, task.kind)
        if key not in self._offered:
            self._offered[key] = offers(self._runtime.registry, self.usable(task))
        return self._offered[key]

    def usable(self, task: Task) -> Callable[[str], bool]:
        """Return which tools a task may use: all of its role, or, where it only answers, those that change nothing."""
        roles = self._runtime.policy.roles
        if task.kind == "question":
            allowed = roles.answering(task.role)
            return allowed.__contains__
        return lambda tool: roles.why_not(task.role, tool) is None

    def _start(self, journal: Journal, running: dict["asyncio.Task[Outcome]", str]) -> bool:
        began = False
        for call in may_start(self._runtime.registry, journal.state.open.values()):
            if call.id not in running.values():
                self._require_time(journal, call)
                running[asyncio.create_task(self._run(journal, call))] = call.id
                began = True
        return began

    async def _look_at_time(self, journal: Journal) -> None:
        if journal.state.open and is_timed(journal):
            journal.seconds_left = await self._runtime.threads.run(seconds_left, self._runtime.store, journal)

    def _require_time(self, journal: Journal, call: OpenCall) -> None:
        """Raise ToolError if a tool would begin when the time is over; the call stays open: a person may add time."""
        if journal.seconds_left is None or journal.seconds_left > 0 or call.state is CallState.UNSURE:
            return
        tool = self._runtime.registry.get(call.use.tool)
        if tool is not None and BEHAVIOUR[tool.config.type].executes_code:
            raise out_of_time(journal.held.task, f"before {tool.name} could begin")

    async def _run(self, journal: Journal, open_call: OpenCall) -> Outcome:
        """Take one call to the counter; however it ends, its end is on the timeline afterwards, or it is tried again."""
        call = _call(journal, open_call)
        if open_call.state is CallState.UNSURE:
            return await self._runtime.threads.run(ask_about, self._runtime, call)
        outcome = await self._to_counter(journal, open_call, call)
        if outcome.tag is not None or isinstance(outcome, Waiting | Done):
            return outcome
        if isinstance(outcome, Unknown) or outcome.details.get("again"):
            raise StoreLost(outcome.message)
        if outcome.code is Code.INTERNAL_ERROR:
            raise StoreError(outcome.message)
        if outcome.code is Code.BUSY:
            await asyncio.sleep(LOOK_SECONDS)
            return outcome
        return await self._counter.refuse(call, outcome)

    async def _to_counter(self, journal: Journal, open_call: OpenCall, call: Call) -> Outcome:
        task = journal.held.task
        if open_call.state is CallState.APPROVED:
            return await self._counter.resume(open_call.approval_id, task.epoch, journal.seconds_left)
        try:
            arguments, repaired = _read(open_call, journal.state)
        except ToolError as error:
            return Failed.by(error)
        if is_second_handoff(self._runtime.registry, journal.state.open.values(), open_call):
            return Failed(Code.INVALID_ARGUMENTS, "a task is handed off once; the first handoff counts")
        tool = self._runtime.registry.get(call.tool)
        if task.kind == "question" and tool is not None and not self.usable(task)(tool.name):
            return Failed(
                Code.NOT_ALLOWED, f"you only answer a question here; {tool.name} could change something"
            )
        call = replace(call, arguments=arguments, repaired=repaired)
        return await self._counter.dispatch(call, journal.seconds_left)

    async def _settle_strays(self, journal: Journal) -> bool:
        """Settle calls that claimed and were left: by a dead worker, or here when the database went away."""
        strays = [call.id for call in journal.state.open.values() if call.state is CallState.ACTING]
        if not strays:
            return False
        # What this process knows of their ends counts more than what can be found out.
        await self._runtime.threads.run(self._runtime.in_flight.write_unsettled)
        left = journal.seconds_left
        settled = bool(
            await self._runtime.in_flight.run(settle_strays, self._runtime, strays, seconds_left=left)
        )
        if settled:
            await self._runtime.threads.run(journal.refresh)
        return settled


def _read(open_call: OpenCall, state: TaskState) -> tuple[dict[str, Any], str]:
    given = open_call.use.arguments
    if not isinstance(given, str):
        return dict(given), ""
    try:
        return read_arguments(given)
    except ToolError as error:
        if state.stop != "length":
            raise
        raise ToolError(error.code, CUT_OFF.format(length=state.length)) from None


def _call(journal: Journal, open_call: OpenCall) -> Call:
    task, given = journal.held.task, open_call.use.arguments
    shown = {"unreadable": given[:LONGEST_UNREAD]} if isinstance(given, str) else dict(given)
    return Call(
        open_call.id, open_call.use.tool, shown, f"agent:{task.role}", task.role, task.id, epoch=task.epoch
    )


EVERYWHERE = ""


@dataclass(frozen=True, slots=True)
class Footprint:
    """Where a call would work, as far as its arguments tell, and whether it changes anything there."""

    paths: tuple[str, ...] = ()
    changes: bool = False
    last: bool = False
    """Whether it ends the task, and so waits for every sibling."""

    def overlaps(self, other: "Footprint") -> bool:
        """Say whether the order of the two can matter."""
        if not (self.changes or other.changes):
            return False
        return any(_meet(one, two) for one in self.paths for two in other.paths)


def footprint(registry: ToolRegistry, tool_name: str, arguments: Mapping[str, Any] | str) -> Footprint:
    """Return where a call would work; one that names no path may work anywhere, and code does."""
    tool = registry.get(tool_name)
    if tool is None or isinstance(arguments, str):
        return Footprint()
    if tool.config.behaviour.action is Action.STOP:
        return Footprint(last=True)
    if tool.runs_code or tool.config.effects == EXTERNAL_EFFECTS:
        return _foretold_footprint(tool, arguments)
    paths = tuple(_paths(arguments))
    if not paths and tool.config.behaviour.executes_code:
        paths = (EVERYWHERE,)
    return Footprint(paths, tool.config.effects == "files" or tool.name in EXTRA_ROWS)


def _foretold_footprint(tool: Tool, arguments: Mapping[str, Any]) -> Footprint:
    """Return where a call would work, as its tool says; a call that will be refused works nowhere."""
    try:
        foreseen = tool.foresee(tool.validate(arguments))
    except Exception:  # noqa: BLE001 - the code of a tool's author may raise anything
        return Footprint()
    drafts = tool.only_drafts(foreseen)
    if tool.runs_code:
        return Footprint((EVERYWHERE,), drafts)
    return Footprint(tuple(map(_plain, foreseen.saves)), drafts)


def may_start(registry: ToolRegistry, calls: Iterable[OpenCall]) -> list[OpenCall]:
    """Return the runnable calls that need not wait for an earlier open call of their turn."""
    prints = [(call, footprint(registry, call.use.tool, call.use.arguments)) for call in calls]
    return [
        call
        for place, (call, mine) in enumerate(prints)
        if call.state in RUNNABLE and not _stands_in_front(prints, place, mine)
    ]


def is_second_handoff(registry: ToolRegistry, calls: Iterable[OpenCall], one: OpenCall) -> bool:
    """Say whether a call would hand off a task that an earlier call of the same turn hands off already."""
    last = [call for call in calls if footprint(registry, call.use.tool, call.use.arguments).last]
    return one in last and one is not last[0]


def _stands_in_front(prints: list[tuple[OpenCall, Footprint]], place: int, mine: Footprint) -> bool:
    earlier = [other for _, other in prints[:place]]
    if not mine.last:
        return any(mine.overlaps(other) for other in earlier)
    # The first handoff waits for everything else; a second one only has to be refused.
    return not any(other.last for other in earlier) and len(prints) > 1


def _paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if names_path(name):
            for path in value if isinstance(value, list) else (value,):
                if isinstance(path, str):
                    yield _plain(path)


def _plain(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _meet(one: str, other: str) -> bool:
    if EVERYWHERE in (one, other):
        return True
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
