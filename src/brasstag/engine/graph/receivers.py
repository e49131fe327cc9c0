"""Receivers: whose context window has to hold what a call returns or passes on."""

from dataclasses import replace

from brasstag.documents.reading.carry import Receiver
from brasstag.engine.agents import Chosen
from brasstag.engine.graph.open import master_of, opening
from brasstag.engine.runtime import Runtime
from brasstag.policy.roles import OPERATOR
from brasstag.store.database.base import View
from brasstag.store.tasks.rows import Task, find_task
from brasstag.words.calls import Call
from brasstag.words.errors import Code, ToolError
from brasstag.words.tokens import BYTES_PER_TOKEN
from brasstag.words.turns import Model, ModelError

LOADS = "load_to_context"
"""The tool that reads on in a document, whatever it was written with."""

RECALLED = 20_000
"""Characters that recall gives at once where they fit."""
RECALLED_SHARE = 0.25
"""How much of a small window they may fill."""


def receiver_of(runtime: Runtime, call: Call, target: str, *, asks: bool) -> Receiver:
    """Return who reads the documents of a call: its ``target`` role, else the parent, or who answers its question."""
    task, above = runtime.store.read(lambda view: _sender_and_above(view, call.task_id, asks=asks))
    role, reader = target or ("" if above is None else above.role), None
    try:
        name = runtime.store.read(lambda view: _model_name(runtime, view, task, above, target))
        reader = runtime.agents.model(name, role)
    except (ToolError, ModelError):
        # Without its model, it is not known how much the receiver can read.
        pass
    return replace(receiving(runtime, role or OPERATOR, reader), role=role)


def required_target(runtime: Runtime, call: Call) -> str:
    """Return the role that a call gives a task to, or raise ToolError where there is none, or it may not."""
    roles = runtime.policy.roles
    target = roles.target_of(call.tool, call.arguments)
    if target not in runtime.agents.roles:
        runtime.agents.role(target)
    refusal = roles.may_delegate(call.role, target)
    if refusal is not None:
        raise ToolError(Code.NOT_ALLOWED, refusal)
    return target


def _sender_and_above(view: View, task_id: str, *, asks: bool) -> tuple[Task | None, Task | None]:
    """Return the task of an agent, and the agent that gets what it sends up; None for each where it is a person."""
    task = find_task(view, task_id)
    if task is None or task.is_desk:
        return None, None
    if asks:
        return task, master_of(view, task)
    above = find_task(view, task.parent_id) if task.parent_id else None
    return task, None if above is None or above.is_desk else above


def _model_name(runtime: Runtime, view: View, task: Task | None, above: Task | None, target: str) -> str:
    if target:
        chosen = {} if task is None else opening(view, task).get("chosen", {})
        return runtime.agents.model_name(target, Chosen(**chosen))
    return "" if above is None else str(opening(view, above).get("model", ""))


def receiving(runtime: Runtime, role: str, reader: Model | None) -> Receiver:
    """Return what a role can do with documents it is given, where a model reads them in it."""
    may_load = runtime.policy.roles.why_not(role, LOADS) is None and runtime.registry.get(LOADS) is not None
    return Receiver(runtime.agents.document_tokens(reader), loads=may_load)


def recalled_at_once(runtime: Runtime, task_id: str) -> int:
    """Return how many characters of an earlier result a task is given where it does not say how many."""

    def look(view: View) -> tuple[str, str]:
        task = find_task(view, task_id)
        return ("", "") if task is None else (str(opening(view, task).get("model", "")), task.role)

    try:
        window = runtime.agents.model(*runtime.store.read(look)).context_tokens
    except (ToolError, ModelError):
        return RECALLED
    return min(RECALLED, round(window * RECALLED_SHARE) * BYTES_PER_TOKEN)
