"""Close tasks: how a task ends, and which tasks are told of its end."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brasstag.store.database.base import View
from brasstag.store.tasks.rows import Status, Task
from brasstag.store.tasks.types import Ending, Message
from brasstag.store.tasks.writer import Payload
from brasstag.store.timeline.timeline import first_entry
from brasstag.words.calls import Failed, as_stored
from brasstag.words.documents import Carried
from brasstag.words.events import EntryKind


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
    return dict(as_stored(failed)["result"])


def _messages(
    view: View, task: Task, status: Status, result: Any, documents: list[Payload], by: str
) -> Iterator[Message]:
    done = status == "done"
    entry = first_entry(view, task.id)
    # What a person removed is not passed on. The row names the task that waits: it is still told of the end.
    first = (entry and entry.payload) or {}
    waits = {"task": task.parent_id, "call": task.parent_call} if not first else first.get("parent")
    if not waits or not waits["task"]:
        return
    is_question = first.get("type") == "ask_master" if first else task.kind == "question"
    about: Payload = {
        "tool": first.get("tool", ""),
        "result": result if done else _blamed(task, result),
        "child": task.id,
        "from": task.role,
        "outcome": "done" if done else "failed",
        "carried": documents,
        "meta": {},
    }
    if not is_question:
        told = about | {"type": "agent_as_tool", "said": f"← result from {task.role}"}
        yield Message(waits["task"], EntryKind.RETURNED, waits["call"], told)
        return
    who = by or task.role
    answered = about | {"type": "ask_master", "said": f"← answer from {who}", "by": by}
    if "doubt" in first:
        answered["doubt"] = True
    yield Message(waits["task"], EntryKind.ANSWERED, waits["call"], answered)
    if done and "context" in first:
        consulted = {
            "type": "ask_master",
            "from": first["parent"]["role"],
            "task": waits["task"],
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
