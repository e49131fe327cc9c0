"""Resume a call that a person approved: preview and judge it again, which can only tighten, then act."""

from dataclasses import replace
from typing import Any

from brasstag.engine.calls.admit import admit_unless_denied, blocked
from brasstag.engine.calls.approvals import Decisions, call_of
from brasstag.engine.calls.ask import ask
from brasstag.engine.calls.judge import judge, judge_changes
from brasstag.engine.calls.landing import look_again, record_landed
from brasstag.engine.calls.pipeline import act
from brasstag.engine.calls.preview import preview
from brasstag.engine.calls.types import AnyPhase, Failing
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import binding_digest, grant_approved
from brasstag.store.tasks.approvals import already_closed
from brasstag.store.tasks.rows import find_task
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.calls import Failed, Outcome
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Preview


def resume(runtime: Runtime, approval_id: str, epoch: int, deadline: Deadline) -> Outcome:
    """Go on with an approved call, and use its approval up."""
    decisions = Decisions(runtime.store)
    approval = decisions.get(approval_id)
    _require_resumable(runtime, approval, epoch)
    admitted = admit_unless_denied(runtime, replace(call_of(approval), epoch=epoch))
    if isinstance(admitted, Failed):
        return decisions.void(approval, admitted, epoch)
    again = look_again(runtime, admitted, approval)
    phase: AnyPhase = again or preview(runtime, admitted, deadline)
    verdict = judge_changes(runtime, admitted.call, phase.preview) if again else judge(runtime, phase)
    if verdict.decision == "deny":
        return decisions.void(approval, blocked(verdict), epoch)
    if isinstance(phase, Failing):
        return decisions.void(approval, phase.ending, epoch)
    if again is not None and not again.preview.changes:
        return record_landed(runtime, again, verdict, approval)
    tool = admitted.tool
    phase = replace(phase, preview=_as_approved(phase.preview, approval.preview))
    if binding_digest(admitted.call, tool.version, phase.preview) != approval.digest:
        because = f"what was approved has changed since, so it is asked anew: {verdict.because}"
        return ask(runtime, phase, replace(verdict, because=because), replaces=approval)
    grant = grant_approved(admitted.call, phase.preview, verdict, tool.version, approval)
    if approval.original_arguments is not None:
        edited = {"by": approval.decided_by, "arguments": dict(approval.arguments)}
        phase = replace(phase, edited=edited)
    return act(runtime, grant, phase, deadline)


def _as_approved(preview: Preview, approved: Preview) -> Preview:
    """Return the preview that a person approved, if it differs only in conflicts the person already knew of."""
    known = {(conflict.path, conflict.base) for conflict in approved.conflicts}
    if not known.issuperset((conflict.path, conflict.base) for conflict in preview.conflicts):
        return preview
    same = replace(preview, conflicts=approved.conflicts)
    return same if known and same.digest == approved.digest else preview


def _require_resumable(runtime: Runtime, approval: Approval, epoch: int) -> None:
    # This comes first: it holds whether or not the worker has used the approval meanwhile.
    if not epoch and not _is_of_desk(runtime, approval):
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"{approval.id} belongs to a task of an agent; the worker of that task goes on with it",
        )
    if approval.state is not ApprovalState.APPROVED:
        raise already_closed(approval)
    _require_on_record(runtime, approval)


def _is_of_desk(runtime: Runtime, approval: Approval) -> bool:
    task = runtime.store.read(lambda view: find_task(view, approval.task_id))
    return task is None or task.is_desk


def _require_on_record(runtime: Runtime, approval: Approval) -> None:
    """Raise ToolError unless the proven timeline says that a person approved exactly this; the table alone is no proof."""
    said: dict[str, Any] = {}
    for entry in runtime.store.proven(approval.task_id):
        if entry.kind is EntryKind.DECIDED and (entry.payload or {}).get("approval") == approval.id:
            said = entry.payload or {}
    if (said.get("state"), said.get("digest")) != (ApprovalState.APPROVED.value, approval.digest):
        # Another process may have gone on with the call since the approval was read.
        now = Decisions(runtime.store).get(approval.id)
        if now.state is not ApprovalState.APPROVED:
            raise already_closed(now)
        raise ToolError(
            Code.APPROVAL_STALE,
            f"the timeline does not say that a person approved {approval.id} as it stands",
            hint="`brasstag timeline verify` says what does not fit",
        )
