"""Look up approvals and record answers; needs the store only, so it works when nothing else does."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from brasstag.store.database.base import View
from brasstag.store.store import Store
from brasstag.store.tasks.approvals import already_closed, due_approvals, get_approval, list_approvals
from brasstag.store.tasks.end import Decision
from brasstag.store.tasks.writer import Payload
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState, Approver
from brasstag.words.calls import Call, Failed, as_stored
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind

log = logging.getLogger("brasstag")

MOST_NAMED = 3
CLOCK = Approver("the clock", "expiry")
LAPSED = "no person answered in time"


class Decisions:
    """The approvals of a room, for people."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> Approval:
        """Return an approval by its id or the end of it; one whose time is up reads as expired."""
        return _as_of(self._store.now(), self._store.read(lambda view: get_approval(view, name)))

    def list(self, *states: ApprovalState) -> list[Approval]:
        """Return approvals in these states, oldest first; those whose time is up read as expired."""
        now = self._store.now()
        asked = (*states, ApprovalState.OPEN) if ApprovalState.EXPIRED in states else states
        found = [_as_of(now, one) for one in self._store.read(lambda view: list_approvals(view, asked))]
        return [one for one in found if not states or one.state in states]

    def decide(
        self,
        approval: Approval,
        response: ApprovalResponse,
        approver: Approver,
        seen: str | None = None,
        edited: Mapping[str, Any] | None = None,
    ) -> Approval:
        """Write down a person's answer; ``seen`` is the digest of the preview they were shown.

        ``edited`` binds the approval to changed arguments, which the caller has looked at and judged.
        """
        if approval.state is not ApprovalState.OPEN:
            self.expire_due()
            raise already_closed(approval)
        if seen is not None and edited is None and seen != approval.preview.digest:
            raise stale(approval)
        state = ApprovalState.APPROVED if response.approved else ApprovalState.DENIED
        decision = Decision(state, str(approver), response.reason, dict(edited) if edited else None)
        payload = decided(approval, decision) | {"response": response.as_json()}
        if state is ApprovalState.DENIED:
            payload |= self._denied(
                approval, f"a person denied this call: {response.reason or 'no reason was given'}"
            )
        self._store.decide(approval, decision, payload)
        return self._store.read(lambda view: get_approval(view, approval.id))

    def void(self, approval: Approval, ending: Failed, epoch: int = 0) -> Failed:
        """Withdraw an approval that no longer applies, and end its call."""
        decision = Decision(
            ApprovalState.VOID, approval.decided_by or "", "what was approved no longer holds"
        )
        payload = decided(approval, decision) | as_stored(ending)
        tag = self._store.decide(approval, decision, payload, epoch)
        return replace(ending, tag=tag)

    def ran(self, approval: Approval) -> Payload | None:
        """Return how a call has run whose changes are asked about, as it would end; None for one that has not run."""
        return self._store.read(lambda view: _intended(view, approval))

    def expire_due(self) -> None:
        """Close the approvals that no person answered in time."""
        now = self._store.now()
        for approval in self._store.read(lambda view: due_approvals(view, now)):
            try:
                self._expire(approval)
            except StoreLost:
                raise
            except StoreError as error:
                # Its timeline cannot be believed; `verify` tells why. Other approvals, and the room, go on.
                log.warning("%s is left as it is: %s", approval.id, error)

    def _expire(self, approval: Approval) -> None:
        decision = Decision(ApprovalState.EXPIRED, str(CLOCK), LAPSED)
        payload = decided(approval, decision) | self._denied(approval, decision.note)
        # It was decided in the last moment, or expired by another process: either way it is dealt with.
        with suppress(ToolError):
            self._store.decide(approval, decision, payload)

    def _denied(self, approval: Approval, said: str) -> Payload:
        """Return the ending of a denied call; if its code has run, with what it returned, and where its changes are."""
        said += _what_to_read(approval)
        ran = self.ran(approval)
        if ran is None:
            return as_stored(Failed(Code.DENIED, said))
        kept = {"patch": ran["meta"]["patch"]} if "patch" in ran["meta"] else {}
        said = f"the code ran, but nothing it changed was kept: {said}"
        return as_stored(Failed(Code.DENIED, said, {"ran": ran["result"], **kept}))


def _as_of(now: str, approval: Approval) -> Approval:
    """Return an approval as it is now: an open one whose time is up has expired, whether that is written yet or not."""
    is_open = approval.state is ApprovalState.OPEN
    if not is_open or approval.expires_at is None or approval.expires_at > now:
        return approval
    return replace(
        approval,
        state=ApprovalState.EXPIRED,
        decided_by=str(CLOCK),
        decided_at=approval.expires_at,
        note=LAPSED,
    )


def _intended(view: View, approval: Approval) -> Payload | None:
    for entry in read_entries(view, approval.task_id, approval.call_id):
        payload = entry.payload or {}
        if entry.kind is EntryKind.ASKED and payload.get("approval") == approval.id:
            return payload.get("intended")
    return None


def _what_to_read(approval: Approval) -> str:
    """Say what has to be read again before it is written once more; nothing where the call knew what it would replace."""
    changed = [conflict.path for conflict in approval.preview.conflicts]
    if not changed:
        return ""
    named = ", ".join(changed[:MOST_NAMED])
    more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
    return f". Changed since you last saw it: {named}{more}; read it again before you write it"


def decided(approval: Approval, decision: Decision) -> Payload:
    """What the timeline says of a decision."""
    return {
        "type": EntryKind.DECIDED.value,
        "tool": approval.tool,
        "approval": approval.id,
        "state": decision.state.value,
        "by": decision.by,
        "note": decision.note,
        "digest": (decision.edited or {}).get("digest", approval.digest),
    }


def agreed(approval: Approval, approver: Approver, note: str = "") -> tuple[Decision, Payload]:
    """Return a person's plain yes to an open approval."""
    decision = Decision(ApprovalState.APPROVED, str(approver), note)
    return decision, decided(approval, decision) | {"response": ApprovalResponse(True).as_json()}


def asked_anew(approval: Approval, request: str) -> tuple[Decision, Payload]:
    """Return what becomes of an approval whose call is asked about anew: it is void, and names the new request."""
    note = f"what was approved has changed since; it is asked anew as {request}"
    decision = Decision(ApprovalState.VOID, approval.decided_by or "", note)
    return decision, decided(approval, decision)


def stale(approval: Approval) -> ToolError:
    """Say that a person saw something else than what would be done now."""
    return ToolError(
        Code.APPROVAL_STALE,
        f"what {approval.tool} would do has changed since you were shown it; look again, then decide",
    )


def call_of(approval: Approval) -> Call:
    """Return the call an approval stands for."""
    return Call(
        approval.call_id, approval.tool, approval.arguments, approval.actor, approval.role, approval.task_id
    )
