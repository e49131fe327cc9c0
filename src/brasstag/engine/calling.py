"""Calling: the open calls of a held task, run together where they do not overlap."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from brasstag.engine.agents import offers
from brasstag.engine.allowance import is_timed, out_of_time, seconds_left
from brasstag.engine.dispatch import Counter
from brasstag.engine.doubts import ask_about
from brasstag.engine.minutes import Minutes
from brasstag.engine.order import is_second_handoff, may_start
from brasstag.engine.recovery import settle_strays
from brasstag.engine.shop import Shop
from brasstag.engine.standing import CallState, OpenCall, Standing
from brasstag.store.tasks import Task
from brasstag.toolkit.kinds import BEHAVIOUR
from brasstag.toolkit.repair import read_arguments
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


class Calling:
    """Takes a task's open calls to the counter."""

    def __init__(self, shop: Shop, counter: Counter) -> None:
        self._shop = shop
        self._counter = counter
        self._offered: dict[tuple[str, str], tuple[Offer, ...]] = {}
        self._offered_by = shop.roles

    async def run_open(self, minutes: Minutes) -> bool:
        """Run every open call that waits for nothing; return False where there was none."""
        running: dict[asyncio.Task[Outcome], str] = {}
        await self._look_at_time(minutes)
        began = await self._settle_strays(minutes)
        try:
            while True:
                began = self._start(minutes, running) or began
                if not running:
                    return began
                done, _ = await asyncio.wait(
                    running, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    task.result()
                    del running[task]
                if not done or not minutes.catch_up():
                    await self._shop.threads.run(minutes.refresh)
                await self._look_at_time(minutes)
        except Exception:
            # Whoever looks anew must not find calls open that are still under way here: they would be run twice.
            await asyncio.gather(*running, return_exceptions=True)
            raise
        finally:
            for task in running:
                task.cancel()

    def offers(self, task: Task) -> tuple[Offer, ...]:
        """Return the tools a task's model is offered; worked out once for each role, until the room changes."""
        if self._offered_by is not self._shop.roles:
            self._offered, self._offered_by = {}, self._shop.roles
        key = (task.role, task.kind)
        if key not in self._offered:
            self._offered[key] = offers(self._shop.registry, self.usable(task))
        return self._offered[key]

    def usable(self, task: Task) -> Callable[[str], bool]:
        """Return which tools a task may use: all of its role, or, where it only answers, those that change nothing."""
        roles = self._shop.roles
        if task.kind == "question":
            allowed = roles.answering(task.role)
            return allowed.__contains__
        return lambda tool: roles.why_not(task.role, tool) is None

    def _start(self, minutes: Minutes, running: dict["asyncio.Task[Outcome]", str]) -> bool:
        began = False
        for call in may_start(self._shop.registry, minutes.standing.open.values()):
            if call.id not in running.values():
                self._require_time(minutes, call)
                running[asyncio.create_task(self._run(minutes, call))] = call.id
                began = True
        return began

    async def _look_at_time(self, minutes: Minutes) -> None:
        if minutes.standing.open and is_timed(minutes):
            minutes.seconds_left = await self._shop.threads.run(seconds_left, self._shop.books, minutes)

    def _require_time(self, minutes: Minutes, call: OpenCall) -> None:
        """Raise ToolError where a tool would begin when the time is over; it stays open for whoever extends that."""
        if minutes.seconds_left is None or minutes.seconds_left > 0 or call.state is CallState.UNSURE:
            return
        tool = self._shop.registry.get(call.use.tool)
        if tool is not None and BEHAVIOUR[tool.config.type].executes_code:
            raise out_of_time(minutes.held.task, f"before {tool.name} could begin")

    async def _run(self, minutes: Minutes, open_call: OpenCall) -> Outcome:
        """Take one call to the counter; however it ends, its end is on the timeline afterwards, or it is tried again."""
        call = _call(minutes, open_call)
        if open_call.state is CallState.UNSURE:
            return await self._shop.threads.run(ask_about, self._shop, call)
        outcome = await self._to_counter(minutes, open_call, call)
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

    async def _to_counter(self, minutes: Minutes, open_call: OpenCall, call: Call) -> Outcome:
        task = minutes.held.task
        if open_call.state is CallState.APPROVED:
            return await self._counter.resume(open_call.approval_id, task.epoch, minutes.seconds_left)
        try:
            arguments, repaired = _read(open_call, minutes.standing)
        except ToolError as error:
            return Failed.by(error)
        if is_second_handoff(self._shop.registry, minutes.standing.open.values(), open_call):
            return Failed(Code.INVALID_ARGUMENTS, "a task is handed off once; the first handoff counts")
        tool = self._shop.registry.get(call.tool)
        if task.kind == "question" and tool is not None and not self.usable(task)(tool.name):
            return Failed(
                Code.NOT_ALLOWED, f"you only answer a question here; {tool.name} could change something"
            )
        call = replace(call, arguments=arguments, repaired=repaired)
        return await self._counter.dispatch(call, minutes.seconds_left)

    async def _settle_strays(self, minutes: Minutes) -> bool:
        """Settle calls that claimed and were left: by a dead worker, or here when the database went away."""
        strays = [call.id for call in minutes.standing.open.values() if call.state is CallState.ACTING]
        if not strays:
            return False
        # What is known of them here counts more than what can be found out.
        await self._shop.threads.run(self._counter.write_leftovers)
        left = minutes.seconds_left
        settled = bool(await self._counter.watched(settle_strays, self._shop, strays, seconds_left=left))
        if settled:
            await self._shop.threads.run(minutes.refresh)
        return settled


def _read(open_call: OpenCall, standing: Standing) -> tuple[dict[str, Any], str]:
    given = open_call.use.arguments
    if not isinstance(given, str):
        return dict(given), ""
    try:
        return read_arguments(given)
    except ToolError as error:
        if standing.stop != "length":
            raise
        raise ToolError(error.code, CUT_OFF.format(length=standing.length)) from None


def _call(minutes: Minutes, open_call: OpenCall) -> Call:
    task, given = minutes.held.task, open_call.use.arguments
    shown = {"unreadable": given[:LONGEST_UNREAD]} if isinstance(given, str) else dict(given)
    return Call(
        open_call.id, open_call.use.tool, shown, f"agent:{task.role}", task.role, task.id, epoch=task.epoch
    )
