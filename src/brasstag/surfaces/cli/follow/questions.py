"""Questions of agents to people: shown in full, answered at the terminal."""

from typing import TYPE_CHECKING

from brasstag.surfaces.cli.session.people import require_approver
from brasstag.surfaces.cli.terminal.console import quote, say
from brasstag.surfaces.cli.terminal.prompts import ask_meanwhile
from brasstag.words.errors import ToolError, with_hint

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.store import Task


async def answer_here(room: "Room", question: "Task") -> bool:
    """Let the person at the terminal answer; False when they would rather do it later."""
    entries = await room.timeline(question.id)
    payload = entries[0].payload or {}
    say(f"{question.id} · a question", "bold")
    quote(f"{payload.get('parent', {}).get('role', 'an agent')} asks", "bold yellow", indent="")
    given = payload.get("input", {})
    for line in str(given.get("request", "(it was removed)")).split("\n"):
        quote(line, indent="  │ ")
    for document in given.get("documents", ()):
        quote(f"with {document}", "dim", indent="  ")
    answer = await ask_meanwhile("your answer, or Enter for later")
    if not answer:
        return False
    try:
        await room.answer(question.id, answer, require_approver())
    except ToolError as error:
        say(f"{error.code.value}: {with_hint(error.message, error.hint)}", "red")
        return False
    return True
