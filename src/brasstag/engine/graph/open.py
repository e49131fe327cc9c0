"""Open tasks: what a new task is told, and how far a run may grow."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from brasstag.catalog.injection import Injection
from brasstag.engine.agents import Chosen
from brasstag.engine.runtime import Runtime
from brasstag.engine.transcript.system_prompt import system_prompt
from brasstag.settings.crew import PERSON, RoleSettings
from brasstag.store.database.base import View
from brasstag.store.tasks.memories import memories_of
from brasstag.store.tasks.origins import title_of
from brasstag.store.tasks.rows import Task, find_task
from brasstag.store.tasks.types import NewTask
from brasstag.store.timeline.timeline import first_entry, proven_entries
from brasstag.words.budgets import NO_LIMITS, Budget, TaskLimits
from brasstag.words.calls import Call
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import new_id
from brasstag.words.review.prompt_tools import Scope
from brasstag.words.turns import ModelError

Payload = dict[str, Any]


SMALL_CONTEXT_SHARE = 0.1
"""How much of a small context window the catalog of prompt tools may fill."""


@dataclass(frozen=True, slots=True)
class Skips:
    """What is left out of the context of a run's tasks; rules, evidence and recording never are."""

    tool_catalog: bool = False
    tools: bool = False
    """The callable tools, and the catalog with them."""

    def as_json(self) -> dict[str, bool]:
        """Return ``{tool_catalog, tools}``."""
        return {"tool_catalog": self.tool_catalog or self.tools, "tools": self.tools}


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What a task is asked to do, by whom, with which documents."""

    request: str
    role: str
    actor: str
    carried: tuple[Carried, ...] = ()
    chosen: Chosen = field(default_factory=Chosen)
    skips: Skips = field(default_factory=Skips)
    prompt_tool: Mapping[str, str] = field(default_factory=dict)
    """The prompt tool it was started with: ``{id, hash, source}``."""
    scope: Scope = "project"
    """How much it is about; prompt tools for that scope are shown first."""


def root_task(
    runtime: Runtime, view: View, asked: TaskRequest, budget: Budget = NO_LIMITS, queue: str = ""
) -> NewTask:
    """Return the task a person begins a run with."""
    agents = runtime.agents
    limits = TaskLimits(agents.role(asked.role).limits, agents.crew.limits).extended(budget)
    task_id = new_id("task")
    first = _first_entry("root", "run", asked) | {"parent": None, "tree": task_id, "depth": 0}
    first |= _agent_facts(runtime, view, asked, task_id, None, answering=False)
    first |= _limit_facts(limits)
    return NewTask(
        id=task_id,
        kind="agent",
        actor=asked.actor,
        role=asked.role,
        title=title_of(asked.request),
        payload=first,
        tree=task_id,
        queue=queue,
        budget=limits.as_text(),
    )


def child_task(runtime: Runtime, view: View, call: Call, asked: TaskRequest) -> NewTask:
    """Return the task a call opens for another agent; raise ToolError where the run may not grow further."""
    above = _agent_above(runtime, view, call.task_id)
    task_id = new_id("task")
    tree, depth, queue, most_siblings = task_id, 0, runtime.boot.id, None
    limits = TaskLimits(runtime.agents.role(asked.role).limits, runtime.agents.crew.limits)
    if above is not None:
        tree, depth, queue = above.opened["tree"], above.opened["depth"] + 1, above.queue
        limits = limits_below(above.limits, above.opened["depth"], limits.own)
        most_siblings = most_children(above.limits)
        asked = replace(asked, chosen=_chosen(above.opened), skips=_skips(above.opened))
    first = _first_entry("agent_as_tool", call.tool, asked) | {"tree": tree, "depth": depth}
    first["parent"] = {"task": call.task_id, "call": call.id, "role": call.role}
    first |= _agent_facts(runtime, view, asked, tree, call.role if above else None, answering=False)
    first |= _limit_facts(limits)
    queue = runtime.agents.queue(first["model"], queue, runtime.boot.id)
    return NewTask(
        id=task_id,
        kind="agent",
        actor=asked.actor,
        role=asked.role,
        title=title_of(asked.request),
        payload=first,
        parent_id=call.task_id,
        parent_call=call.id,
        tree=tree,
        queue=queue,
        most_siblings=most_siblings,
        depth=depth,
        budget=limits.as_text(),
    )


def question_task(
    runtime: Runtime,
    view: View,
    call: Call,
    question: str,
    carried: tuple[Carried, ...] = (),
    *,
    doubt: bool = False,
) -> NewTask:
    """Return the node that answers a call's question: the agent above the asker, or a person where none is.

    Only a person settles a ``doubt``: what came of the call itself.
    """
    asker = find_task(view, call.task_id)
    master = None if asker is None or doubt else master_of(view, asker)
    if master is not None and master.role in runtime.agents.services:
        # Code answers no questions, so a person does.
        master = None
    role = PERSON if master is None else master.role
    tree = call.task_id if asker is None else asker.tree
    depth = 0 if asker is None else asker.depth + 1
    chosen = Chosen() if asker is None else _chosen(opening(view, asker))
    asked = TaskRequest(question, role, f"agent:{call.role}", carried, chosen)
    first = _first_entry("ask_master", call.tool, asked) | {"tree": tree, "depth": depth}
    first["parent"] = {"task": call.task_id, "call": call.id, "role": call.role}
    if doubt:
        first["doubt"] = True
    limits, queue = TaskLimits(), "" if asker is None else asker.queue
    if master is not None:
        entries = proven_entries(view, call.task_id, runtime.store.sealer.key)
        limits = TaskLimits(runtime.agents.role(role).limits, TaskLimits.told_by(entries).run)
        first |= _agent_facts(runtime, view, asked, tree, None, answering=True)
        first |= _limit_facts(limits)
        first["context"] = {"task": master.id, "entries": master.next_seq}
        queue = runtime.agents.queue(first["model"], queue, runtime.boot.id)
    return NewTask(
        id=new_id("task"),
        kind="question",
        actor=asked.actor,
        role=role,
        title=title_of(question),
        payload=first,
        parent_id=call.task_id,
        parent_call=call.id,
        tree=tree,
        queue=queue,
        depth=depth,
        budget=limits.as_text(),
    )


def master_of(view: View, task: Task) -> Task | None:
    """Return the agent a task's questions go to, or None where a person stands above it.

    A node that answers in an agent's place asks the agent or person above that agent.
    """
    if task.kind == "question":
        answering_for = find_task(view, str(opening(view, task).get("context", {}).get("task", "")))
        return None if answering_for is None else master_of(view, answering_for)
    parent = find_task(view, task.parent_id) if task.parent_id else None
    return None if parent is None or parent.is_desk else parent


def opening(view: View, task: Task) -> Payload:
    """Return what a task was opened with; raise ToolError where a person removed that."""
    return opened_with(task.id, first_entry(view, task.id))


def opened_with(task_id: str, first: Entry | None) -> Payload:
    """Return what the first entry of a task says; raise ToolError where a person removed that."""
    if first is None or first.kind is not EntryKind.OPENED or first.payload is None:
        raise ToolError(
            Code.CANCELLED, f"what {task_id} was opened with was removed by a person, so it cannot go on"
        )
    return first.payload


def _first_entry(kind: str, tool: str, asked: TaskRequest) -> Payload:
    documents = [document.path for document in asked.carried]
    return {
        "type": kind,
        "tool": tool,
        "input": {
            "actor": asked.actor,
            "role": asked.role,
            "request": asked.request,
            "documents": documents,
        },
        "result": None,
        "purpose": "",
        "carried": [document.as_json() for document in asked.carried],
        "chosen": asked.chosen.as_json(),
        "run_skips": asked.skips.as_json(),
    } | ({"prompt_tool": dict(asked.prompt_tool)} if asked.prompt_tool else {})


def _agent_facts(
    runtime: Runtime, view: View, asked: TaskRequest, tree: str, parent_role: str | None, *, answering: bool
) -> Payload:
    role = runtime.agents.role(asked.role)
    delegates = {name: runtime.agents.role(name).description for name in role.delegates_to}
    # Whether it has to give evidence is fixed when it opens: no setting of a run, a model or a prompt tool is asked.
    tries = runtime.agents.crew.evidence_tries if role.evidence and not answering else 0
    key = runtime.store.sealer.key
    remembered = [memory.content for memory in memories_of(view, asked.role, tree, key)]
    model = runtime.agents.model_name(asked.role, asked.chosen)
    skips = Skips(asked.skips.tool_catalog or role.skip_tool_catalog, asked.skips.tools or role.skip_tools)
    injected = Injection() if answering else _injection(runtime, role, asked, skips, model)
    return {
        "system": system_prompt(
            asked.role,
            role.description,
            role.instructions,
            {} if answering else delegates,
            remembered,
            parent_role,
            runtime.fence,
            answering=answering,
            catalog=injected.text,
            has_tools=not skips.tools,
            evidence_tries=tries,
        ),
        "model": model,
        "catalog": injected.as_json(),
        "skips": skips.as_json(),
        **({"evidence": {"tries": tries}} if tries else {}),
    }


def _injection(
    runtime: Runtime, role: RoleSettings, asked: TaskRequest, skips: Skips, model: str
) -> Injection:
    """Return what a task is told of the prompt tools; a small context gets fewer of them whole."""
    if runtime.catalog is None or skips.tool_catalog or skips.tools:
        return Injection()
    tokens = runtime.catalog_tokens
    with suppress(ModelError):
        fits = runtime.agents.model(model, asked.role).context_tokens
        tokens = min(tokens, round(fits * SMALL_CONTEXT_SHARE))
    scope = "file" if asked.carried and asked.scope == "project" else asked.scope
    return runtime.catalog.inject(role.archetype, scope, tokens)


def _skips(opened: Payload) -> Skips:
    return Skips(**opened.get("run_skips", {}))


@dataclass(frozen=True, slots=True)
class _Above:
    """The task of an agent that another is opened below, as its timeline tells."""

    opened: Payload
    limits: TaskLimits
    queue: str


def _agent_above(runtime: Runtime, view: View, task_id: str) -> _Above | None:
    """Return the task a new one is opened below, or None where a person stands above it, at a desk."""
    task = find_task(view, task_id)
    if task is None or task.is_desk:
        return None
    entries = proven_entries(view, task_id, runtime.store.sealer.key)
    return _Above(opened_with(task_id, entries[0]), TaskLimits.told_by(entries), task.queue)


def _limit_facts(limits: TaskLimits) -> Payload:
    return {"budget": limits.own.as_json(), "run_budget": limits.run.as_json()}


def _chosen(opened: Payload) -> Chosen:
    return Chosen(**opened.get("chosen", {}))


def most_children(limits: TaskLimits) -> int | None:
    """Return how many tasks a task may open; None is no limit."""
    return _least(limits.own.max_children, limits.run.max_children)


def limits_below(above: TaskLimits, depth: int, role: Budget) -> TaskLimits:
    """Return the limits of a task of a role, opened by a task so deep; raise ToolError where none may stand there.

    The run's depth counts from its root, a task's own from itself; what is left of that holds for all below it.
    """
    own = above.own.max_depth
    deepest = _least(above.run.max_depth, None if own is None else depth + own)
    if deepest is not None and depth + 1 >= deepest:
        raise ToolError(
            Code.BUDGET_EXCEEDED,
            f"this would be task {depth + 2} above one another, of {deepest} allowed; do it yourself, or hand off "
            "what there is",
            {"limit": "max_depth"},
        )
    return TaskLimits(
        replace(role, max_depth=_least(role.max_depth, None if own is None else own - 1)), above.run
    )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)
