"""Ask a person: an approval is stored, bound to the call, the tool's version and what the preview saw."""

from dataclasses import replace
from datetime import datetime

from brasstag.engine.calls import record
from brasstag.engine.calls.approvals import asked_anew
from brasstag.engine.calls.landing import landing
from brasstag.engine.calls.types import Landing, Phase, Previewed
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import binding_digest
from brasstag.policy.match.subjects import counts_of
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.calls import Waiting
from brasstag.words.ids import new_id
from brasstag.words.times import stamp
from brasstag.words.verdicts import Verdict


def ask(
    runtime: Runtime,
    phase: Phase,
    verdict: Verdict,
    uses: str | None = None,
    replaces: Approval | None = None,
) -> Waiting:
    """Store the request and tell the listeners.

    ``uses`` is the approval that a call ran on, where its changes are asked about. ``replaces`` is an approval of the
    same call that no longer applies: it becomes void in the same commit, so that the call is never without either.
    """
    call, tool = phase.admitted.call, phase.admitted.tool
    verdict = replace(verdict, because=_with_every_effect(verdict.because, phase))
    requested_at = runtime.store.now()
    approval = Approval(
        id=new_id("apr"),
        call_id=call.id,
        task_id=call.task_id,
        tool=call.tool,
        tool_version=tool.version,
        arguments=call.arguments,
        original_arguments=replaces.original_arguments if replaces else None,
        actor=call.actor,
        role=call.role,
        reason=verdict.because,
        rule=verdict.rule,
        preview=phase.preview,
        digest=binding_digest(call, tool.version, phase.preview),
        state=ApprovalState.OPEN,
        requested_at=requested_at,
        expires_at=_expiry(runtime, requested_at),
    )
    payload = record.proposed(phase, phase.preview, verdict)
    payload |= {"result": None, "approval": approval.id, "digest": approval.digest}
    keep_bytes(phase)
    if isinstance(phase, Landing):
        payload["intended"] = landing(runtime, phase)
        payload["used"] = uses
    withdrawn = (replaces, *asked_anew(replaces, approval.id)) if replaces else None
    tag = runtime.store.ask(approval, payload, call.epoch, uses, withdrawn)
    runtime.listeners.asked(approval)
    return Waiting(approval.id, verdict.because, tag)


def keep_bytes(phase: Phase) -> None:
    """Keep what a person is shown, and what it would replace, until they have decided."""
    if isinstance(phase, Previewed | Landing):
        phase.draft.persist()


def _with_every_effect(because: str, phase: Phase) -> str:
    """Return why a person is asked; where changes are to land, every kind of change is named, not only the one that asks."""
    counts = counts_of(phase.preview) if isinstance(phase, Landing) else {}
    if len(counts) < 2:
        return because
    return f"{because} (in all: {', '.join(f'{fact.value} {count}' for fact, count in counts.items())})"


def _expiry(runtime: Runtime, requested_at: str) -> str | None:
    lifetime = runtime.approvals_expire_after
    return None if lifetime is None else stamp(datetime.fromisoformat(requested_at) + lifetime)
