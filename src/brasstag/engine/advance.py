"""Advancing: run one task until it ends or blocks.

take ─ read the timeline ─┬─ open calls: dispatch those that wait for nothing ─┐
                          ├─ none open: ask the model, record its turn ────────┤
                          ├─ the model said its last word: end ◀───────────────┘
                          └─ only waiting calls left: block, unless something was added meanwhile
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from brasstag.engine.allowance import Allowance, allowance, out_of_time
from brasstag.engine.calling import Calling
from brasstag.engine.compacting import fits, plan_compaction
from brasstag.engine.dispatch import Counter
from brasstag.engine.minutes import Minutes
from brasstag.engine.nodes import ended, failure
from brasstag.engine.shop import Shop
from brasstag.engine.suspects import Suspects
from brasstag.store.graph_words import Held
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

ASIDE_SECONDS = 0.1
"""How often a task that let others of its run go first looks whether there is a step for it."""

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
                    await self._end(held, "failed", failure(ending), ending.details.get("seconds", 0.0))
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
            except StoreError as error:
                if ending is not None:
                    raise
                log.error("%s cannot go on: %s", held.id, error)  # noqa: TRY400 - it says all there is to know
                ending = Failed(Code.INTERNAL_ERROR, f"the task cannot go on: {error}")
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
        left, request = await self._off_loop(self._prepare_turn, minutes, model)
        while request is None:
            await self._let_others_go_first(held, left)
            left, request = await self._off_loop(self._prepare_turn, minutes, model)
        started = time.monotonic()
        try:
            async with asyncio.timeout(left.seconds):
                turn = await model.respond(request, lambda text: self._shop.said(held.id, text))
        except TimeoutError:
            cut_off = round(time.monotonic() - started, 3)
            raise out_of_time(held.task, f"while {model.name} answered", cut_off) from None
        self._shop.at("answered")
        await self._off_loop(self._record, minutes, turn, time.monotonic() - started)
        self._suspects.clear()

    async def _let_others_go_first(self, held: Held, left: Allowance) -> None:
        """Wait while tasks of the run that are held now could take all its last steps."""
        await self._patiently(lambda: self._graph.step_aside(held))
        while not await self._patiently(lambda: self._graph.step_in(held, left.most_steps)):
            if self.draining:
                await self._patiently(lambda: self._graph.step_aside(held, for_good=True))
                raise Fenced(held.id)
            await asyncio.sleep(ASIDE_SECONDS)

    def _prepare_turn(self, minutes: Minutes, model: Model) -> tuple[Allowance, TurnRequest | None]:
        """Return what the model is asked with, or None where others of the run have to go first."""
        left = allowance(self._shop.books, minutes)
        if left.crowded:
            return left, None
        task, standing = minutes.held.task, minutes.standing
        self._compact(minutes, model)
        transcript = minutes.transcript()
        offered = self._calling.offers(task)
        # What the messages take is gone once they are sent; the answer may take the rest.
        most = None if left.tokens is None else max(left.tokens - transcript.tokens, SHORTEST_ANSWER)
        request = TurnRequest(transcript.messages(), offered, task.role, standing.turns, task.id, most)
        return left, request

    def _record(self, minutes: Minutes, turn: Turn, seconds: float) -> None:
        number = minutes.standing.turns
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
        self._graph.record_turn(minutes.held, payload, turn.usage)
        self._shop.at("turn recorded")
        if not minutes.catch_up():
            minutes.refresh()

    def _compact(self, minutes: Minutes, model: Model) -> None:
        payload = plan_compaction(minutes.transcript(), model.context_tokens)
        if payload is not None:
            self._graph.note(minutes.held, EntryKind.COMPACTED, payload)
            minutes.refresh()
        if not fits(minutes.transcript(), model.context_tokens):
            raise ToolError(
                Code.TOO_LARGE,
                f"the conversation does not fit into the {model.context_tokens} tokens of {model.name} even in short form; "
                "use a model with a larger context, or split the task",
            )

    async def _end(self, held: Held, status: Status, result: Any, unwritten: float = 0.0) -> None:
        """End a task; ``unwritten`` are seconds of work that no other entry tells of."""
        ending = await self._off_loop(
            self._shop.books.read, lambda view: ended(view, held.task, status, result)
        )
        if unwritten:
            ending = replace(ending, payload=ending.payload | {"seconds": unwritten})
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
        return await self._shop.threads.run_short(function, *arguments)


def _plain(use: ToolUse) -> ToolUse:
    """Arguments that are not plain JSON are kept as a text of it; whoever reads that says what is wrong with them."""
    if isinstance(use.arguments, str) or why_not_json(use.arguments) is None:
        return use
    return replace(use, arguments=json.dumps(dict(use.arguments), default=repr))
