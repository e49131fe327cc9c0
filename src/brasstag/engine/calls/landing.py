"""Calls that run before their changes are known, such as confined code; their changes are judged, then land.

Such a call runs only on a draft. What it changed is judged before it lands. Until the landing has been claimed, nothing
has happened, and a crash leaves nothing behind.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from brasstag.engine import entries
from brasstag.engine.calls import record
from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.conflicts import with_conflicts
from brasstag.engine.calls.function import run_function
from brasstag.engine.calls.patches import drop_patch, keep_patch
from brasstag.engine.calls.preview import draft_for, too_late
from brasstag.engine.calls.types import Looked
from brasstag.engine.deadline import Deadline, LeftBehind
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.policy.profiles import CODE_EFFECTS
from brasstag.sandbox.workspace.draft import Draft
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call, Done, Failed, Settled
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change, Preview
from brasstag.words.verdicts import Verdict

ALREADY_THERE = "what it changed was there already, so nothing was left to change"


def has_to_run(looked: Looked) -> bool:
    """Say whether a granted call has to run before it is known what it would change."""
    return looked.drafts and looked.ending is None


def run_on_draft(runtime: Runtime, grant: Grant, looked: Looked, deadline: Deadline) -> Looked:
    """Run a granted call that only drafts, and return what it would change, and how it would end."""
    admitted = looked.admitted
    draft = draft_for(runtime, admitted, writable=True, granted=looked.preview)

    def late() -> Settled:
        _require_caller_or_desk(admitted.call, deadline)
        return too_late(runtime, admitted, draft, deadline, approval_id=grant.approval_id)

    with deadline.drafting():
        ending = run_function(runtime, admitted, draft, deadline, late)
    _require_caller_or_desk(admitted.call, deadline)
    preview = _landing_preview(runtime, admitted, draft)
    if isinstance(ending, Failed) and "refused" in ending.details and preview.changes:
        # Part of what it changed cannot land, so nothing lands; the other changes are kept as a patch.
        kept = _kept(runtime, replace(looked, preview=preview))
        ending = replace(ending, details={**ending.details, **kept})
    if isinstance(ending, Done):
        ending = _unless_changed(ending, looked.coming, preview.changes)
    if isinstance(ending, Done) and deadline.is_unwanted:
        said = "it ran, but whoever called had gone; nothing it changed was kept"
        ending = Failed(Code.CANCELLED, said, {"ran": ending.value}, ending.meta)
    return replace(looked, draft=draft, ending=ending, preview=preview)


def _require_caller_or_desk(call: Call, deadline: Deadline) -> None:
    """Raise LeftBehind for a draft of a worker that gave its task back: the next worker of the task runs it again."""
    if deadline.is_unwanted and call.epoch:
        raise LeftBehind


def require_unrun(runtime: Runtime, approval: Approval) -> None:
    """Raise ToolError where an approval is about changes: the call has run, and other arguments would be another call."""
    if "intended" in _asked(runtime, approval):
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"{approval.call_id} has run, and what it changed can land or not; to run it otherwise, deny it and call again",
        )


def look_again(runtime: Runtime, admitted: Admitted, approval: Approval) -> Looked | None:
    """Return what an approval that waited for changes to land is about, as they would land now; None for any other."""
    asked = _asked(runtime, approval)
    if "intended" not in asked:
        return None
    draft = draft_for(runtime, admitted, writable=True)
    try:
        draft.stage_again(approval.preview.changes)
    finally:
        draft.close()
    preview = _landing_preview(runtime, admitted, draft)
    ending = _told_anew(entries.reopened(asked["intended"]), approval.preview, preview)
    return Looked(admitted, preview, draft, ending, ran=asked.get("ran", {}))


def record_landed(runtime: Runtime, again: Looked, verdict: Verdict, approval: Approval) -> Settled:
    """End an approved call whose changes were made by others meanwhile: nothing is left to change."""
    call, ending = again.admitted.call, again.ending
    assert isinstance(ending, Done)  # noqa: S101 - only what has run has changes
    if isinstance(ending.value, Mapping) and "changes" in ending.value:
        notes = [*ending.value.get("notes", ()), ALREADY_THERE]
        ending = replace(ending, value={**ending.value, "notes": notes})
    drop_patch(runtime.patches, call.id)
    return record.landed(runtime, again, verdict, approval, ending)


def landing(runtime: Runtime, ran: Looked) -> entries.Payload:
    """Return what a request to let changes land has to remember: how the call ended, and where its patch is."""
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    return entries.closed(replace(ran.ending, meta={**ran.ending.meta, **_kept(runtime, ran)}))


def refused(runtime: Runtime, ran: Looked, verdict: Verdict) -> Looked:
    """Return how a call ends whose changes a rule denies: it ran, and nothing of it lands."""
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    if ran.draft is not None:
        ran.draft.persist()
    details = {"rule": verdict.rule, "ran": ran.ending.value, **_kept(runtime, ran)}
    said = f"it ran, but nothing it changed was kept: {verdict.because}"
    return replace(ran, ending=Failed(Code.BLOCKED_BY_RULE, said, details, ran.ending.meta))


def not_landed(runtime: Runtime, ran: Looked, failed: Failed) -> Failed:
    """Return how a call ends whose changes could not be made: where it ran for them, with its result and its patch."""
    if not is_landing(ran):
        return failed
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    return replace(failed, details={**failed.details, "ran": ran.ending.value, **_kept(runtime, ran)})


def _kept(runtime: Runtime, ran: Looked) -> dict[str, str]:
    name = keep_patch(runtime.patches, ran.admitted.call.id, ran.preview.changes, runtime.store.blobs)
    return {"patch": name} if name else {}


def _told_anew(ending: Settled, asked: Preview, now: Preview) -> Settled:
    """Return the ending of a run as it is now: it names the changes that would land, and no patch."""
    meta = {name: value for name, value in ending.meta.items() if name != "patch"}
    if isinstance(ending, Done) and isinstance(ending.value, Mapping):
        value = ending.value
        if value.get("changes") == asked.told_changes:
            value = {**value, "changes": now.told_changes}
        return replace(ending, value=value, meta=meta)
    return replace(ending, meta=meta)


def _landing_preview(runtime: Runtime, admitted: Admitted, draft: Draft) -> Preview:
    drafted = draft.preview()
    preview = Preview(changes=drafted.changes, notes=drafted.notes)
    # Code sees the files that it changes; what other tools save comes from elsewhere.
    is_code = admitted.tool.config.effects == CODE_EFFECTS
    return preview if is_code else with_conflicts(runtime, admitted.call, preview)


def _unless_changed(done: Done, coming: Sequence[Change], made: Sequence[Change]) -> Settled:
    """Return the ending of a run, or why it cannot land: a file it was to write has changed since it began."""
    expected = {change.path: change.before for change in coming}
    for change in made:
        if expected.get(change.path, change.before) != change.before:
            said = f"{change.path} changed while the call ran; nothing was written, so look at it, and call again"
            return Failed(Code.CHANGED, said, {"path": change.path}, done.meta)
    return done


def _asked(runtime: Runtime, approval: Approval) -> entries.Payload:
    """Return what the proven timeline says an approval was asked for."""
    for entry in runtime.store.proven(approval.task_id):
        payload = entry.payload or {}
        if entry.kind is EntryKind.ASKED and payload.get("approval") == approval.id:
            return payload
    return {}


def is_landing(looked: Looked) -> bool:
    """Say whether a look is at what a call that has run would change."""
    return looked.ran is not None and isinstance(looked.ending, Done)
