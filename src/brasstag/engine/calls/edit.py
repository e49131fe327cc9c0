"""Decide an approval, also with changed arguments; these count only with the preview that the person saw."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brasstag.engine.calls.admit import admit_unless_denied
from brasstag.engine.calls.approvals import Decisions, call_of, stale
from brasstag.engine.calls.ask import keep_bytes
from brasstag.engine.calls.judge import judge
from brasstag.engine.calls.landing import require_unrun
from brasstag.engine.calls.preview import preview
from brasstag.engine.calls.types import Failing, Phase
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import binding_digest
from brasstag.store.tasks.approvals import edited_columns
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState, Approver
from brasstag.words.calls import Failed
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import Preview


@dataclass(frozen=True, slots=True)
class EditedCall:
    """A call with the arguments a person wants, and what it would do with them."""

    arguments: Mapping[str, Any]
    """As the tool takes them."""
    preview: Preview


def preview_edit(
    runtime: Runtime, approval: Approval, arguments: Mapping[str, Any], deadline: Deadline
) -> EditedCall:
    """Preview the call with other arguments, for a person to see before they approve it."""
    phase = _previewed(runtime, approval, arguments, deadline)
    return EditedCall(phase.admitted.call.arguments, phase.preview)


def _previewed(
    runtime: Runtime, approval: Approval, arguments: Mapping[str, Any], deadline: Deadline
) -> Phase:
    require_unrun(runtime, approval)
    admitted = admit_unless_denied(runtime, replace(call_of(approval), arguments=arguments))
    if isinstance(admitted, Failed):
        raise admitted.as_error()
    phase = preview(runtime, admitted, deadline, only_looking=True)
    if isinstance(phase, Failing):
        raise phase.ending.as_error()
    verdict = judge(runtime, phase)
    if verdict.decision == "deny":
        raise ToolError(Code.BLOCKED_BY_RULE, verdict.because, {"rule": verdict.rule})
    keep_bytes(phase)
    return phase


def decide(
    runtime: Runtime,
    name: str,
    response: ApprovalResponse,
    approver: Approver,
    seen: str | None,
    deadline: Deadline,
) -> Approval:
    """Record a person's answer."""
    decisions = Decisions(runtime.store)
    approval = decisions.get(name)
    edited = None
    if response.approved and response.modified_args is not None and approval.state is ApprovalState.OPEN:
        edited = _bind_edit(runtime, approval, response.modified_args, seen, deadline)
    return decisions.decide(approval, response, approver, seen, edited)


def _bind_edit(
    runtime: Runtime, approval: Approval, arguments: Mapping[str, Any], seen: str | None, deadline: Deadline
) -> dict[str, Any]:
    phase = _previewed(runtime, approval, arguments, deadline)
    if phase.preview.digest != seen:
        raise _unseen(approval, seen)
    call, tool = phase.admitted.call, phase.admitted.tool
    digest = binding_digest(call, tool.version, phase.preview)
    columns = edited_columns(call.arguments, approval.arguments, phase.preview, digest)
    return columns | {"tool_version": tool.version}


def _unseen(approval: Approval, seen: str | None) -> ToolError:
    """Say what ``seen`` has to be where a person has not seen what the changed arguments would do."""
    if seen not in (None, approval.preview.digest):
        return stale(approval)
    return ToolError(
        Code.APPROVAL_STALE,
        "changed arguments count only with the preview that the person saw: pass seen=edited.preview.digest to decide, "
        f"where edited = await room.preview_edit(approval, arguments) is what {approval.tool} would do with them",
    )
