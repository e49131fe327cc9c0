"""Nodes of the graph: what a new task is told, and what others are told when it ends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brasstag.engine import payloads
from brasstag.engine.agents import Chosen
from brasstag.engine.prompting import system_prompt
from brasstag.engine.shop import Shop
from brasstag.settings.crew import PERSON
from brasstag.store.database import View
from brasstag.store.graph_words import Ending, Message, NewTask
from brasstag.store.memories import memories_of
from brasstag.store.tasks import Status, Task, find_task
from brasstag.store.timeline import first_entry
from brasstag.words.budgets import NO_LIMITS, Budget, Limits
from brasstag.words.calls import Call, Failed
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import new_id

Payload = dict[str, Any]

TITLE_LENGTH = 80
"""How much of a request names its task in lists."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a task is asked to do, by whom, with which documents."""

    request: str
    role: str
    actor: str
    carried: tuple[Carried, ...] = ()
    chosen: Chosen = field(default_factory=Chosen)


def root_task(shop: Shop, view: View, asked: Asked, budget: Budget = NO_LIMITS, queue: str = "") -> NewTask:
    """Return the task a person begins a run with."""
    agents = shop.agents
    limits = Limits(agents.role(asked.role).limits, agents.crew.limits).extended(budget)
    task_id = new_id("task")
    first = _first_entry("root", "run", asked) | {"parent": None, "tree": task_id, "depth": 0}
    first |= _agent_facts(shop, view, asked, task_id, None, answering=False)
    first["budget"], first["run_budget"] = limits.own.as_json(), limits.run.as_json()
    return NewTask(
        id=task_id,
        kind="agent",
        actor=asked.actor,
        role=asked.role,
        title=_title(asked.request),
        payload=first,
        tree=task_id,
        queue=queue,
        budget=limits.as_text(),
    )


def child_task(shop: Shop, view: View, call: Call, asked: Asked) -> NewTask:
    """Return the task a call opens for another agent; raise ToolError where the run may not grow further."""
    parent = find_task(view, call.task_id)
    depth = 0 if parent is None or parent.kind == "desk" else parent.depth + 1
    _require_room_to_grow(view, parent, depth)
    opened = opening(view, parent) if parent is not None and depth else {}
    limits = Limits(shop.agents.role(asked.role).limits, NO_LIMITS if depth else shop.agents.crew.limits)
    task_id = new_id("task")
    tree = parent.tree if parent is not None and depth else task_id
    asked = Asked(asked.request, asked.role, asked.actor, asked.carried, _chosen(opened))
    first = _first_entry("agent_as_tool", call.tool, asked) | {"tree": tree, "depth": depth}
    first["parent"] = {"task": call.task_id, "call": call.id, "role": call.role}
    first |= _agent_facts(shop, view, asked, tree, call.role if depth else None, answering=False)
    first["budget"], first["run_budget"] = limits.own.as_json(), limits.run.as_json()
    return NewTask(
        id=task_id,
        kind="agent",
        actor=asked.actor,
        role=asked.role,
        title=_title(asked.request),
        payload=first,
        parent_id=call.task_id,
        parent_call=call.id,
        tree=tree,
        queue=parent.queue if parent is not None and depth else shop.boot.id,
        most_siblings=Limits.from_text(parent.budget).own.max_children
        if parent is not None and depth
        else None,
        depth=depth,
        budget=limits.as_text(),
    )


def question_task(
    shop: Shop,
    view: View,
    call: Call,
    question: str,
    carried: tuple[Carried, ...] = (),
    *,
    to_person: bool = False,
) -> NewTask:
    """Return the node that answers a call's question: the agent above the asker, or a person where none is."""
    asker = find_task(view, call.task_id)
    master = None if asker is None or to_person else master_of(view, asker)
    role = PERSON if master is None else master.role
    tree = call.task_id if asker is None else asker.tree
    depth = 0 if asker is None else asker.depth + 1
    chosen = Chosen() if asker is None else _chosen(opening(view, asker))
    asked = Asked(question, role, f"agent:{call.role}", carried, chosen)
    first = _first_entry("ask_master", call.tool, asked) | {"tree": tree, "depth": depth}
    first["parent"] = {"task": call.task_id, "call": call.id, "role": call.role}
    limits = Limits(NO_LIMITS)
    if master is not None:
        limits = Limits(shop.agents.role(role).limits)
        first |= _agent_facts(shop, view, asked, tree, None, answering=True)
        first["budget"] = limits.own.as_json()
        first["context"] = {"task": master.id, "entries": master.next_seq}
    return NewTask(
        id=new_id("task"),
        kind="question",
        actor=asked.actor,
        role=role,
        title=_title(question),
        payload=first,
        parent_id=call.task_id,
        parent_call=call.id,
        tree=tree,
        queue="" if asker is None else asker.queue,
        depth=depth,
        budget=limits.as_text(),
    )


def master_of(view: View, task: Task) -> Task | None:
    """Return the agent a task's questions go to, or None where a person stands above it.

    A node that answers in an agent's place asks whoever stands above that agent.
    """
    if task.kind == "question":
        answering_for = find_task(view, str(opening(view, task).get("context", {}).get("task", "")))
        return None if answering_for is None else master_of(view, answering_for)
    parent = find_task(view, task.parent_id) if task.parent_id else None
    return None if parent is None or parent.kind == "desk" else parent


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


def ended(
    view: View, task: Task, status: Status, result: Any, carried: Sequence[Carried] = (), by: str = ""
) -> Ending:
    """Return how a task ends, with what its parent, and an agent it answered for, are told."""
    documents = [document.as_json() for document in carried]
    payload: Payload = {"type": "root", "tool": "end", "input": {}, "result": result}
    payload |= {"documents": [document.path for document in carried], "carried": documents, "by": by}
    return Ending(status, payload, messages=tuple(_messages(view, task, status, result, documents, by)))


def failure(failed: Failed) -> Payload:
    """Return the result of a task that failed."""
    return dict(payloads.closed(failed)["result"])


def _messages(
    view: View, task: Task, status: Status, result: Any, documents: list[Payload], by: str
) -> Iterator[Message]:
    if not task.parent_id:
        return
    done = status == "done"
    entry = first_entry(view, task.id)
    # What a person removed of it is not told on; whoever waits hears of the end all the same.
    first = (entry and entry.payload) or {}
    about: Payload = {
        "tool": first.get("tool", ""),
        "result": result if done else _blamed(task, result),
        "child": task.id,
        "from": task.role,
        "outcome": "done" if done else "failed",
        "carried": documents,
        "meta": {},
    }
    if task.kind != "question":
        told = about | {"type": "agent_as_tool", "said": f"← result from {task.role}"}
        yield Message(task.parent_id, EntryKind.RETURNED, task.parent_call, told)
        return
    who = by or task.role
    answered = about | {"type": "ask_master", "said": f"← answer from {who}", "by": by}
    yield Message(task.parent_id, EntryKind.ANSWERED, task.parent_call, answered)
    if done and "context" in first:
        consulted = {
            "type": "ask_master",
            "from": first["parent"]["role"],
            "task": task.parent_id,
            "node": task.id,
            "question": first["input"]["request"],
            "answer": result,
        }
        yield Message(first["context"]["task"], EntryKind.CONSULTED, "", consulted)


def _blamed(task: Task, result: Any) -> Any:
    """A parent is told which of its tasks failed."""
    if not isinstance(result, Mapping) or "error" not in result:
        return result
    error = dict(result["error"])
    error["message"] = f"{task.role} ended without a result: {error.get('message', '')}"
    error["details"] = {**error.get("details", {}), "task": task.id}
    return {"error": error}


def _first_entry(kind: str, tool: str, asked: Asked) -> Payload:
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
    }


def _agent_facts(
    shop: Shop, view: View, asked: Asked, tree: str, parent_role: str | None, *, answering: bool
) -> Payload:
    role = shop.agents.role(asked.role)
    delegates = {name: shop.agents.role(name).description for name in role.delegates_to}
    key = shop.books.sealer.key
    remembered = [memory.content for memory in memories_of(view, asked.role, tree, key)]
    return {
        "system": system_prompt(
            asked.role,
            role.description,
            role.instructions,
            {} if answering else delegates,
            remembered,
            parent_role,
            answering=answering,
        ),
        "model": shop.agents.model_name(asked.role, asked.chosen),
    }


def _require_room_to_grow(view: View, parent: Task | None, depth: int) -> None:
    if parent is None or not depth:
        return
    own = Limits.from_text(parent.budget).own
    root = find_task(view, parent.tree)
    deepest = (Limits.from_text(root.budget).run if root else NO_LIMITS).max_depth or own.max_depth
    if deepest is not None and depth >= deepest:
        raise ToolError(
            Code.BUDGET_EXCEEDED,
            f"this would be task {depth + 1} above one another, of {deepest} allowed; do it yourself, or hand off "
            "what there is",
            {"limit": "max_depth"},
        )


def _chosen(opened: Payload) -> Chosen:
    return Chosen(**opened.get("chosen", {}))


def _title(request: str) -> str:
    words = " ".join(request.replace("\0", " ").split())
    return words if len(words) <= TITLE_LENGTH else f"{words[: TITLE_LENGTH - 1]}…"
