"""Record calls: the only place where the entries of a call are written on its timeline."""

from dataclasses import replace
from functools import partial

from brasstag.engine import entries
from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.conflicts import is_on_disk
from brasstag.engine.calls.types import Looked
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.store.store import Beside
from brasstag.store.tasks.ledger import Claimed, open_claims
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call, Failed, Settled, Tag, Unknown
from brasstag.words.errors import Code, StoreError, StoreLost
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change
from brasstag.words.verdicts import Verdict


def refusal(
    runtime: Runtime,
    call: Call,
    failed: Failed,
    looked: Looked | None = None,
    verdict: Verdict | None = None,
) -> Settled:
    """Record a call that was not admitted, or that a rule denies."""
    payload = entries.attempted(call, runtime.registry.get(call.tool))
    if looked is not None and verdict is not None:
        payload |= entries.judged(looked.preview, verdict, looked.admitted.tool)
    return _write(runtime, call, EntryKind.REFUSED, payload, failed)


def failure(runtime: Runtime, looked: Looked, verdict: Verdict, failed: Failed) -> Settled:
    """Record a call that was judged and failed before it acted."""
    call, tool = looked.admitted.call, looked.admitted.tool
    payload = entries.proposed(call, tool) | entries.judged(looked.preview, verdict, tool)
    return _write(runtime, call, EntryKind.CALLED, payload, failed)


def late(runtime: Runtime, admitted: Admitted, ending: Settled, approval_id: str | None) -> Settled:
    """Record a call whose function did not come back from its draft in time."""
    payload = entries.proposed(admitted.call, admitted.tool)
    if approval_id is not None:
        payload["approval"] = approval_id
    return _write(runtime, admitted.call, EntryKind.CALLED, payload, ending, approval_id)


def called(
    runtime: Runtime, grant: Grant, looked: Looked, ending: Settled, beside: Beside | None = None
) -> Settled:
    """Record a granted call that changed no file, with what else it writes in the same commit."""
    payload = about(grant, looked)
    return _write(runtime, grant.call, EntryKind.CALLED, payload, ending, grant.approval_id, beside)


def landed(
    runtime: Runtime, looked: Looked, verdict: Verdict, approval: Approval, ending: Settled
) -> Settled:
    """Record an approved call whose changes are on disk already."""
    call = looked.admitted.call
    payload = entries.proposed(call, looked.admitted.tool) | looked.judged(looked.preview, verdict)
    payload["approval"] = approval.id
    return _write(runtime, call, EntryKind.CALLED, payload, ending, approval.id)


def about(grant: Grant, looked: Looked) -> entries.Payload:
    """Return what every entry of a granted call says: what was asked for, how it was judged, and by which approval."""
    payload = entries.proposed(grant.call, looked.admitted.tool) | looked.judged(grant.preview, grant.verdict)
    return payload | ({"approval": grant.approval_id} if grant.approval_id is not None else {})


def claim(runtime: Runtime, grant: Grant, looked: Looked, changes: tuple[Change, ...]) -> Claimed:
    """Claim a granted call before it acts: its intent, the leases on its paths, and its approval, used up."""
    payload = entries.proposed(grant.call, looked.admitted.tool)
    payload |= looked.judged(grant.preview, grant.verdict)
    payload["result"] = None
    payload["approval"] = grant.approval_id
    payload["tool_version"] = grant.tool_version
    if looked.ending is not None:
        # What recovery records as the end of the call if this process dies before it can.
        payload["intended"] = entries.closed(looked.told(looked.ending))
    try:
        return runtime.store.claim(
            grant.call, changes, grant.approval_id, payload, partial(is_on_disk, runtime)
        )
    except StoreLost:
        if not grant.call.epoch:
            # No worker comes back to a call of a desk. Its caller is told that nothing was done; make it so.
            runtime.unsettled.append(partial(_give_up_claim, runtime, grant.call))
        raise


def settle(
    runtime: Runtime,
    claimed: Claimed,
    grant: Grant,
    looked: Looked,
    ending: Settled,
    made: tuple[Change, ...],
) -> Settled:
    """Settle a claimed call; only then is its outcome returned."""
    ending = looked.told(ending)
    payload = {
        "type": looked.admitted.tool.config.type.value,
        "tool": grant.call.tool,
        "changes": [change.as_json() for change in made],
    }
    write = partial(
        runtime.store.settle,
        claimed,
        payload | entries.closed(ending),
        made,
        grant.call.role,
        grant.call.tool,
    )
    try:
        tag = write()
    except StoreError as error:
        runtime.unsettled.append(write)
        return Unknown(
            f"it ran, but its end could not be written down: {error} It is tried again with the next call."
        )
    runtime.at("settled")
    if made and runtime.library is not None:
        runtime.library.refresher.look_at_touched()
    return replace(ending, tag=tag)


def _give_up_claim(runtime: Runtime, call: Call) -> Tag | None:
    """Settle a claim that may have been stored although its commit was not confirmed; nothing was done for it."""
    claims = runtime.store.read(lambda view: [one for one in open_claims(view) if one.call_id == call.id])
    if not claims:
        return None
    never = Failed(Code.INTERNAL_ERROR, "nothing was done, as it could not be written down")
    said = {"type": EntryKind.SETTLED.value, "tool": call.tool, "changes": []} | entries.closed(never)
    return runtime.store.settle(claims[0], said, (), call.role, call.tool)


def _write(
    runtime: Runtime,
    call: Call,
    kind: EntryKind,
    payload: entries.Payload,
    ending: Settled,
    approval_id: str | None = None,
    beside: Beside | None = None,
) -> Settled:
    tag = runtime.store.record(call, kind, payload | entries.closed(ending), approval_id, beside)
    return replace(ending, tag=tag)
