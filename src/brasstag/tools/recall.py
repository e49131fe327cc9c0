"""recall: a stored result that the agent was shown only in part."""

from typing import Any, Protocol

from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError


class Results(Protocol):
    """What recall needs to know of the past; the engine hands it in."""

    def characters_at_once(self) -> int:
        """Return how many characters of a result the caller can read at once."""

    def result_behind(self, tag: str, task_id: str) -> str:
        """Return the whole result that a task saw under this tag."""

    def is_untrusted(self, tag: str) -> bool:
        """Say whether it comes from an untrusted source."""


@tool(execution_type="function")
def recall(
    history: Results, task_id: str, tag: str, start: int = 0, characters: int | None = None
) -> dict[str, Any]:
    """recall"""
    whole = history.result_behind(tag, task_id)
    if start > len(whole):
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"the result has {len(whole)} characters; start at {len(whole)} at most"
        )
    end = start + (characters or history.characters_at_once())
    part = {"text": whole[start:end], "start": start, "total_characters": len(whole)}
    return part | {"untrusted": True} if history.is_untrusted(tag) else part
