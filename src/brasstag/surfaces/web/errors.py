"""Errors as HTTP tells them: a status, and the code, the message and the details of ours."""

from typing import Any

from starlette.responses import JSONResponse, Response

from brasstag.words.errors import BrasstagError, Code, ToolError, with_hint

_STATUS = {
    Code.NOT_AN_APPROVER: 403,
    Code.NOT_ALLOWED: 403,
    Code.BLOCKED_BY_RULE: 403,
    Code.APPROVAL_CLOSED: 409,
    Code.APPROVAL_STALE: 409,
    Code.PROPOSAL_STALE: 409,
    Code.PROPOSAL_STATE: 409,
    Code.TASK_CLOSED: 409,
    Code.BUSY: 409,
    Code.CHANGED: 409,
    Code.NOT_KEPT: 410,
    Code.TOO_LARGE: 413,
}
_NOT_FOUND = "_NOT_FOUND"


def status_of(error: BrasstagError) -> int:
    """Return the status of an error."""
    if not isinstance(error, ToolError):
        return 500
    return _STATUS.get(error.code, 404 if error.code.value.endswith(_NOT_FOUND) else 400)


def error_of(error: BrasstagError) -> dict[str, Any]:
    """Return ``{code, message, details?}`` with the hint for people."""
    code = error.code.value if isinstance(error, ToolError) else Code.INTERNAL_ERROR.value
    found: dict[str, Any] = {"code": code, "message": with_hint(str(error), error.hint)}
    if isinstance(error, ToolError) and error.details:
        found["details"] = error.details
    return found


def failed(error: BrasstagError) -> Response:
    """Return an error as JSON."""
    return JSONResponse({"error": error_of(error)}, status_of(error))


def refused(status: int, code: str, message: str) -> Response:
    """Return a refusal as JSON."""
    return JSONResponse({"error": {"code": code, "message": message}}, status)
