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
from brasstag.words.budgets import Budget
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


class Loop:
    """What is behind Room's methods for a loop of one's own."""

    def __init__(self, open_room: OpenRoom, runs: Runs) -> None:
        self._runtime = open_room.runtime
        self._runs = runs
        self._tasks = OutsideTasks(open_room.runtime, open_room.counter)

    async def open(self, request: str, role: str, documents: Sequence[str], budget: Budget) -> str:
        """Write a run down whose turns the program takes."""
        return await self._runs.begin_outside(request, role, documents, budget)

    async def render(self, task_id: str, form: Form, context_tokens: int) -> Any:
        """Return what a model is asked with next."""
        _require_form(form)
        request = await self._tasks.render(task_id, _Client(context_tokens))
        fetch = self._runtime.store.blobs.get
        render, _ = _FORMS[form]
        return await self._runtime.threads.run(render, request.messages, fetch)

    async def tools(self, task_id: str, form: Form) -> list[dict[str, Any]]:
        """Return the tools that a task may use."""
        _require_form(form)
        offered = [self._runtime.registry.get(one.name) for one in await self._tasks.offers(task_id)]
        _, export = _FORMS[form]
        return [export(tool) for tool in offered if tool is not None]

    async def record(self, task_id: str, response: Any) -> NextStep:
        """Write a turn down."""
        return _as_json(await self._tasks.record(task_id, turn_of(response)))

    async def handle(
        self,
        task_id: str,
        tool_name: str,
        tool_input: Mapping[str, Any] | str,
        tool_type: ToolType | None,
        call_id: str,
    ) -> NextStep:
        """Hand in one call."""
        if not isinstance(tool_name, str):
            raise ToolError(Code.INVALID_ARGUMENTS, f"a tool's name is a text, not {tool_name!r:.100}")
        tool = self._runtime.registry.get(tool_name)
        if tool_type is not None and tool is not None and tool.config.type is not tool_type:
            said = f"{tool_name} is a {tool.config.type.value}, not a {tool_type}"
            raise ToolError(Code.INVALID_ARGUMENTS, said)
        return _as_json(
            await self._tasks.handle(task_id, ToolUse("", tool_name, arguments_of(tool_input)), call_id)
        )

    async def ready(self, task_id: str) -> AsyncIterator[Task]:
        """Yield each task of a run whose turn it is, until the run has ended."""
        tree = (await self._runs.task(task_id)).tree
        if self._runtime.agents.services:
            await self._runs.serve_run(tree)
        while True:
            found = await self._runtime.threads.run(self._tasks.next_of, tree)
            if found == "ended":
                return
            if isinstance(found, Task):
                yield found
                continue
            await asyncio.sleep(GLANCE_SECONDS)
            await self._runtime.threads.run(Decisions(self._runtime.store).expire_due)

    async def close(self) -> None:
        """Give back what is held."""
        await self._tasks.let_go()


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
