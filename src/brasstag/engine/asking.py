"""Asking a person: an approval is stored, and used once for exactly what the person saw."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from brasstag.engine import payloads
from brasstag.engine.confined import (
    has_to_run,
    is_landing,
    landing,
    look_again,
    not_landed,
    record_landed,
    refused,
    require_unrun,
    run_on_draft,
)
from brasstag.engine.conflicts import as_approved
from brasstag.engine.decisions import Decisions, stale
from brasstag.engine.judging import judge, judge_changes
from brasstag.engine.looking import Looked, admit_unless_denied, blocked, look
from brasstag.engine.patience import busy, patiently
from brasstag.engine.performing import perform
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.policy.grants import Grant, binding_digest, grant_approved, grant_landing
from brasstag.policy.subjects import counts_of
from brasstag.store.approvals import already_closed, edited_columns
from brasstag.store.tasks import find_task
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState, Approver
from brasstag.words.calls import Call, Done, Failed, Outcome, Waiting
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.times import stamp
from brasstag.words.verdicts import Verdict


class Asking:
    """Everything about approvals that needs the whole shop."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self.decisions = Decisions(shop.books)

    def act(self, grant: Grant, looked: Looked, watch: Watch) -> Outcome:
        """Perform a granted call; what one has drafted is judged, and where needed asked about, before it lands."""
        if not has_to_run(looked):
            return perform(self._shop, grant, looked, watch)
        ran = run_on_draft(self._shop, grant, looked, watch)
        if not isinstance(ran.ending, Done) or not ran.preview.changes:
            return perform(self._shop, grant, ran, watch)
        verdict = judge_changes(self._shop, grant.call, ran.preview)
        if verdict.decision == "deny":
            return perform(self._shop, grant, refused(self._shop, ran, verdict), watch)
        ran = replace(ran, ran=looked.judged(grant.preview, grant.verdict))
        if verdict.decision == "ask":
            return self.ask(ran, verdict, uses=grant.approval_id)
        return self._land(grant_landing(grant, ran.preview, verdict), ran, watch)

    def _land(self, grant: Grant, ran: Looked, watch: Watch) -> Outcome:
        """Let what a call has drafted land; that others are at its paths is no reason to run it again."""
        try:
            landed = patiently(lambda: perform(self._shop, grant, ran, watch), anew=False)
            failed = busy(grant.call.tool)
        except ToolError as error:
            if error.code is not Code.CHANGED:
                raise
            landed, failed = None, Failed.by(error)
        if landed is not None:
            return landed
        ended = replace(ran, ending=not_landed(self._shop, ran, failed))
        nothing = replace(grant.preview, changes=())
        return perform(self._shop, grant_landing(grant, nothing, grant.verdict), ended, watch)

    def ask(self, looked: Looked, verdict: Verdict, uses: str | None = None) -> Waiting:
        """Store a request bound to the call, the tool's version and what the preview saw; tell whoever listens.

        ``uses`` is the approval that a call ran on, where what it changed is asked about.
        """
        call, tool = looked.admitted.call, looked.admitted.tool
        verdict = replace(verdict, because=_with_every_effect(verdict.because, looked))
        requested_at = self._shop.books.now()
        approval = Approval(
            id=new_id("apr"),
            call_id=call.id,
            task_id=call.task_id,
            tool=call.tool,
            tool_version=tool.version,
            arguments=call.arguments,
            actor=call.actor,
            role=call.role,
            reason=verdict.because,
            rule=verdict.rule,
            preview=looked.preview,
            digest=binding_digest(call, tool.version, looked.preview),
            state=ApprovalState.OPEN,
            requested_at=requested_at,
            expires_at=self._expiry(requested_at),
        )
        payload = payloads.proposed(call, tool) | looked.judged(looked.preview, verdict)
        payload |= {"result": None, "approval": approval.id, "digest": approval.digest}
        _keep_bytes(looked)
        if is_landing(looked):
            payload["intended"] = landing(self._shop, looked)
            payload["used"] = uses
        tag = self._shop.books.ask(approval, payload, call.epoch, uses)
        self._shop.audience.asked(approval)
        return Waiting(approval.id, verdict.because, tag)

    def preview_edit(self, approval: Approval, arguments: Mapping[str, Any], watch: Watch) -> Looked:
        """Find out what the call would do with other arguments, for a person to see before they say yes."""
        require_unrun(self._shop, approval)
        admitted = admit_unless_denied(self._shop, replace(call_of(approval), arguments=arguments))
        if isinstance(admitted, Failed):
            raise admitted.as_error()
        looked = look(self._shop, admitted, watch, only_looking=True)
        if isinstance(looked.ending, Failed):
            raise looked.ending.as_error()
        verdict = judge(self._shop, looked)
        if verdict.decision == "deny":
            raise ToolError(Code.BLOCKED_BY_RULE, verdict.because, {"rule": verdict.rule})
        return looked

    def decide(
        self, name: str, response: ApprovalResponse, approver: Approver, seen: str | None, watch: Watch
    ) -> Approval:
        """Write down a person's answer; edited arguments count only together with the preview they were shown."""
        approval = self.decisions.get(name)
        edited = None
        if response.approved and response.modified_args is not None and approval.state is ApprovalState.OPEN:
            edited = self._bind_edit(approval, response.modified_args, seen, watch)
        return self.decisions.decide(approval, response, approver, seen, edited)

    def resume(self, approval_id: str, epoch: int, watch: Watch) -> Outcome:
        """Go on with an approved call: preview and judge again, then use the approval up."""
        approval = self.decisions.get(approval_id)
        if approval.state is not ApprovalState.APPROVED:
            raise already_closed(approval)
        self._require_on_record(approval)
        if not epoch and not self._is_of_desk(approval):
            raise ToolError(
                Code.NOT_SUPPORTED,
                f"{approval.id} belongs to a task of an agent; whoever works on that goes on with it",
            )
        admitted = admit_unless_denied(self._shop, replace(call_of(approval), epoch=epoch))
        if isinstance(admitted, Failed):
            return self.decisions.void(approval, admitted, epoch)
        again = look_again(self._shop, admitted, approval)
        looked = again or look(self._shop, admitted, watch)
        verdict = (
            judge_changes(self._shop, admitted.call, again.preview) if again else judge(self._shop, looked)
        )
        if verdict.decision == "deny":
            return self.decisions.void(approval, blocked(verdict), epoch)
        if isinstance(looked.ending, Failed):
            return self.decisions.void(approval, looked.ending, epoch)
        if again is not None and not again.preview.changes:
            return record_landed(self._shop, again, verdict, approval)
        tool = admitted.tool
        looked = replace(looked, preview=as_approved(looked.preview, approval.preview))
        if binding_digest(admitted.call, tool.version, looked.preview) != approval.digest:
            self.decisions.void(approval, None, epoch)
            because = f"what was approved has changed since, so it is asked anew: {verdict.because}"
            return self.ask(looked, replace(verdict, because=because))
        grant = grant_approved(admitted.call, looked.preview, verdict, tool.version, approval)
        if approval.original_arguments is not None:
            edited = {"by": approval.decided_by, "arguments": dict(approval.arguments)}
            looked = replace(looked, edited=edited)
        return self.act(grant, looked, watch)

    def _is_of_desk(self, approval: Approval) -> bool:
        task = self._shop.books.read(lambda view: find_task(view, approval.task_id))
        return task is None or task.kind == "desk"

    def _require_on_record(self, approval: Approval) -> None:
        """The table is only asked quickly; that a person said yes, and to what, has to stand on the proven timeline."""
        said: dict[str, Any] = {}
        for entry in self._shop.books.proven(approval.task_id):
            if entry.kind is EntryKind.DECIDED and (entry.payload or {}).get("approval") == approval.id:
                said = entry.payload or {}
        if (said.get("state"), said.get("digest")) != (ApprovalState.APPROVED.value, approval.digest):
            raise ToolError(
                Code.APPROVAL_STALE,
                f"the timeline does not say that a person approved {approval.id} as it stands; "
                "run `brasstag timeline verify`",
            )

    def _bind_edit(
        self, approval: Approval, arguments: Mapping[str, Any], seen: str | None, watch: Watch
    ) -> dict[str, Any]:
        looked = self.preview_edit(approval, arguments, watch)
        if looked.preview.digest != seen:
            raise stale(approval)
        call, tool = looked.admitted.call, looked.admitted.tool
        _keep_bytes(looked)
        digest = binding_digest(call, tool.version, looked.preview)
        columns = edited_columns(call.arguments, approval.arguments, looked.preview, digest)
        return columns | {"tool_version": tool.version}

    def _expiry(self, requested_at: str) -> str | None:
        lifetime = self._shop.approval_lifetime
        return None if lifetime is None else stamp(datetime.fromisoformat(requested_at) + lifetime)


def _with_every_effect(because: str, looked: Looked) -> str:
    """Return why a person is asked; whoever lets changes land is told of each kind of them, not only the one that asks."""
    counts = counts_of(looked.preview) if is_landing(looked) else {}
    if len(counts) < 2:
        return because
    return f"{because} (in all: {', '.join(f'{fact.value} {count}' for fact, count in counts.items())})"


def _keep_bytes(looked: Looked) -> None:
    # What a person is shown, and what it would replace, stays readable until they have decided.
    if looked.draft is not None and isinstance(looked.ending, Done):
        looked.draft.persist()


def call_of(approval: Approval) -> Call:
    """Return the call an approval stands for."""
    return Call(
        approval.call_id, approval.tool, approval.arguments, approval.actor, approval.role, approval.task_id
    )
