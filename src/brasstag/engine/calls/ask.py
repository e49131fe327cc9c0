"""Ask a person: an approval is stored, bound to the call, the tool's version and what the preview saw."""

from dataclasses import replace
from datetime import datetime

from brasstag.engine import entries
from brasstag.engine.calls.landing import is_landing, landing
from brasstag.engine.calls.types import Looked
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import binding_digest
from brasstag.policy.match.subjects import counts_of
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.calls import Done, Waiting
from brasstag.words.ids import new_id
from brasstag.words.times import stamp
from brasstag.words.verdicts import Verdict


def ask(runtime: Runtime, looked: Looked, verdict: Verdict, uses: str | None = None) -> Waiting:
    """Store the request and tell the listeners.

    ``uses`` is the approval that a call ran on, where its changes are asked about.
    """
    call, tool = looked.admitted.call, looked.admitted.tool
    verdict = replace(verdict, because=_with_every_effect(verdict.because, looked))
    requested_at = runtime.store.now()
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
        expires_at=_expiry(runtime, requested_at),
    )
    payload = entries.proposed(call, tool) | looked.judged(looked.preview, verdict)
    payload |= {"result": None, "approval": approval.id, "digest": approval.digest}
    keep_bytes(looked)
    if is_landing(looked):
        payload["intended"] = landing(runtime, looked)
        payload["used"] = uses
    tag = runtime.store.ask(approval, payload, call.epoch, uses)
    runtime.listeners.asked(approval)
    return Waiting(approval.id, verdict.because, tag)


def keep_bytes(looked: Looked) -> None:
    """Keep what a person is shown, and what it would replace, until they have decided."""
    if looked.draft is not None and isinstance(looked.ending, Done):
        looked.draft.persist()


def _with_every_effect(because: str, looked: Looked) -> str:
    """Return why a person is asked; where changes are to land, every kind of change is named, not only the one that asks."""
    counts = counts_of(looked.preview) if is_landing(looked) else {}
    if len(counts) < 2:
        return because
    return f"{because} (in all: {', '.join(f'{fact.value} {count}' for fact, count in counts.items())})"


def _expiry(runtime: Runtime, requested_at: str) -> str | None:
    lifetime = runtime.approval_lifetime
    return None if lifetime is None else stamp(datetime.fromisoformat(requested_at) + lifetime)
