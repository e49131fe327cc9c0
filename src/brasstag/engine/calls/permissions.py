"""Find the timed permission that covers a call: only where profile or tool ask, never where a rule does."""

from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.policy.match.subjects import Subject
from brasstag.policy.permissions.permission_rule import (
    covers,
    may_be_permitted,
    permitted,
    policy_digest,
    read_rule,
)
from brasstag.policy.profiles import ToolFacts, as_declared
from brasstag.store.tasks.permissions import PermissionUse, find_permissions
from brasstag.words.approvals import Permission
from brasstag.words.calls import Call
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict


def find_permission(
    runtime: Runtime, call: Call, preview: Preview, facts: ToolFacts, verdict: Verdict
) -> Permission | None:
    """Return the permission that covers a call about which a person would be asked; None where there is none.

    Calls that are allowed or denied anyway never come here, so they pay nothing. What changed meanwhile, and what a tool
    could not say of itself, is always asked about.
    """
    if not may_be_permitted(verdict) or preview.conflicts or facts.error:
        return None
    store = runtime.store
    policy, now = policy_now(runtime, call.tool), store.now()
    found = store.read(lambda view: find_permissions(view, call.tool, call.role, policy, now))
    if not found:
        return None
    subject = Subject(call, as_declared(preview, facts))
    for permission in found:
        # What the table says is read only once the timeline has said the same.
        if runtime.permissions.hold(store, permission) and covers(
            read_rule(permission.rule, because(permission)), subject
        ):
            return permission
    return None


def because(permission: Permission) -> str:
    """Say who allows a call, and until when."""
    return f"{permission.approver} allowed {permission.covers} until {permission.expires_at}"


def permitted_by(permission: Permission) -> Verdict:
    """Return the verdict on a call that a permission covers."""
    return permitted(permission.id, because(permission))


def policy_now(runtime: Runtime, tool: str) -> str:
    """Return the digest of the policy as it is now, for a tool; what code has changed lands by no tool."""
    found = runtime.registry.get(tool)
    return policy_digest(runtime.policy.rules, tool, found.version if found else "")


def uses_of(runtime: Runtime, grant: Grant) -> tuple[PermissionUse, ...]:
    """Return the permissions of a grant, to be checked once more where the call claims."""
    if not grant.permissions:
        return ()
    return tuple(PermissionUse(one.id, policy_now(runtime, one.tool)) for one in grant.permissions)
