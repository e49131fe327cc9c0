"""Advancing: run one task until it ends or blocks.

take ─ read the timeline ─┬─ open calls: dispatch those that wait for nothing ─┐
                          ├─ none open: ask the model, record its turn ────────┤
                          ├─ the model said its last word: end ◀───────────────┘
                          └─ only waiting calls left: block, unless something was added meanwhile
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from brasstag.engine.agents import Limits, overspent
from brasstag.engine.calling import Calling
from brasstag.engine.compacting import fits, plan_compaction
from brasstag.engine.dispatch import Counter
from brasstag.engine.minutes import Minutes
from brasstag.engine.nodes import ended, failure
from brasstag.engine.shop import Shop
from brasstag.engine.suspects import Suspects
from brasstag.store.graph import Held
from brasstag.store.tasks import Status, find_task
from brasstag.words.calls import Failed
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, Fenced, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Model, ModelError, Turn, TurnRequest

log = logging.getLogger("brasstag")

_T = TypeVar("_T")

MOST_ATTEMPTS = 5
"""How often a task is taken without getting anywhere before it is given up: its workers keep dying."""

SHORTEST_ANSWER = 64
"""How many tokens a model may say however little is left of a budget; the budget ends the task after that."""

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between looks while the database is away."""


class Advancing:
    """Runs tasks, one ``advance`` at a time for each; whatever goes wrong ends in the task, never in the caller."""

    def __init__(self, shop: Shop, counter: Counter) -> None:
        self._shop = shop
        self._graph = shop.books.graph
        self._calling = Calling(shop, counter)
        self._suspects = Suspects()
        self.draining = False
        """Whether tasks are given back at their next step, as this process is about to end."""

    async def advance(self, task_id: str, wake: int) -> None:
        """Take a task at one of its wakes and work on it; a stale hint is nothing to do."""
        await self._suspects.admit(await self._patiently(lambda: self._attempts(task_id)))
        try:
            await self._advance(task_id, wake)
        finally:
            self._suspects.clear()

    async def _advance(self, task_id: str, wake: int) -> None:
        held = await self._patiently(lambda: self._graph.take(task_id, wake))
        if held is None:
            return
        self._shop.at("taken")
        try:
            await self._work_until_lost(held)
        except asyncio.CancelledError:
            # Where that is lost, the task is found later: held here, and nobody at it.
            with suppress(StoreError):
                await asyncio.shield(self._off_loop(self._graph.let_go, held))
            raise

    async def _work_until_lost(self, held: Held) -> None:
        """Work; when the database was away, read anew what is true and go on from there."""
        ending: Failed | None = None
        pause = FIRST_PAUSE
        while True:
            try:
                if ending is not None:
                    await self._end(held, "failed", failure(ending))
                else:
                    await self._work(held)
            except Fenced:
                log.info("%s is held elsewhere, or was stopped", held.id)
            except StoreLost as error:
                log.warning("%s waits for the database: %s", held.id, error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            except (ModelError, ToolError) as error:
                details = error.details if isinstance(error, ToolError) else {}
                ending = Failed(error.code, error.message, details)
                continue
            except Exception as error:
                if ending is not None:
                    raise
                log.exception("%s failed in an unforeseen way", held.id)
                ending = Failed(
                    Code.INTERNAL_ERROR, f"the task failed in an unforeseen way: {type(error).__name__}"
                )
                continue
            return

    async def _work(self, held: Held) -> None:
        if held.task.attempts > MOST_ATTEMPTS:
            raise ToolError(
                Code.POISONED,
                f"{held.task.attempts - 1} workers in a row ended while they held this task; it is given up",
            )
        minutes = await self._off_loop(Minutes, self._shop, held)
        while not minutes.standing.ended:
            standing = minutes.standing
            if self.draining:
                return await self._off_loop(self._graph.let_go, held)
            if standing.open:
                if await self._calling.run_open(minutes):
                    continue
                if await self._off_loop(self._graph.block, held, standing.seen):
                    self._shop.at("blocked")
                    return None
                await self._off_loop(minutes.refresh)
            elif standing.said_its_last:
                # The end of a turn without a handoff hands off its words.
                return await self._end(held, "done", standing.text)
            else:
                await self._take_turn(minutes)
        return None

    async def _take_turn(self, minutes: Minutes) -> None:
        held = minutes.held
        model = self._shop.agents.model(minutes.opened["model"], held.task.role)
        request, seconds_left = await self._off_loop(self._prepare_turn, minutes, model)
        started = time.monotonic()
        try:
            async with asyncio.timeout(seconds_left):
                turn = await model.respond(request, lambda text: self._shop.said(held.id, text))
        except TimeoutError:
            raise ToolError(
                Code.BUDGET_EXCEEDED,
                f"the time this task may work ran out while {model.name} answered",
                {"limit": "max_seconds"},
            ) from None
        self._shop.at("answered")
        await self._off_loop(self._record, minutes, turn, time.monotonic() - started)
        self._suspects.clear()

    def _prepare_turn(self, minutes: Minutes, model: Model) -> tuple[TurnRequest, float | None]:
        task, standing = minutes.held.task, minutes.standing
        seconds_left, tokens_left = self._left(minutes)
        self._compact(minutes, model)
        messages = minutes.transcript.messages()
        offered = self._calling.offers(task)
        # What the messages take is gone once they are sent; the answer may take the rest.
        most = None if tokens_left is None else max(tokens_left - minutes.transcript.tokens, SHORTEST_ANSWER)
        request = TurnRequest(messages, offered, task.role, standing.turns, task.id, most)
        return request, seconds_left

    def _record(self, minutes: Minutes, turn: Turn, seconds: float) -> None:
        standing = minutes.standing
        number = standing.turns
        calls = [
            _plain(ToolUse(f"c{number}_{index}", use.tool, use.arguments)).as_json()
            for index, use in enumerate(turn.calls)
        ]
        payload: dict[str, Any] = {
            "type": "turn",
            "turn": number,
            "model": turn.model,
            "text": turn.text,
            "thinking": [thought.as_json() for thought in turn.thinking],
            "calls": calls,
            "usage": turn.usage.as_json(),
            "stop": turn.stop,
            "seconds": round(seconds, 3),
            "note": turn.note,
        }
        milliseconds = round((seconds + standing.tool_seconds) * 1000)
        self._graph.record_turn(minutes.held, payload, turn.usage, milliseconds)
        self._shop.at("turn recorded")
        minutes.refresh()

    def _compact(self, minutes: Minutes, model: Model) -> None:
        payload = plan_compaction(minutes.transcript, model.context_tokens)
        if payload is not None:
            self._graph.note(minutes.held, EntryKind.COMPACTED, payload)
            minutes.refresh()
        if not fits(minutes.transcript, model.context_tokens):
            raise ToolError(
                Code.TOO_LARGE,
                f"the conversation does not fit into the {model.context_tokens} tokens of {model.name} even in short form; "
                "use a model with a larger context, or split the task",
            )

    def _left(self, minutes: Minutes) -> tuple[float | None, int | None]:
        """Return the seconds and tokens the next turn may take; raise ToolError where a limit is reached."""
        task = minutes.held.task
        used = self._shop.books.spendings(task.id).later(minutes.standing.tool_seconds)
        own, run = minutes.limits.own, Limits.from_text(used.root_budget).run
        for error in overspent(own, used.own, f"this task of {task.role}"):
            raise error
        for error in overspent(run, used.run, "this run"):
            raise error
        both = ((own, used.own), (run, used.run))
        seconds = [
            limit.max_seconds - spent.seconds for limit, spent in both if limit.max_seconds is not None
        ]
        tokens = [limit.max_tokens - spent.tokens for limit, spent in both if limit.max_tokens is not None]
        return min(seconds, default=None), min(tokens, default=None)

    async def _end(self, held: Held, status: Status, result: Any) -> None:
        ending = await self._off_loop(
            self._shop.books.read, lambda view: ended(view, held.task, status, result)
        )
        await self._off_loop(self._graph.finish, held, ending)
        self._shop.at("finished")

    def _attempts(self, task_id: str) -> int:
        task = self._shop.books.read(lambda view: find_task(view, task_id))
        return 0 if task is None else task.attempts

    async def _patiently(self, act: Callable[[], _T]) -> _T:
        pause = FIRST_PAUSE
        while True:
            try:
                return await self._off_loop(act)
            except StoreLost as error:
                log.warning("waiting for the database: %s", error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _off_loop(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await self._shop.threads.run(function, *arguments)


def _plain(use: ToolUse) -> ToolUse:
    """Arguments that cannot be written down as JSON are kept as the text of them; dispatch will refuse that."""
    if isinstance(use.arguments, str) or why_not_json(use.arguments) is None:
        return use
    return replace(use, arguments=repr(dict(use.arguments)))
