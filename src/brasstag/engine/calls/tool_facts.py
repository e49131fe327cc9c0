"""What a tool says of a call: facts for the preview, the verdict and a retry after a crash."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brasstag.policy.profiles import CODE_EFFECTS, ToolFacts
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call
from brasstag.words.previews import Preview


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


def foretold(tool: Tool, arguments: Mapping[str, Any]) -> Preview:
    """Return what a tool that is not run to find out says a call would do; raises whatever its author's code raises.

    A tool without a preview counts as acting outside, unseen. Code runs something, and reaches the web only if it
    says so.
    """
    runs_code = tool.config.effects == CODE_EFFECTS
    said = Preview(external=not runs_code) if tool.preview is None else tool.preview(arguments)
    return replace(said, runs=(tool.name,)) if runs_code and not said.runs else said


def only_drafts(tool: Tool, foreseen: Preview) -> bool:
    """Say whether a call runs only on a draft: what it changes is known, and judged, once it has run.

    Code that reaches the web acts there, so it is no draft; what is saved comes by a way that is safe to repeat.
    """
    if tool.config.effects == CODE_EFFECTS:
        return not foreseen.external
    return bool(foreseen.saves)


def may_run_again(tool: Tool) -> bool:
    """Say whether a call cut off while it acted may simply run again; for code, ``replay`` is about drafts only."""
    return tool.config.effects != CODE_EFFECTS and tool.config.replay == "safe"
