"""Usage of a turn, estimated where a model does not report it."""

from brasstag.words.canonical import stored_json
from brasstag.words.messages import Assistant, ToolUse
from brasstag.words.tokens import estimated_tokens, message_tokens
from brasstag.words.turns import TurnRequest, Usage


def estimated(request: TurnRequest, text: str, calls: tuple[ToolUse, ...], cost: int | None = None) -> Usage:
    """Return about what a turn took; the same turn always takes the same."""
    offered = (stored_json({"description": o.description, "schema": dict(o.schema)}) for o in request.offers)
    read = sum(map(message_tokens, request.messages)) + sum(map(estimated_tokens, offered))
    return Usage(read, message_tokens(Assistant(text, calls)), cost=cost)
