"""Advance one task until it ends or blocks; a task that killed its last workers is put aside.

take ─ read the timeline ─┬─ open calls: dispatch those that wait for nothing ─┐
                          ├─ none open: ask the model, record its turn ────────┤
                          ├─ the model said its last word: end ◀───────────────┘
                          └─ only waiting calls left: block, unless something was added meanwhile

Where the database goes away, the worker waits and then reads the state again. Anything else that keeps a task from
going on ends the task.

A task that killed its last workers may do so again, and every task beside it would count that death as an attempt of
its own. So a process works on one such task at a time, until that task has made progress.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from brasstag.engine.calls.counter import Counter
from brasstag.engine.graph.open import ended, failure
from brasstag.engine.runtime import Runtime
from brasstag.engine.transcript.compact import fits, plan_compaction
from brasstag.engine.worker.budget import Allowance, allowance, out_of_time
from brasstag.engine.worker.journal import Journal
from brasstag.engine.worker.notices import tell_of_changes
from brasstag.engine.worker.open_calls import Calling
from brasstag.store.tasks.rows import Status, find_task
from brasstag.store.tasks.types import Held
from brasstag.words.calls import Failed
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, Fenced, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Model, ModelError, Turn, TurnRequest

log = logging.getLogger("brasstag")

_T = TypeVar("_T")

MOST_ATTEMPTS = 5
"""How often a task is taken without progress before it is given up: its workers keep dying."""

SHORTEST_ANSWER = 64
"""How many tokens a model may say however little is left of a budget; the budget ends the task after that."""

ASIDE_SECONDS = 0.1
"""How often a task that let others of its run go first looks whether there is a step for it."""

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds between looks while the database is away."""

ENDING_TRIES = 4
"""How often the end of a task is written before its row alone is closed; the pauses between add up to seconds."""


class Advancing:
    """Runs tasks, one ``advance`` at a time for each; whatever goes wrong ends in the task, never in the caller."""

    def __init__(self, runtime: Runtime, counter: Counter) -> None:
        self._runtime = runtime
        self._graph = runtime.store.graph
        self._calling = Calling(runtime, counter)
        self._suspects = Quarantine()
        self._epochs: dict[asyncio.Task[Any] | None, int] = {}
        self.draining = False
        """Whether tasks are given back at their next step, as this process is about to end."""

    async def advance(self, task_id: str, wake: int) -> None:
        """Take a task at one of its wakes and work on it; do nothing on a stale hint."""
        await self._suspects.admit(await self._patiently(self._attempts, task_id))
        try:
            await self._advance(task_id, wake)
        finally:
            self._suspects.clear()

    def epoch_of(self, work: "asyncio.Task[None]") -> int | None:
        """Return the epoch under which an ``advance`` holds its task, or None while it holds none."""
        return self._epochs.get(work)

    async def _advance(self, task_id: str, wake: int) -> None:
        held = await self._patiently(self._graph.take, task_id, wake)
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
            await _outlasting(lambda: self._work(held))
        except Fenced:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends in the task
            return _as_failure(held.id, error)
        return None

    async def _fail(self, held: Held, why: Failed) -> None:
        """End a task that cannot go on; where its end cannot be written, and that lasts, its row alone says so."""
        unwritten = why.details.get("seconds", 0.0)
        for tried in range(ENDING_TRIES):
            try:
                return await _outlasting(lambda: self._end(held, "failed", failure(why), unwritten))
            except Fenced:
                raise
            except Exception as error:  # noqa: BLE001 - one that passes is not told from one that lasts
                log.warning("the end of %s cannot be written: %s", held.id, error)
                await asyncio.sleep(FIRST_PAUSE * 2**tried)
        log.error(
            "%s failed (%s), and is closed without an entry; whoever waits for it has not been told, and can be stopped",
            held.id,
            why.message,
        )
        return await self._patiently(self._graph.give_up, held)

    async def _work(self, held: Held) -> None:
        if held.task.attempts > MOST_ATTEMPTS:
            raise ToolError(
                Code.POISONED,
                f"{held.task.attempts - 1} workers in a row ended while they held this task; it is given up",
            )
        journal = await self._off_loop(Journal, self._runtime, held)
        while not journal.standing.ended:
            standing = journal.standing
            if self.draining:
                return await self._off_loop(self._graph.let_go, held)
            if standing.open:
                if await self._calling.run_open(journal):
                    continue
                if await self._off_loop(self._graph.block, held, standing.seen):
                    self._runtime.at("blocked")
                    return None
                await self._off_loop(journal.refresh)
            elif standing.said_its_last:
                # The end of a turn without a handoff hands off its words.
                return await self._end(held, "done", standing.text)
            else:
                await self._take_turn(journal)
        return None

    async def _take_turn(self, journal: Journal) -> None:
        held = journal.held
        model = self._runtime.agents.model(journal.opened["model"], held.task.role)
        await self._runtime.agents.measure(model)
        left, request = await self._off_loop(self._prepare_turn, journal, model)
        while request is None:
            await self._let_others_go_first(held, left)
            left, request = await self._off_loop(self._prepare_turn, journal, model)
        started = time.monotonic()
        try:
            async with asyncio.timeout(left.seconds):
                turn = await model.respond(request, lambda text: self._runtime.listeners.said(held.id, text))
        except TimeoutError:
            cut_off = round(time.monotonic() - started, 3)
            raise out_of_time(held.task, f"while {model.name} answered", cut_off) from None
        self._runtime.at("answered")
        await self._off_loop(self._record, journal, turn, time.monotonic() - started)
        self._suspects.clear()

    async def _let_others_go_first(self, held: Held, left: Allowance) -> None:
        """Wait while tasks of the run that are held now could take all its last steps."""
        await self._patiently(self._graph.step_aside, held)
        while not await self._patiently(self._graph.step_in, held, left.most_steps):
            if self.draining:
                await self._patiently(partial(self._graph.step_aside, held, for_good=True))
                raise Fenced(held.id)
            await asyncio.sleep(ASIDE_SECONDS)

    def _prepare_turn(self, journal: Journal, model: Model) -> tuple[Allowance, TurnRequest | None]:
        """Return what the model is asked with, or None where others of the run have to go first."""
        left = allowance(self._runtime.store, journal)
        if left.crowded:
            return left, None
        task, standing = journal.held.task, journal.standing
        tell_of_changes(self._runtime, journal)
        self._compact(journal, model)
        transcript = journal.transcript()
        offered = self._calling.offers(task)
        # The tokens of the messages are spent once they are sent; the answer may use the rest.
        most = None if left.tokens is None else max(left.tokens - transcript.tokens, SHORTEST_ANSWER)
        request = TurnRequest(
            transcript.messages(),
            offered,
            task.role,
            standing.turns,
            task.id,
            most,
            on_retry=lambda retrying: self._runtime.listeners.retrying(task.id, retrying),
        )
        return left, request

    def _record(self, journal: Journal, turn: Turn, seconds: float) -> None:
        number = journal.standing.turns
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
        self._graph.record_turn(journal.held, payload, turn.usage)
        self._runtime.at("turn recorded")
        if not journal.catch_up():
            journal.refresh()

    def _compact(self, journal: Journal, model: Model) -> None:
        payload = plan_compaction(journal.transcript(), model.context_tokens)
        if payload is not None:
            self._graph.note(journal.held, EntryKind.COMPACTED, payload)
            journal.refresh()
        if not fits(journal.transcript(), model.context_tokens):
            raise ToolError(
                Code.TOO_LARGE,
                f"the conversation does not fit into the {model.context_tokens} tokens of {model.name} even in short form; "
                "use a model with a larger context, or split the task",
            )

    async def _end(self, held: Held, status: Status, result: Any, unwritten: float = 0.0) -> None:
        """End a task; ``unwritten`` are seconds of work that no other entry tells of."""
        ending = await self._off_loop(
            self._runtime.store.read, lambda view: ended(view, held.task, status, result)
        )
        if unwritten:
            ending = replace(ending, payload=ending.payload | {"seconds": unwritten})
        await self._off_loop(self._graph.finish, held, ending)
        self._runtime.at("finished")

    def _attempts(self, task_id: str) -> int:
        task = self._runtime.store.read(lambda view: find_task(view, task_id))
        return 0 if task is None else task.attempts

    async def _patiently(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await _outlasting(lambda: self._off_loop(function, *arguments))

    async def _off_loop(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await self._runtime.threads.run_short(function, *arguments)


async def _outlasting(act: Callable[[], Awaitable[_T]]) -> _T:
    """Act, and try again for as long as the database is away."""
    pause = FIRST_PAUSE
    while True:
        try:
            return await act()
        except StoreLost as error:
            log.warning("waiting for the database: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


def _as_failure(task_id: str, error: Exception) -> Failed:
    """Return how a task ends that met this error."""
    match error:
        case ModelError():
            return Failed(error.code, error.message)
        case ToolError():
            return Failed.by(error)
        case StoreError():
            log.error("%s cannot go on: %s", task_id, error)
            return Failed(Code.INTERNAL_ERROR, f"the task cannot go on: {error}")
        case _:
            log.error("%s failed in an unforeseen way", task_id, exc_info=error)
            what = type(error).__name__
            return Failed(Code.INTERNAL_ERROR, f"the task failed in an unforeseen way: {what}")


def _plain(use: ToolUse) -> ToolUse:
    """Keep arguments that are not plain JSON as a JSON text; the code that reads the text says what is wrong."""
    if isinstance(use.arguments, str) or why_not_json(use.arguments) is None:
        return use
    return replace(use, arguments=json.dumps(dict(use.arguments), default=repr))


SUSPECTED = 2
"""After so many attempts without progress, a task has to pass through quarantine."""


class Quarantine:
    """Lets in one task at a time of those that had too many attempts without progress."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._inside: asyncio.Task[Any] | None = None

    async def admit(self, attempts: int) -> None:
        """Wait, if the task had ``SUSPECTED`` attempts or more, until no other such task is in quarantine."""
        if attempts >= SUSPECTED:
            await self._lock.acquire()
            self._inside = asyncio.current_task()

    def clear(self) -> None:
        """Leave quarantine: the current task has made progress, or has ended."""
        if self._inside is asyncio.current_task():
            self._inside = None
            self._lock.release()
