"""Take one turn of a task: check its budget, tell it what changed, ask its model, record the answer."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from brasstag.engine.runtime import Runtime
from brasstag.engine.transcript.compact import fits, plan_compaction
from brasstag.engine.worker.budget import Allowance, allowance, out_of_time
from brasstag.engine.worker.journal import Journal
from brasstag.engine.worker.notices import tell_of_changes
from brasstag.engine.worker.outage import until_database_is_back
from brasstag.store.tasks.rows import Task
from brasstag.store.tasks.types import Held
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, Fenced, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Model, Offer, Turn, TurnRequest

_T = TypeVar("_T")

SHORTEST_ANSWER = 64
"""How many tokens a model may say however little is left of a budget; the budget ends the task after that."""

ASIDE_SECONDS = 0.1
"""How often a task that let others of its run go first looks whether there is a step for it."""


class Turns:
    """Takes the turns of tasks; ``is_draining`` says whether this process is about to end."""

    def __init__(
        self,
        runtime: Runtime,
        offers: Callable[[Task], tuple[Offer, ...]],
        is_draining: Callable[[], bool],
    ) -> None:
        self._runtime = runtime
        self._graph = runtime.store.graph
        self._offers = offers
        self._is_draining = is_draining

    async def take(self, journal: Journal) -> None:
        """Ask the model of a task, and record what it says; first others of its run may go."""
        held = journal.held
        model = self._runtime.agents.model(journal.opened["model"], held.task.role)
        await self._runtime.agents.measure(model)
        left, request = await self._off_loop(self.prepare, journal, model)
        while request is None:
            await self._let_others_go_first(held, left)
            left, request = await self._off_loop(self.prepare, journal, model)
        started = time.monotonic()
        try:
            async with asyncio.timeout(left.seconds):
                turn = await model.respond(request, lambda text: self._runtime.listeners.said(held.id, text))
        except TimeoutError:
            cut_off = round(time.monotonic() - started, 3)
            raise out_of_time(held.task, f"while {model.name} answered", cut_off) from None
        self._runtime.at("answered")
        await self._off_loop(self.record, journal, turn, time.monotonic() - started)

    async def _let_others_go_first(self, held: Held, left: Allowance) -> None:
        """Wait while tasks of the run that are held now could take all its last steps."""
        await self._at_last(self._graph.step_aside, held)
        while not await self._at_last(self._graph.step_in, held, left.most_steps):
            if self._is_draining():
                await self._at_last(partial(self._graph.step_aside, held, for_good=True))
                raise Fenced(held.id)
            await asyncio.sleep(ASIDE_SECONDS)

    def prepare(self, journal: Journal, model: Model) -> tuple[Allowance, TurnRequest | None]:
        """Return what the model is asked with, or None where others of the run have to go first."""
        left = allowance(self._runtime.store, journal)
        if left.crowded:
            return left, None
        task, state = journal.held.task, journal.state
        tell_of_changes(self._runtime, journal)
        self._compact(journal, model)
        transcript = journal.transcript()
        offered = () if journal.opened.get("skips", {}).get("tools") else self._offers(task)
        # The tokens of the messages are spent once they are sent; the answer may use the rest.
        most = None if left.tokens is None else max(left.tokens - transcript.tokens, SHORTEST_ANSWER)
        request = TurnRequest(
            transcript.messages(),
            offered,
            task.role,
            state.turns,
            task.id,
            most,
            on_retry=lambda retrying: self._runtime.listeners.retrying(task.id, retrying),
        )
        return left, request

    def record(self, journal: Journal, turn: Turn, seconds: float = 0.0) -> None:
        """Write a turn down, before any of its calls runs."""
        number = journal.state.turns
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

    async def _at_last(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await until_database_is_back(lambda: self._off_loop(function, *arguments))

    async def _off_loop(self, function: Callable[..., _T], *arguments: Any) -> _T:
        return await self._runtime.threads.run_short(function, *arguments)


async def record_once(runtime: Runtime, turns: Turns, journal: Journal, turn: Turn) -> None:
    """Write a turn down that no model of this room took; a reply that was lost does not make it two."""
    number = journal.state.turns

    def record() -> None:
        journal.refresh()
        if journal.state.turns == number:
            turns.record(journal, turn)

    await until_database_is_back(lambda: runtime.threads.run_short(record))


def _plain(use: ToolUse) -> ToolUse:
    """Keep arguments that are not plain JSON as a JSON text; the code that reads the text says what is wrong.

    Raises ToolError for what no model can say: values that only a program has, such as bytes or a path.
    """
    if isinstance(use.arguments, str) or (reason := why_not_json(use.arguments)) is None:
        return use
    try:
        return replace(use, arguments=json.dumps(dict(use.arguments)))
    except (TypeError, ValueError, RecursionError):
        said = f"{use.tool}: the arguments are not JSON: {reason}"
        raise ToolError(Code.INVALID_ARGUMENTS, said) from None
