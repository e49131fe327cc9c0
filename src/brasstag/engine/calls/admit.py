"""Admit a call: its tool is known, its arguments are valid, its role may use the tool, and no rule denies it unseen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brasstag.engine.runtime import Runtime
from brasstag.policy.roles import OPERATOR
from brasstag.toolkit.arguments.sentences import did_you_mean
from brasstag.toolkit.kinds import Action
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Failed
from brasstag.words.canonical import stored_json, type_name
from brasstag.words.errors import Code, ToolError
from brasstag.words.verdicts import Verdict

FEW, SHORT = 32, 1000
"""Arguments and characters that together stay under any limit a room may set."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call whose tool is known, whose arguments are valid and whose role may use the tool."""

    call: Call
    tool: Tool
    outside: bool = False
    """Whether it acts directly and not on a draft, so that it is not known what a run did that was cut off."""
    only_compiles: bool = False
    """Whether its code is compiled and not run."""


def admit(runtime: Runtime, call: Call) -> Admitted | Failed:
    """Resolve the tool, validate the arguments, and ask whether the role may use it."""
    tool = runtime.registry.get(call.tool)
    if tool is None:
        hint = "`brasstag tools` lists them all" if call.role == OPERATOR else ""
        return Failed(Code.UNKNOWN_TOOL, _unknown_tool(runtime, call), hint=hint)
    try:
        arguments = tool.validate(_with_project_defaults(runtime, tool, call.arguments))
    except ToolError as error:
        return Failed.by(error)
    except BaseException as error:  # noqa: BLE001 - a caller's own type may raise anything, and this thread is ours
        return Failed(
            Code.INVALID_ARGUMENTS,
            f"the arguments cannot be read: reading them raises {type_name(error)}. Send plain JSON values",
        )
    if _outweighs(arguments, runtime.argument_bytes):
        return Failed(
            Code.INVALID_ARGUMENTS,
            f"the arguments weigh more than {runtime.argument_bytes} bytes, the limit of this room; write in smaller parts",
        )
    call = call.as_taken(tool.name, arguments)
    refusal = runtime.policy.roles.why_not(call.role, tool.name)
    if refusal is not None:
        return Failed(Code.NOT_ALLOWED, refusal)
    if tool.config.behaviour.action is Action.ENTER:
        return Failed(
            Code.NOT_SUPPORTED,
            f"{call.tool} is what a person begins a run with, and is not called",
            hint="`brasstag run` and Room.start begin one",
        )
    return Admitted(call, tool)


def admit_unless_denied(runtime: Runtime, call: Call) -> Admitted | Failed:
    """Admit a call, unless a rule denies it by its arguments alone: then no preview of it is made."""
    admitted = admit(runtime, call)
    if isinstance(admitted, Failed):
        return admitted
    verdict = runtime.policy.rules.denies_unseen(admitted.call)
    return admitted if verdict is None else blocked(verdict)


def blocked(verdict: Verdict) -> Failed:
    """Say that a rule denies a call."""
    return Failed(Code.BLOCKED_BY_RULE, verdict.because, {"rule": verdict.rule})


def _with_project_defaults(runtime: Runtime, tool: Tool, arguments: Any) -> Any:
    chosen = runtime.tool_settings.get(tool.name)
    if chosen is None or not isinstance(arguments, Mapping):
        return arguments
    given = {tool.config.argument_names.get(name, name) for name in arguments}
    return {name: value for name, value in chosen.defaults.items() if name not in given} | dict(arguments)


def _outweighs(arguments: Mapping[str, Any], most: int) -> bool:
    # To measure, all arguments have to be written out; a few short texts and numbers are far below the limit.
    if len(arguments) <= FEW and all(map(_is_short, arguments.values())):
        return False
    return len(stored_json(arguments)) > most


def _is_short(value: Any) -> bool:
    return len(value) < SHORT if isinstance(value, str) else not isinstance(value, list | dict)


def _unknown_tool(runtime: Runtime, call: Call) -> str:
    if call.role == OPERATOR:
        close = runtime.registry.closest(call.tool)
        return f"there is no tool {call.tool!r}" + (f"; did you mean {close}?" if close else "")
    # An agent has no command line; only the list of tools it may use helps it.
    usable = sorted(
        tool.name
        for tool in runtime.registry.list()
        if runtime.policy.roles.why_not(call.role, tool.name) is None
    )
    close = did_you_mean(call.tool, usable)
    meant = f"; did you mean {close}?" if close else "."
    return f"there is no tool {call.tool!r}{meant} You may use {', '.join(usable)}"
