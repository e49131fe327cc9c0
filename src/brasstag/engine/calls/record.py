"""Record a call on its timeline: refused, called, claimed, settled. Only asking and deciding have files of their own."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.permissions import uses_of
from brasstag.engine.calls.quote import count_characters, quote
from brasstag.engine.calls.types import Extra, Failing, Foreseen, Landing, Phase, Previewed
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.sandbox.workspace.change.recheck import Recheck
from brasstag.store.contents.versions import reason_of
from brasstag.store.store import ExtraRows
from brasstag.store.tasks.ledger import Claimed, open_claims
from brasstag.store.tasks.permissions import PermissionUse
from brasstag.store.tasks.writer import Payload
from brasstag.toolkit.tool import Tool
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call, Failed, Settled, Tag, Unknown, as_stored
from brasstag.words.canonical import stored_json, type_name, why_not_json
from brasstag.words.errors import Code, StoreError, StoreLost
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change, Preview
from brasstag.words.verdicts import Verdict

LONGEST_INPUT = 64_000
"""How much of a refused call is written down; beyond this it is quoted in part, so refusals cannot fill a disk."""
QUOTED = 2000


def refusal(
    runtime: Runtime, call: Call, failed: Failed, phase: Phase | None = None, verdict: Verdict | None = None
) -> Settled:
    """Record a call that was not admitted, or that a rule denies."""
    payload = _attempted(call, runtime.registry.get(call.tool))
    if phase is not None and verdict is not None:
        payload |= _judged(phase.preview, verdict, phase.admitted.tool)
    return _write(runtime, call, EntryKind.REFUSED, payload, failed)


def failure(runtime: Runtime, phase: Phase, verdict: Verdict, failed: Failed) -> Settled:
    """Record a call that was judged and failed before it acted."""
    call, tool = phase.admitted.call, phase.admitted.tool
    payload = _proposed(call, tool) | _judged(phase.preview, verdict, tool)
    return _write(runtime, call, EntryKind.CALLED, payload, failed)


def late(runtime: Runtime, admitted: Admitted, ending: Settled, grant: Grant | None) -> Settled:
    """Record a call whose function did not come back from its draft in time; nothing it changed is kept."""
    payload = _proposed(admitted.call, admitted.tool)
    approval_id = grant.approval_id if grant else None
    if approval_id is not None:
        payload["approval"] = approval_id
    if grant is not None and grant.permissions:
        payload["verdict"] = grant.verdict.as_json()
    return _write(runtime, admitted.call, EntryKind.CALLED, payload, ending, approval_id)


def called(
    runtime: Runtime, grant: Grant, phase: Phase, ending: Settled, extra: Extra | None = None
) -> Settled:
    """Record a granted call that changed no file, with what else it writes in the same commit."""
    ending = _told(phase, ending)
    payload = about(grant, phase) | (extra.said if extra else {})
    rows = extra.write if extra else None
    uses = uses_of(runtime, grant)
    return _write(runtime, grant.call, EntryKind.CALLED, payload, ending, grant.approval_id, rows, uses)


def landed(runtime: Runtime, phase: Landing, verdict: Verdict, approval: Approval) -> Settled:
    """Record an approved call whose changes are on disk already."""
    payload = proposed(phase, phase.preview, verdict) | {"approval": approval.id}
    return _write(runtime, phase.admitted.call, EntryKind.CALLED, payload, phase.ending, approval.id)


def about(grant: Grant, phase: Phase) -> Payload:
    """Return what every entry of a granted call says: what was asked for, how it was judged, and by which approval."""
    payload = proposed(phase, grant.preview, grant.verdict)
    return payload | ({"approval": grant.approval_id} if grant.approval_id is not None else {})


def proposed(phase: Phase, preview: Preview, verdict: Verdict) -> Payload:
    """Return what a call asks for, and how it was judged."""
    return _proposed(phase.admitted.call, phase.admitted.tool) | judged(phase, preview, verdict)


def judged(phase: Phase, preview: Preview, verdict: Verdict) -> Payload:
    """Return how a call was judged; of one whose changes are to land, also how running it was judged."""
    said = _judged(preview, verdict, phase.admitted.tool)
    return said if phase.ran is None else said | {"ran": phase.ran}


def claim(
    runtime: Runtime,
    grant: Grant,
    phase: Foreseen | Failing | Previewed | Landing,
    changes: tuple[Change, ...],
) -> Claimed:
    """Claim a granted call before it acts: its intent, the leases on its paths, and its approval, used up.

    The permissions it was allowed by are checked once more.
    """
    payload = proposed(phase, grant.preview, grant.verdict)
    payload |= {"result": None, "approval": grant.approval_id, "tool_version": grant.tool_version}
    if not isinstance(phase, Foreseen):
        # What recovery records as the end of the call if this process dies before it can.
        payload["intended"] = as_stored(_told(phase, phase.ending))
    try:
        recheck = Recheck(runtime.workspace, changes)
        uses = uses_of(runtime, grant)
        return runtime.store.claim(grant.call, changes, grant.approval_id, payload, recheck, uses)
    except StoreLost:
        if not grant.call.epoch:
            # No worker comes back to a call of a desk. Its caller is told that nothing was done; make it so.
            runtime.in_flight.unsettled.append(partial(_give_up_claim, runtime, grant.call, phase))
        raise


def settle(
    runtime: Runtime,
    claimed: Claimed,
    grant: Grant,
    phase: Phase,
    ending: Settled,
    made: tuple[Change, ...],
) -> Settled:
    """Settle a claimed call; only then is its outcome returned."""
    ending = _told(phase, ending)
    call = grant.call
    payload = _settled(phase, call, ending, made)
    why = reason_of(call.tool, call.arguments)
    write = partial(runtime.store.settle, claimed, payload, made, call.role, why)
    try:
        tag = write()
    except StoreError as error:
        runtime.in_flight.unsettled.append(write)
        return Unknown(
            f"it ran, but its end could not be written down: {error} It is tried again with the next call."
        )
    runtime.at("settled")
    if made and runtime.library is not None:
        runtime.library.refresher.look_at_touched()
    return replace(ending, tag=tag)


def _settled(phase: Phase, call: Call, ending: Settled, made: tuple[Change, ...]) -> Payload:
    return {
        "type": phase.admitted.tool.config.type.value,
        "tool": call.tool,
        "changes": [change.as_json() for change in made],
    } | as_stored(ending)


def _give_up_claim(runtime: Runtime, call: Call, phase: Phase) -> Tag | None:
    """Settle a claim that may have been stored although its commit was not confirmed; nothing was done for it."""
    claims = runtime.store.read(lambda view: [one for one in open_claims(view) if one.call_id == call.id])
    if not claims:
        return None
    never = Failed(Code.INTERNAL_ERROR, "nothing was done, as it could not be written down")
    return runtime.store.settle(claims[0], _settled(phase, call, never, ()), (), call.role, call.tool)


def _write(
    runtime: Runtime,
    call: Call,
    kind: EntryKind,
    payload: Payload,
    ending: Settled,
    approval_id: str | None = None,
    rows: ExtraRows | None = None,
    uses: tuple[PermissionUse, ...] = (),
) -> Settled:
    tag = runtime.store.record(call, kind, payload | as_stored(ending), approval_id, rows, uses)
    return replace(ending, tag=tag)


def _told(phase: Phase, ending: Settled) -> Settled:
    """Return an ending with what its caller has to be told besides."""
    return ending if phase.edited is None else replace(ending, meta={**ending.meta, "edited": phase.edited})


def _proposed(call: Call, tool: Tool) -> Payload:
    """Return what an admitted call asks for, and who asks."""
    payload: Payload = {
        "type": tool.config.type.value,
        "tool": call.tool,
        "input": dict(call.arguments),
        "actor": call.actor,
        "role": call.role,
    }
    if call.repaired:
        payload["repaired"] = call.repaired
    return payload


def _attempted(call: Call, tool: Tool | None) -> Payload:
    """Return what a call asked for that was not admitted: its arguments may be anything at all."""
    return {
        "type": tool.config.type.value if tool else "unknown",
        "tool": tool.name if tool else call.tool,
        "input": _writable(call.arguments),
        "actor": call.actor,
        "role": call.role,
    }


def _writable(arguments: Any) -> Any:
    """Return arguments as they can be written down: what is not JSON, or is endless, is quoted in part."""
    try:
        return _written(arguments)
    except BaseException:  # noqa: BLE001 - a caller's own type may raise anything, and this thread is ours
        return {"unreadable": f"<{type_name(arguments)}>", "characters": 0}


def _written(arguments: Any) -> Any:
    characters = count_characters(arguments)
    if characters <= LONGEST_INPUT and why_not_json(arguments) is None:
        written = stored_json(arguments)
        if len(written) <= LONGEST_INPUT:
            # Read back, because a caller's own type may say something else the next time.
            return json.loads(written)
    return {
        "unreadable": quote(arguments, QUOTED).encode("utf-8", "backslashreplace").decode(),
        "characters": characters,
    }


def _judged(preview: Preview, verdict: Verdict, tool: Tool) -> Payload:
    """Return what it would do, and what the rules said; enough to ask a changed policy the same question later."""
    return {
        "preview": {name: value for name, value in preview.as_json().items() if value},
        "verdict": verdict.as_json(),
        "effects": tool.config.effects,
    }
