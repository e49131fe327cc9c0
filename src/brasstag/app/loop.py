"""A loop of one's own: the tasks of a room whose turns a program takes, with a model client of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NotRequired, TypedDict

from brasstag.app.open import OpenRoom
from brasstag.app.runs import Runs
from brasstag.engine.calls.approvals import Decisions
from brasstag.engine.worker.outside import LoopStep, OutsideTasks
from brasstag.models.answers import arguments_of
from brasstag.models.forms import Form, anthropic_messages, openai_messages, turn_of
from brasstag.store.tasks.rows import Task
from brasstag.toolkit.kinds import ToolType
from brasstag.toolkit.schemas import anthropic_tool, openai_function
from brasstag.toolkit.tool import Tool
from brasstag.words.budgets import NO_LIMITS, Budget
from brasstag.words.calls import ToolCall
from brasstag.words.errors import Code, ToolError
from brasstag.words.messages import ToolUse
from brasstag.words.turns import ModelError, OnText, Turn, TurnRequest

GLANCE_SECONDS = 0.1
"""How often a run is looked at that waits for a person or another task."""

CONTEXT_TOKENS = 128_000
"""How much fits into a model of which the program does not say it."""


class NextStep(TypedDict):
    """S1's answer to a call: go on with the loop, or leave this task, which has ended or waits."""

    action: Literal["continue", "return"]
    value: Any
    calls: NotRequired[list[ToolCall]]
    """The calls of a turn that was recorded, each to be handed in."""


@dataclass(frozen=True, slots=True)
class _Client:
    """A model that only the program knows."""

    context_tokens: int
    name: str = "outside"
    sees_images: bool = True

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:  # noqa: ARG002 - it is never asked here
        raise ModelError("the program takes the turns of this task", Code.MODEL_NOT_CONFIGURED)


class OwnLoop:
    """The part of a Room with which a program takes the turns of a task itself."""

    def __init__(self, open_room: OpenRoom, runs: Runs) -> None:
        self._runtime = open_room.runtime
        self.runs = runs
        self._outside = OutsideTasks(open_room.runtime, open_room.counter)

    async def open_task(
        self, request: str, *, role: str = "", documents: Sequence[str] = (), budget: Budget = NO_LIMITS
    ) -> str:
        """Begin a run whose turns a loop of yours takes, and return its id; no worker and no model of this room does.

        Raises ToolError for a role or document that is not there.
        """
        return await self.runs.begin_outside(request, role, documents, budget)

    async def render_for_llm(
        self, task_id: str, *, form: Form = "openai", context_tokens: int = CONTEXT_TOKENS
    ) -> Any:
        """Return what to ask a model with: OpenAI's list of messages, or ``{"system", "messages"}`` for Anthropic.

        Calls that were approved or left open meanwhile are run first. Raises ToolError: BUSY where the task waits,
        TASK_CLOSED where it has ended, and the reason where it cannot go on; then it has failed.
        """
        _require_form(form)
        request = await self._outside.render(task_id, _Client(context_tokens))
        fetch = self._runtime.store.blobs.get
        render, _ = _FORMS[form]
        return await self._runtime.threads.run(render, request.messages, fetch)

    async def tools_for_llm(self, task_id: str, *, form: Form = "openai") -> list[dict[str, Any]]:
        """Return the tools that a task may use, in the form of OpenAI's chat completions or of Anthropic."""
        _require_form(form)
        offered = [self._runtime.registry.get(one.name) for one in await self._outside.offers(task_id)]
        _, export = _FORMS[form]
        return [export(tool) for tool in offered if tool is not None]

    async def record_turn(self, task_id: str, response: Any) -> NextStep:
        """Write a model's whole answer down before any of its calls runs: OpenAI's, Anthropic's, or a text.

        ``calls`` are then handed in with ``handle_tool_call``. An answer without calls ends the task with its words.
        """
        return _as_json(await self._outside.record(task_id, turn_of(response)))

    async def handle_tool_call(
        self,
        task_id: str,
        tool_name: str,
        tool_input: Mapping[str, Any] | str,
        *,
        tool_type: ToolType | None = None,
        call_id: str = "",
    ) -> NextStep:
        """Take one call of a model through the whole path, and say what the loop does next.

        ``continue`` with the result, or with ``{"error": …}``; ``return`` with the input of a handoff, or with None
        where the task now waits for another task, an answer or an approval. A call that no recorded turn made is
        recorded as a turn of its own first.
        """
        if not isinstance(tool_name, str):
            raise ToolError(Code.INVALID_ARGUMENTS, f"a tool's name is a text, not {tool_name!r:.100}")
        tool = self._runtime.registry.get(tool_name)
        if tool_type is not None and tool is not None and tool.config.type is not tool_type:
            said = f"{tool_name} is a {tool.config.type.value}, not a {tool_type}"
            raise ToolError(Code.INVALID_ARGUMENTS, said)
        return _as_json(
            await self._outside.handle(task_id, ToolUse("", tool_name, arguments_of(tool_input)), call_id)
        )

    async def ready(self, task_id: str) -> AsyncIterator[Task]:
        """Yield each task of a run whose turn it is, until the run has ended; take its turns before you ask for the next.

        It waits while the run waits for people.
        """
        tree = (await self.runs.task(task_id)).tree
        if self._runtime.agents.services:
            await self.runs.serve_run(tree)
        while True:
            found = await self._runtime.threads.run(self._outside.next_of, tree)
            if found == "ended":
                return
            if isinstance(found, Task):
                yield found
                continue
            await asyncio.sleep(GLANCE_SECONDS)
            await self._runtime.threads.run(Decisions(self._runtime.store).expire_due)


_FORMS: Mapping[str, tuple[Callable[..., Any], Callable[[Tool], dict[str, Any]]]] = {
    "openai": (openai_messages, partial(openai_function, wrapped=True)),
    "anthropic": (anthropic_messages, anthropic_tool),
}
"""By form: how messages are rendered, and how a tool is."""


def _require_form(form: str) -> None:
    if form not in _FORMS:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{form!r} is no form of messages; use {' or '.join(_FORMS)}")


def _as_json(step: LoopStep) -> NextStep:
    found: NextStep = {"action": step.action, "value": step.value}
    if step.calls:
        found["calls"] = list(step.calls)
    return found
