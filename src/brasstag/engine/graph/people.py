"""What people do with tasks: answer a question, stop a task and all below it, resume an ended one, ask it for more.

This needs the store only, so it works when settings or tools are broken.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from brasstag.engine.graph.close import ended, failure
from brasstag.engine.transcript.state import CallState, OpenCall, TaskState
from brasstag.settings.crew import PERSON
from brasstag.store.database.base import View
from brasstag.store.store import Store
from brasstag.store.tasks.rows import Task, find_task, get_task
from brasstag.store.tasks.types import Message, Stopped
from brasstag.store.timeline.timeline import first_entry, read_entries
from brasstag.words.approvals import Approver
from brasstag.words.budgets import NO_LIMITS, Budget, TaskLimits
from brasstag.words.calls import Failed
from brasstag.words.documents import Carried
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind


def answer_question(
    store: Store, name: str, answer: str, by: Approver, carried: Sequence[Carried] = ()
) -> Task:
    """Give a person's answer to the task that asked, and wake it; a person who answers second gets a ToolError."""
    question = store.read(lambda view: get_task(view, name))
    if question.kind != "question" or question.role != PERSON:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{question.id} is no question to a person",
            hint="`brasstag tasks` marks those",
        )
    if not answer.strip() and not carried:
        raise ToolError(Code.INVALID_ARGUMENTS, "an answer needs words or documents")
    ending = store.read(lambda view: ended(view, question, "done", answer, carried, by=str(by)))
    store.graph.answer(question.id, ending)
    return question


def stop_task(store: Store, name: str, by: str) -> Stopped:
    """Cancel a task and all below it; the task that waits for it is told."""
    task = store.read(lambda view: get_task(view, name))
    if store.read(lambda view: _is_open_doubt(view, task)):
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"{task.id} asks what came of a call that may have happened; answer it, or stop {task.parent_id}, which "
            "made the call",
        )
    result = failure(Failed(Code.CANCELLED, f"stopped by {by}"))
    ending = store.read(lambda view: ended(view, task, "cancelled", result, by=by))
    payload: dict[str, Any] = dict(ending.payload) | {"tool": "stop"}
    stopped = store.graph.cancel(task.id, payload, by, ending.messages)
    left = store.read(lambda view: open_calls(view, stopped.tasks))
    stopped.acting += [call.id for call in left if call.doubtful]
    return stopped


def open_calls(view: View, tasks: Sequence[str]) -> list[OpenCall]:
    """Return the calls of tasks that had no end yet when their tasks ended."""
    found: list[OpenCall] = []
    for task in tasks:
        entries = list(read_entries(view, task))
        ends = [at for at, entry in enumerate(entries) if entry.kind is EntryKind.CLOSED]
        state = TaskState(task)
        for entry in entries[: ends[-1] if ends else None]:
            state.add(entry)
        found += state.open.values()
    return found


def _is_open_doubt(view: View, task: Task) -> bool:
    first = first_entry(view, task.id) if task.role == PERSON and not task.has_ended else None
    asker = find_task(view, task.parent_id) if first and (first.payload or {}).get("doubt") else None
    return asker is not None and not asker.has_ended


def resume_task(store: Store, name: str, by: str, budget: Budget = NO_LIMITS, note: str = "") -> Task:
    """Let a failed or cancelled run go on, with more budget where that is what it lacked."""
    task = _root(store, name)
    return _reopen(store, task, {"type": "resumed", "by": by, "budget": budget.as_json(), "note": note})


def follow_up_task(
    store: Store,
    name: str,
    by: str,
    request: str,
    budget: Budget = NO_LIMITS,
    carried: Sequence[Carried] = (),
) -> Task:
    """Ask the agent that led an ended run for more: it goes on with all it knows, and may use as much again."""
    task = _root(store, name)
    opened = store.read(lambda view: first_entry(view, task.id))
    began_with = TaskLimits.told_by([opened] if opened else [])
    used = store.spendings(task.id)
    limits = began_with.beyond(replace(used.own, children=task.children), used.run).extended(budget)
    payload = {"type": "resumed", "by": by, "limits": limits.as_json(), "note": "", "request": request}
    return _reopen(store, task, payload | {"carried": [document.as_json() for document in carried]})


def _root(store: Store, name: str) -> Task:
    """Return a task that can go on once it has ended: of an agent, and opened by no other task."""
    task = store.read(lambda view: get_task(view, name))
    if task.kind != "agent":
        raise ToolError(Code.NOT_SUPPORTED, f"{task.id} is a {task.kind}; only tasks of agents can go on")
    if task.parent_id and task.depth:
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"{task.id} was opened by {task.parent_id}, which has been told that it ended; resume the run's root, "
            f"{task.tree}, or ask for it anew",
        )
    return task


def _reopen(store: Store, task: Task, payload: dict[str, Any]) -> Task:
    limits = TaskLimits.from_text(task.budget).after(EntryKind.RESUMED, payload)
    closing = store.read(lambda view: _calls_left_behind(view, task))
    store.graph.reopen(task.id, payload, limits.as_text(), closing)
    return store.read(lambda view: get_task(view, task.id))


def _calls_left_behind(view: View, task: Task) -> list[Message]:
    """Return the ends of open calls whose tasks were stopped together with this one: the calls were not told then."""
    state = TaskState(task.id)
    for entry in read_entries(view, task.id):
        state.add(entry)
    found: list[Message] = []
    for call in state.open.values():
        child = find_task(view, call.child) if call.state is CallState.CHILD else None
        if child is not None and child.has_ended:
            result = failure(Failed(Code.CANCELLED, "it was stopped together with this task"))
            found += ended(view, child, "cancelled", result).messages[:1]
    return found
