"""Calls that run before their changes are known, such as confined code; their changes are judged, then land.

Such a call runs only on a draft. What it changed is judged before it lands. Until the landing has been claimed, nothing
has happened, and a crash leaves nothing behind.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from brasstag.engine.calls import record
from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.function import run_function
from brasstag.engine.calls.patches import drop_patch, keep_patch
from brasstag.engine.calls.preview import draft_for, too_late, with_conflicts, with_written
from brasstag.engine.calls.types import Failing, Foreseen, Landing, Previewed
from brasstag.engine.in_flight import Deadline, LeftBehind
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.sandbox.workspace.draft import Draft
from brasstag.store.tasks.writer import Payload
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call, Done, Failed, Settled, as_stored, from_stored
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import DIRECTORY, Change, Preview
from brasstag.words.verdicts import Verdict

ALREADY_THERE = "what it changed was there already, so nothing was left to change"


def run_on_draft(
    runtime: Runtime, grant: Grant, phase: Foreseen, deadline: Deadline
) -> Landing | Previewed | Failing:
    """Run a granted call that only drafts, and return what it would change, and how it would end."""
    admitted = phase.admitted
    draft = draft_for(runtime, admitted, writable=True, granted=phase.preview)

    def late() -> Settled:
        _require_caller_or_desk(admitted.call, deadline)
        return too_late(runtime, admitted, draft, deadline, grant=grant)

    ending = run_function(runtime, admitted, draft, deadline, late, only_drafts=True)
    _require_caller_or_desk(admitted.call, deadline)
    preview = _landing_preview(runtime, admitted, draft)
    if isinstance(ending, Failed) and "refused" in ending.details and preview.changes:
        # Part of what it changed cannot land, so nothing lands; the other changes are kept as a patch.
        kept = _kept(runtime, admitted.call, preview)
        ending = replace(ending, details={**ending.details, **kept})
    if isinstance(ending, Done):
        ending = _unless_changed(ending, phase.coming, preview.changes)
    if isinstance(ending, Done) and deadline.caller_left:
        said = "it ran, but its caller had gone; nothing it changed was kept"
        ending = Failed(Code.CANCELLED, said, {"ran": ending.value}, ending.meta)
    if not isinstance(ending, Done):
        return Failing(admitted, preview, ending, edited=phase.edited)
    if not preview.changes:
        return Previewed(admitted, preview, draft, ending, edited=phase.edited)
    ran = record.judged(phase, grant.preview, grant.verdict)
    return Landing(admitted, preview, draft, with_written(ending, preview), ran=ran, edited=phase.edited)


def _require_caller_or_desk(call: Call, deadline: Deadline) -> None:
    """Raise LeftBehind for a draft of a worker that gave its task back: the next worker of the task runs it again."""
    if deadline.caller_left and call.epoch:
        raise LeftBehind


def require_unrun(runtime: Runtime, approval: Approval) -> None:
    """Raise ToolError where an approval is about changes: the call has run, and other arguments would be another call."""
    if "intended" in _asked(runtime, approval):
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"{approval.call_id} has run, and what it changed can land or not; to run it otherwise, deny it and call again",
        )


def look_again(runtime: Runtime, admitted: Admitted, approval: Approval) -> Landing | None:
    """Return what an approval that waited for changes to land is about, as they would land now; None for any other."""
    asked = _asked(runtime, approval)
    ending = from_stored(asked["intended"]) if "intended" in asked else None
    if not isinstance(ending, Done):
        return None
    draft = draft_for(runtime, admitted, writable=True)
    try:
        draft.stage_again(approval.preview.changes)
    finally:
        draft.close()
    preview = _landing_preview(runtime, admitted, draft)
    ending = _told_anew(ending, approval.preview, preview)
    return Landing(admitted, preview, draft, ending, ran=asked.get("ran", {}))


def without_made_directories(runtime: Runtime, ran: Landing) -> Landing | None:
    """Return a run whose changes no longer make directories that other calls have made meanwhile.

    None where anything else has changed as well: what the run did was made of what it saw.
    """
    draft = draft_for(runtime, ran.admitted, writable=True)
    try:
        draft.stage_again(ran.preview.changes)
    except ToolError:
        return None
    finally:
        draft.close()
    preview = _landing_preview(runtime, ran.admitted, draft)
    dropped = set(ran.preview.changes).difference(preview.changes)
    is_rest = len(preview.changes) + len(dropped) == len(ran.preview.changes)
    if not dropped or not is_rest or any(change.after != DIRECTORY for change in dropped):
        return None
    ending = _told_anew(ran.ending, ran.preview, preview)
    return replace(ran, preview=preview, draft=draft, ending=ending)


def record_landed(runtime: Runtime, again: Landing, verdict: Verdict, approval: Approval) -> Settled:
    """End an approved call whose changes were made by others meanwhile: nothing is left to change."""
    ending = again.ending
    if isinstance(ending.value, Mapping) and "changes" in ending.value:
        notes = [*ending.value.get("notes", ()), ALREADY_THERE]
        ending = replace(ending, value={**ending.value, "notes": notes})
    drop_patch(runtime.patches, again.admitted.call.id)
    return record.landed(runtime, replace(again, ending=ending), verdict, approval)


def landing(runtime: Runtime, ran: Landing) -> Payload:
    """Return what a request to let changes land has to remember: how the call ended, and where its patch is."""
    kept = _kept(runtime, ran.admitted.call, ran.preview)
    return as_stored(replace(ran.ending, meta={**ran.ending.meta, **kept}))


def refused(runtime: Runtime, ran: Landing, verdict: Verdict) -> Failing:
    """Return how a call ends whose changes a rule denies: it ran, and nothing of it lands."""
    ran.draft.persist()
    failed = Failed(
        Code.BLOCKED_BY_RULE,
        f"it ran, but nothing it changed was kept: {verdict.because}",
        {"rule": verdict.rule},
        ran.ending.meta,
    )
    return Failing(ran.admitted, ran.preview, not_landed(runtime, ran, failed), edited=ran.edited)


def not_landed(runtime: Runtime, ran: Landing, failed: Failed) -> Failed:
    """Return how a call ends whose changes could not be made: with its result and its patch."""
    kept = _kept(runtime, ran.admitted.call, ran.preview)
    return replace(failed, details={**failed.details, "ran": ran.ending.value, **kept})


def _kept(runtime: Runtime, call: Call, preview: Preview) -> dict[str, str]:
    name = keep_patch(runtime.patches, call.id, preview.changes, runtime.store.blobs)
    return {"patch": name} if name else {}


def _told_anew(ending: Done, asked: Preview, now: Preview) -> Done:
    """Return the ending of a run as it is now: it names the changes that would land, and no patch."""
    meta = {name: value for name, value in ending.meta.items() if name != "patch"}
    value = ending.value
    if isinstance(value, Mapping) and value.get("changes") == asked.told_changes:
        value = {**value, "changes": now.told_changes}
    return with_written(replace(ending, value=value, meta=meta), now)


def _landing_preview(runtime: Runtime, admitted: Admitted, draft: Draft) -> Preview:
    drafted = draft.preview()
    preview = Preview(changes=drafted.changes, notes=drafted.notes)
    # Code sees the files that it changes; what other tools save comes from elsewhere.
    return preview if admitted.tool.runs_code else with_conflicts(runtime, admitted.call, preview)


def _unless_changed(done: Done, coming: Sequence[Change], made: Sequence[Change]) -> Done | Failed:
    """Return the ending of a run, or why it cannot land: a file it was to write has changed since it began."""
    expected = {change.path: change.before for change in coming}
    for change in made:
        if expected.get(change.path, change.before) != change.before:
            said = f"{change.path} changed while the call ran; nothing was written, so look at it, and call again"
            return Failed(Code.CHANGED, said, {"path": change.path}, done.meta)
    return done


def _asked(runtime: Runtime, approval: Approval) -> Payload:
    """Return what the proven timeline says an approval was asked for."""
    for entry in runtime.store.proven(approval.task_id):
        payload = entry.payload or {}
        if entry.kind is EntryKind.ASKED and payload.get("approval") == approval.id:
            return payload
    return {}
