"""Grants: the proof that a call may run. Only this module makes one, and ``perform`` takes nothing else."""

from dataclasses import InitVar, dataclass, replace
from typing import NoReturn, final

from brasstag.words.approvals import Approval, ApprovalState, Permission
from brasstag.words.calls import Call
from brasstag.words.canonical import digest
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict

_KEY = object()
"""No code outside this module holds it."""


@final
@dataclass(frozen=True, slots=True)
class Grant:
    """One call that may run, with the preview it was judged by, the verdict, and the approval or permission it needed."""

    call: Call
    preview: Preview
    verdict: Verdict
    tool_version: str
    approval_id: str | None = None
    permissions: tuple[Permission, ...] = ()
    """The timed permissions it was allowed by: for running it, and for letting its changes land."""
    key: InitVar[object] = None

    def __post_init__(self, key: object) -> None:
        if key is not _KEY:
            raise TypeError("a grant is made by the functions of policy.grants, never by hand")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a grant has no other forms")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a grant does not travel: it is good for one call in one process")


def grant_allowed(
    call: Call, preview: Preview, verdict: Verdict, tool_version: str, permission: Permission | None = None
) -> Grant:
    """Return the grant of a call that the rules, or a timed permission, allow."""
    if verdict.decision != "allow":
        raise ValueError(f"{call.tool} was judged {verdict.decision}, which grants nothing")
    return Grant(call, preview, verdict, tool_version, None, _named(verdict, permission), key=_KEY)


def grant_approved(
    call: Call, preview: Preview, verdict: Verdict, tool_version: str, approval: Approval
) -> Grant:
    """Return the grant of a call that a person approved: this very call, tool version and preview, not denied since."""
    if verdict.decision == "deny":
        raise ValueError(f"{call.tool} is denied by {verdict.rule}; no approval outranks that")
    if approval.state is not ApprovalState.APPROVED:
        raise ValueError(f"approval {approval.id} is {approval.state}, not approved")
    if approval.digest != binding_digest(call, tool_version, preview):
        raise ValueError(f"approval {approval.id} was given for something else")
    return Grant(call, preview, verdict, tool_version, approval.id, key=_KEY)


def grant_landing(
    granted: Grant, preview: Preview, verdict: Verdict, permission: Permission | None = None
) -> Grant:
    """Return the grant of what granted code has changed, where the rules allow that too; it uses the same approval up."""
    if verdict.decision != "allow":
        raise ValueError(
            f"what {granted.call.tool} changed was judged {verdict.decision}, which grants nothing"
        )
    permissions = {one.id: one for one in (*granted.permissions, *_named(verdict, permission))}
    call, version = granted.call, granted.tool_version
    return Grant(call, preview, verdict, version, granted.approval_id, tuple(permissions.values()), key=_KEY)


def grant_nothing(granted: Grant) -> Grant:
    """Return the grant of a call that has run and changes nothing: no permission is needed for that."""
    nothing = replace(granted.preview, changes=())
    call, version = granted.call, granted.tool_version
    return Grant(call, nothing, granted.verdict, version, granted.approval_id, key=_KEY)


def _named(verdict: Verdict, permission: Permission | None) -> tuple[Permission, ...]:
    if verdict.permission != (permission.id if permission else ""):
        raise ValueError("a verdict and its grant name the same permission")
    return (permission,) if permission else ()


def binding_digest(call: Call, tool_version: str, preview: Preview) -> str:
    """Return the fingerprint that binds an approval to one call, one tool version and what its preview saw."""
    return digest(
        {
            "tool": call.tool,
            "arguments": dict(call.arguments),
            "task_id": call.task_id,
            "call_id": call.id,
            "tool_version": tool_version,
            "preview": preview.digest,
        }
    )
