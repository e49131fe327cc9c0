"""Perform the kinds that pass work along the graph: delegate, ask, hand off."""

from dataclasses import replace

from brasstag.engine.calls import record
from brasstag.engine.calls.permissions import uses_of
from brasstag.engine.calls.types import LOGGED, Passing
from brasstag.engine.graph.close import ended
from brasstag.engine.graph.open import TaskRequest, child_task, question_task
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.settings.crew import PERSON
from brasstag.store.tasks.rows import find_task
from brasstag.store.tasks.types import NewTask
from brasstag.words.calls import Failed, Outcome, Waiting, as_stored
from brasstag.words.errors import ToolError
from brasstag.words.events import EntryKind


def delegate(runtime: Runtime, grant: Grant, phase: Passing) -> Outcome:
    """Open a task for another agent; the call is over when that task is."""
    call, arguments = grant.call, grant.call.arguments
    role = runtime.policy.roles.target_of(call.tool, arguments)
    request = arguments.get("request") or arguments.get("task_description") or ""
    told = {"target": role, "task": request, "file": arguments.get("target_file")}
    if arguments.get("target_file"):
        request = f"{request}\n\n[The file to work on: {arguments['target_file']}]"
    asked = TaskRequest(str(request), role, f"agent:{call.role}", phase.carried)
    try:
        child = runtime.store.read(lambda view: child_task(runtime, view, call, asked))
        said = f"→ delegated to {role} ({child.id})"
        waiting = _open(runtime, grant, phase, child, EntryKind.DELEGATED, said)
        return replace(waiting, confirmation=told | {"task_id": child.id})
    except ToolError as error:
        return record.called(runtime, grant, phase, Failed.by(error))


def ask_master(runtime: Runtime, grant: Grant, phase: Passing) -> Outcome:
    """Ask the agent above, or a person; the call is over when the answer is there."""
    question = str(grant.call.arguments.get("question", ""))
    try:
        node = runtime.store.read(
            lambda view: question_task(runtime, view, grant.call, question, phase.carried)
        )
    except ToolError as error:
        return record.called(runtime, grant, phase, Failed.by(error))
    whom = "a person" if node.role == PERSON else node.role
    outcome = _open(runtime, grant, phase, node, EntryKind.QUESTIONED, f"→ asked {whom} ({node.id})")
    if node.role == PERSON:
        runtime.listeners.questioned(node.id, grant.call, question)
    return outcome


def hand_off(runtime: Runtime, grant: Grant, phase: Passing) -> Outcome:
    """End the task with a result; the task that opened it is told in the same commit."""
    call = grant.call
    payload = record.about(grant, phase) | as_stored(LOGGED)
    task = runtime.store.read(lambda view: find_task(view, call.task_id))
    if task is None or task.is_desk:
        done = record.called(runtime, grant, phase, LOGGED)
        end = {
            "type": phase.admitted.tool.config.type.value,
            "tool": call.tool,
            "input": dict(call.arguments),
        }
        runtime.store.close_task(call.task_id, "done", end, withdraw="handoff")
        return done
    result = call.arguments.get("result")
    ending = runtime.store.read(lambda view: ended(view, task, "done", result, phase.carried))
    ending = replace(ending, payload=ending.payload | {"type": "handoff", "tool": call.tool})
    tag = runtime.store.graph.finish_call(call, payload, ending, grant.approval_id, uses_of(runtime, grant))
    runtime.at("finished")
    return replace(LOGGED, tag=tag)


def _open(
    runtime: Runtime, grant: Grant, phase: Passing, node: NewTask, kind: EntryKind, said: str
) -> Waiting:
    payload = record.about(grant, phase) | {"result": said, "child": node.id, "to": node.role}
    uses = uses_of(runtime, grant)
    tag = runtime.store.graph.open_child(grant.call, kind, payload, node, grant.approval_id, uses)
    runtime.at("opened")
    return Waiting("", said, tag, node.id)
