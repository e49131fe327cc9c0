"""What a tool itself says of a call, for whoever judges it."""

from brasstag.policy.profiles import ToolFacts
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call


def tool_facts(tool: Tool, call: Call) -> ToolFacts:
    """Return what the tool itself says about approval."""
    wanted, error = None, ""
    if callable(tool.requires_approval):
        try:
            wanted = bool(tool.requires_approval(dict(call.arguments)))
        except Exception as caught:  # noqa: BLE001 - an error in a rule means ask
            error = f"{type(caught).__name__}: {caught}"
    else:
        wanted = tool.requires_approval
    return ToolFacts(
        tool=tool.config.tool_id,
        approval=tool.config.approval,
        requires_approval=wanted,
        error=error,
        effects=tool.config.effects,
    )
