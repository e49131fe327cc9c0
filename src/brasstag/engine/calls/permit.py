"""Give a timed permission with an approval, list permissions, and take one back."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from brasstag.engine.calls.admit import admit_unless_denied
from brasstag.engine.calls.approvals import Decisions, agreed, call_of, stale
from brasstag.engine.calls.judge import judge, judge_changes, landing_of
from brasstag.engine.calls.permissions import policy_now
from brasstag.engine.calls.types import Foreseen
from brasstag.engine.runtime import Runtime
from brasstag.policy.globs import RuleError
from brasstag.policy.match.subjects import Subject
from brasstag.policy.narrow import MOST_PATHS
from brasstag.policy.permissions.permission_rule import covers, may_be_permitted, permission_rule, stored_rule
from brasstag.policy.profiles import ToolFacts, as_declared, facts_of
from brasstag.policy.rule import Rule
from brasstag.store.store import Store
from brasstag.store.tasks.approvals import already_closed
from brasstag.store.tasks.permissions import (
    already_revoked,
    count_calls,
    get_permission,
    list_permissions,
)
from brasstag.words.approvals import (
    DEFAULT_MINUTES,
    MOST_MINUTES,
    Approval,
    ApprovalState,
    Approver,
    Permission,
    PermissionState,
)
from brasstag.words.calls import Call, Failed
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.times import stamp
from brasstag.words.verdicts import Verdict

_SAID_YES = (ApprovalState.OPEN, ApprovalState.APPROVED, ApprovalState.CONSUMED)
"""The states of an approval with which a permission may be given: the others are a no, or hold no longer."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What a person wants to allow besides the approved call."""

    pattern: str = ""
    """Paths, hosts or an argument, as in rules; empty for only what was approved."""
    minutes: float = DEFAULT_MINUTES
    seen: str | None = None
    """The digest of the preview that the person was shown."""


def permit(runtime: Runtime, name: str, approver: Approver, wanted: PermissionRequest) -> Permission:
    """Give a permission, and approve the call that it is made from where that is open, in one commit."""
    lifetime = _lifetime(wanted.minutes)
    decisions = Decisions(runtime.store)
    approval = decisions.get(name)
    if approval.state not in _SAID_YES:
        decisions.expire_due()
        raise already_closed(approval)
    if wanted.seen not in (None, approval.preview.digest):
        raise stale(approval)
    call, facts, parameters = _judged_as(runtime, approval)
    subject = Subject(call, as_declared(approval.preview, facts))
    rule = _rule(subject, parameters, wanted.pattern)
    granted_at = runtime.store.now()
    permission = Permission(
        id=new_id("perm"),
        tool=call.tool,
        role=call.role,
        pattern=wanted.pattern,
        rule=stored_rule(rule),
        approver=str(approver),
        reason=approval.reason,
        policy=policy_now(runtime, call.tool),
        granted_at=granted_at,
        expires_at=stamp(datetime.fromisoformat(granted_at) + lifetime),
        task_id=approval.task_id,
        call_id=approval.call_id,
        approval_id=approval.id,
    )
    decided = (approval, *agreed(approval, approver)) if approval.state is ApprovalState.OPEN else None
    runtime.store.permit(permission, _permitted(permission), decided)
    return permission


def permissions_of(runtime: Runtime, *, everything: bool) -> list[Permission]:
    """Return the permissions that count now, or all of them, each with how many calls it let through."""
    store = runtime.store
    now = store.now()
    found = [
        replace(one, state=_state(runtime, one, now))
        for one in store.read(list_permissions)
        if everything or (one.revoked_at is None and one.expires_at > now)
    ]
    listed = [one for one in found if everything or one.state is PermissionState.ACTIVE]
    calls = store.read(lambda view: count_calls(view, listed))
    return [replace(one, calls=calls[one.id]) for one in listed]


def revoke(store: Store, name: str, approver: Approver) -> Permission:
    """Take a permission back; needs the store only, so it works when nothing else does."""
    permission = store.read(lambda view: get_permission(view, name))
    if permission.revoked_at is not None:
        raise already_revoked(permission)
    payload = {
        "type": EntryKind.REVOKED.value,
        "tool": permission.tool,
        "permission": permission.id,
        "by": str(approver),
    }
    store.revoke(permission, str(approver), payload)
    revoked = store.read(lambda view: get_permission(view, permission.id))
    return replace(revoked, state=PermissionState.REVOKED)


def _lifetime(minutes: object) -> timedelta:
    if not isinstance(minutes, int | float) or isinstance(minutes, bool) or not 0 < minutes <= MOST_MINUTES:
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"a permission lasts more than 0 and at most {MOST_MINUTES} minutes, not {minutes!r:.100}",
        )
    return timedelta(minutes=minutes)


def _judged_as(runtime: Runtime, approval: Approval) -> tuple[Call, ToolFacts, Collection[str]]:
    """Return the call that was asked about, as rules see it; raise ToolError where no permission can allow it.

    Of code that has run, what lands is judged, and not the code.
    """
    if approval.preview.conflicts:
        raise _not_permissible("what it would replace had changed since its task saw it")
    call = call_of(approval)
    if Decisions(runtime.store).ran(approval) is not None:
        verdict = judge_changes(runtime, call, approval.preview)
        parameters: Collection[str] = ()
        call, facts = landing_of(call)
    else:
        admitted = admit_unless_denied(runtime, call)
        if isinstance(admitted, Failed):
            raise admitted.as_error()
        if admitted.tool.version != approval.tool_version:
            raise stale(approval)
        call, parameters = admitted.call, admitted.tool.config.parameters
        facts = facts_of(admitted.tool, call)
        verdict = judge(runtime, Foreseen(admitted, approval.preview))
    _require_no_rule(runtime, approval, verdict)
    if facts.error:
        raise _not_permissible(f"the tool could not say whether to ask: {facts.error}")
    if not may_be_permitted(verdict):
        raise _not_permissible(f"no person would be asked about it now: {verdict.because}")
    return call, facts, parameters


def _require_no_rule(runtime: Runtime, approval: Approval, verdict: Verdict) -> None:
    said = ""
    if verdict.decision != "allow" and (verdict.by_rule or verdict.decision == "deny"):
        said, because = verdict.rule, verdict.because
    elif runtime.policy.rules.is_rule(approval.rule):
        said, because = approval.rule, approval.reason
    if said:
        raise ToolError(
            Code.BLOCKED_BY_RULE,
            f"the rule {said} speaks about it, and no permission outranks a rule: {because}",
            {"rule": said},
        )


def _rule(subject: Subject, parameters: Collection[str], pattern: str) -> Rule:
    if not pattern and len(subject.paths) > MOST_PATHS:
        raise _not_permissible(f"it touches {len(subject.paths)} paths; give a pattern for them")
    try:
        rule = permission_rule(subject, parameters, pattern, "a permission")
    except RuleError as error:
        raise ToolError(Code.INVALID_ARGUMENTS, f"the pattern cannot be read: {error}") from None
    if not covers(rule, subject):
        if not pattern:
            raise _not_permissible("no rule can say exactly this; give a pattern")
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"the pattern {pattern!r:.200} does not cover the call itself; it has to cover every path of the call. For "
            "what a call runs or sends, name a host, or an argument as in 'command: git *'",
        )
    return rule


def _not_permissible(said: str) -> ToolError:
    return ToolError(Code.NOT_SUPPORTED, f"this cannot be permitted for a time: {said}")


def _permitted(permission: Permission) -> dict[str, object]:
    """What the timeline says of a permission."""
    return {
        "type": EntryKind.PERMITTED.value,
        "tool": permission.tool,
        "permission": permission.id,
        "approval": permission.approval_id,
        "role": permission.role,
        "pattern": permission.pattern,
        "rule": permission.rule,
        "by": permission.approver,
        "until": permission.expires_at,
    }


def _state(runtime: Runtime, permission: Permission, now: str) -> PermissionState:
    if permission.revoked_at is not None:
        return PermissionState.REVOKED
    if permission.expires_at <= now:
        return PermissionState.EXPIRED
    is_same = permission.policy == policy_now(runtime, permission.tool)
    holds = is_same and runtime.permissions.hold(runtime.store, permission)
    return PermissionState.ACTIVE if holds else PermissionState.VOID
