"""Performing the kinds that pass work along the graph: give a task to an agent, ask whoever stands above, hand off."""

from dataclasses import replace

from brasstag.engine import payloads
from brasstag.engine.looking import Looked
from brasstag.engine.nodes import Asked, child_task, ended, question_task
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.policy.grants import Grant
from brasstag.settings.crew import PERSON
from brasstag.store.graph_words import NewTask
from brasstag.store.tasks import find_task
from brasstag.words.calls import Done, Failed, Outcome, Waiting
from brasstag.words.errors import ToolError
from brasstag.words.events import EntryKind


def delegate(shop: Shop, grant: Grant, looked: Looked, _watch: Watch) -> Outcome:
    """Open a task for another agent; the call is over when that task is."""
    call, arguments = grant.call, grant.call.arguments
    role = shop.roles.target_of(call.tool, arguments)
    request = arguments.get("request") or arguments.get("task_description") or ""
    if arguments.get("target_file"):
        request = f"{request}\n\n[The file to work on: {arguments['target_file']}]"
    asked = Asked(str(request), role, f"agent:{call.role}", looked.carried)
    try:
        child = shop.books.read(lambda view: child_task(shop, view, call, asked))
        said = f"→ delegated to {role} ({child.id})"
        return _open(shop, grant, looked, child, EntryKind.DELEGATED, said)
    except ToolError as error:
        return _refused(shop, grant, looked, error)


def ask_master(shop: Shop, grant: Grant, looked: Looked, _watch: Watch) -> Outcome:
    """Ask the agent above, or a person; the call is over when the answer is there."""
    question = str(grant.call.arguments.get("question", ""))
    try:
        node = shop.books.read(lambda view: question_task(shop, view, grant.call, question, looked.carried))
    except ToolError as error:
        return _refused(shop, grant, looked, error)
    whom = "a person" if node.role == PERSON else node.role
    outcome = _open(shop, grant, looked, node, EntryKind.QUESTIONED, f"→ asked {whom} ({node.id})")
    if node.role == PERSON:
        shop.audience.questioned(node.id, grant.call, question)
    return outcome


def hand_off(shop: Shop, grant: Grant, looked: Looked, _watch: Watch) -> Outcome:
    """End the task with a result; whoever opened it is told in the same commit."""
    call = grant.call
    assert isinstance(looked.ending, Done)  # noqa: S101 - one that would fail is not performed
    payload = _about(grant, looked) | payloads.closed(looked.ending)
    task = shop.books.read(lambda view: find_task(view, call.task_id))
    if task is None or task.kind == "desk":
        tag = shop.books.record(call, EntryKind.CALLED, payload, grant.approval_id)
        end = {
            "type": looked.admitted.tool.config.type.value,
            "tool": call.tool,
            "input": dict(call.arguments),
        }
        shop.books.close_task(call.task_id, "done", end, withdraw="handoff")
        return replace(looked.ending, tag=tag)
    result = call.arguments.get("result")
    ending = shop.books.read(lambda view: ended(view, task, "done", result, looked.carried))
    ending = replace(ending, payload=ending.payload | {"type": "handoff", "tool": call.tool})
    tag = shop.books.graph.finish_call(call, payload, ending, grant.approval_id)
    shop.at("finished")
    return replace(looked.ending, tag=tag)


def _open(shop: Shop, grant: Grant, looked: Looked, node: NewTask, kind: EntryKind, said: str) -> Outcome:
    payload = _about(grant, looked) | {"result": said, "child": node.id, "to": node.role}
    tag = shop.books.graph.open_child(grant.call, kind, payload, node, grant.approval_id)
    shop.at("opened")
    return Waiting("", said, tag, node.id)


def _refused(shop: Shop, grant: Grant, looked: Looked, error: ToolError) -> Outcome:
    failed = Failed.by(error)
    payload = _about(grant, looked) | payloads.closed(failed)
    return replace(failed, tag=shop.books.record(grant.call, EntryKind.CALLED, payload, grant.approval_id))


def _about(grant: Grant, looked: Looked) -> payloads.Payload:
    tool = looked.admitted.tool
    about = payloads.proposed(grant.call, tool) | payloads.judged(grant.preview, grant.verdict, tool)
    return about | ({"approval": grant.approval_id} if grant.approval_id else {})
