"""What each step of a call writes on the timeline: type, tool, input, result, and why it went so."""

from typing import Any

from brasstag.toolkit.tool import Tool
from brasstag.words.calls import UNKNOWN_CODE, Call, Done, Failed, Settled, Unknown
from brasstag.words.canonical import stored_json, why_not_json
from brasstag.words.errors import Code
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict

Payload = dict[str, Any]

LONGEST_INPUT = 64_000
"""How much of a refused call is written down; beyond this it is quoted in part, so refusals cannot fill a disk."""
QUOTED = 2000


def proposed(call: Call, tool: Tool) -> Payload:
    """What an admitted call asks for, and who asks."""
    payload: Payload = {
        "type": tool.config.type.value,
        "tool": call.tool,
        "input": dict(call.arguments),
        "actor": call.actor,
        "role": call.role,
    }
    if call.repaired:
        payload["repaired"] = call.repaired
    return payload


def attempted(call: Call, tool: Tool | None) -> Payload:
    """What a call asked for that was not admitted: its arguments may be anything at all."""
    return {
        "type": tool.config.type.value if tool else "unknown",
        "tool": tool.name if tool else call.tool,
        "input": _writable(call.arguments),
        "actor": call.actor,
        "role": call.role,
    }


def _writable(arguments: Any) -> Any:
    """Return arguments as they can be written down: what is not JSON, or is endless, is quoted in part."""
    if why_not_json(arguments) is None and len(stored_json(arguments)) <= LONGEST_INPUT:
        return arguments
    quoted = repr(arguments)
    return {
        "unreadable": quoted[:QUOTED].encode("utf-8", "backslashreplace").decode(),
        "characters": len(quoted),
    }


def judged(preview: Preview, verdict: Verdict, tool: Tool) -> Payload:
    """What it would do, and what the rules said; enough to ask a changed policy the same question later."""
    return {
        "preview": {name: value for name, value in preview.as_json().items() if value},
        "verdict": verdict.as_json(),
        "effects": tool.config.effects,
    }


def closed(outcome: Settled) -> Payload:
    """How it ended."""
    match outcome:
        case Done():
            ending: Payload = {"outcome": "done", "result": outcome.value}
        case Failed():
            ending = {"outcome": "failed", "result": {"error": _error(outcome.code.value, outcome)}}
        case Unknown():
            ending = {"outcome": "unknown", "result": {"error": _error(UNKNOWN_CODE, outcome)}}
    return ending | {"meta": dict(outcome.meta)}


def _error(code: str, outcome: Failed | Unknown) -> Payload:
    error: Payload = {"code": code, "message": outcome.message}
    if outcome.details:
        error["details"] = dict(outcome.details)
    return error


def reopened(payload: Payload) -> Settled:
    """Read an ending back from what ``closed`` wrote."""
    meta = payload.get("meta", {})
    if payload["outcome"] == "done":
        return Done(payload["result"], meta)
    error = payload["result"]["error"]
    details = error.get("details", {})
    if payload["outcome"] == "unknown":
        return Unknown(error["message"], details, meta)
    return Failed(Code(error["code"]), error["message"], details, meta)
