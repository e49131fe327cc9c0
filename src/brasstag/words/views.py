"""The three exact shapes in which an outcome leaves the house."""

from collections.abc import Mapping
from typing import Any

from brasstag.words.calls import Done, Failed, Outcome, ToolResult, Unknown, Waiting

UNKNOWN_CODE = "UNKNOWN"
WAITING_CODE = "WAITING_FOR_APPROVAL"
WAITING_FOR_TASK_CODE = "WAITING_FOR_TASK"


def status_view(outcome: Outcome) -> dict[str, Any]:
    """Return ``{status, data, meta{bytes_written, execution_time}}``: data is the value or the error message."""
    meta = {} if isinstance(outcome, Waiting) else outcome.meta
    return {
        "status": "success" if isinstance(outcome, Done) else "error",
        "data": outcome.value if isinstance(outcome, Done) else _sentence(outcome),
        "meta": {
            "bytes_written": meta.get("bytes_written", 0),
            "execution_time": meta.get("execution_time", 0.0),
        },
    }


def result_view(outcome: Outcome) -> dict[str, Any]:
    """Return ``{ok: true, value}`` or ``{ok: false, error: {code, message, details?}}``."""
    if isinstance(outcome, Done):
        return {"ok": True, "value": outcome.value}
    code, details = _code_and_details(outcome)
    error: dict[str, Any] = {"code": code, "message": _sentence(outcome)}
    if details:
        error["details"] = details
    return {"ok": False, "error": error}


def tool_result_view(outcome: Outcome, tool_call_id: str) -> ToolResult:
    """Return ``ToolResult(tool_call_id, output, error, success)``."""
    if isinstance(outcome, Done):
        return ToolResult(tool_call_id, output=outcome.value)
    code, details = _code_and_details(outcome)
    output = details if _has_output(details) else ""
    return ToolResult(tool_call_id, output, f"{code}: {_sentence(outcome)}", success=False)


def _has_output(details: Mapping[str, Any]) -> bool:
    """Say whether the details of an error hold what a program printed, which whoever called has to read."""
    ran = details.get("ran")
    return "stdout" in details or (isinstance(ran, Mapping) and "stdout" in ran)


def _sentence(outcome: Failed | Unknown | Waiting) -> str:
    if isinstance(outcome, Waiting) and outcome.task_id:
        return f"waiting for {outcome.task_id}: {outcome.reason}"
    if isinstance(outcome, Waiting):
        return f"waiting for approval {outcome.approval_id}: {outcome.reason}"
    return outcome.message


def _code_and_details(outcome: Failed | Unknown | Waiting) -> tuple[str, dict[str, Any]]:
    match outcome:
        case Failed():
            return outcome.code.value, dict(outcome.details)
        case Unknown():
            return UNKNOWN_CODE, dict(outcome.details)
        case Waiting() if outcome.task_id:
            return WAITING_FOR_TASK_CODE, {"taskId": outcome.task_id}
        case Waiting():
            return WAITING_CODE, {"approvalId": outcome.approval_id}
