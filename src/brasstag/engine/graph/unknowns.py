"""A call whose outcome is unknown is put to a person, and its task goes on with the person's answer."""

from brasstag.engine.graph.open import question_task
from brasstag.engine.runtime import Runtime
from brasstag.store.tasks.writer import Payload
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.calls import Call, Waiting
from brasstag.words.canonical import stored_json
from brasstag.words.events import EntryKind

LONGEST_ARGUMENTS = 1000
"""How much of a call's arguments a question quotes; the timeline has them whole."""


def ask_about(runtime: Runtime, call: Call) -> Waiting:
    """Ask a person what came of a call; their answer ends it."""
    question = _question(runtime, call)
    node = runtime.store.read(lambda view: question_task(runtime, view, call, question, doubt=True))
    said = f"→ asked a person ({node.id})"
    payload: Payload = {
        "type": "ask_master",
        "tool": call.tool,
        "input": {"question": question},
        "actor": call.actor,
        "role": call.role,
        "result": said,
        "child": node.id,
        "to": node.role,
        "doubt": True,
    }
    tag = runtime.store.graph.open_child(call, EntryKind.QUESTIONED, payload, node, None)
    runtime.listeners.questioned(node.id, call, question)
    return Waiting("", said, tag, node.id)


def _question(runtime: Runtime, call: Call) -> str:
    given = stored_json(call.arguments)
    if len(given) > LONGEST_ARGUMENTS:
        given = f"{given[:LONGEST_ARGUMENTS]}…"
    return (
        f"Did {call.tool} happen? {_trouble(runtime, call).rstrip('.')}.\nIt was called with {given}\n"
        f"Find out, and say what came of it: {call.role} goes on with your word."
    )


def _trouble(runtime: Runtime, call: Call) -> str:
    """Return what the timeline says of why the outcome is not known."""
    for entry in runtime.store.read(lambda view: list(read_entries(view, call.task_id, call.id))):
        if entry.payload is not None and entry.payload.get("outcome") == "unknown":
            return str(entry.payload["result"]["error"]["message"])
    return "A person removed the reason from the timeline"
