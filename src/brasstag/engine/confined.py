"""Calls that have to run before anybody knows what they change, such as confined code.

To run one is only to draft. What it changed is judged before it lands; until that has been claimed nothing has happened,
and a crash leaves nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from brasstag.engine import payloads
from brasstag.engine.conflicts import with_conflicts
from brasstag.engine.looking import Looked, draft_for, too_late
from brasstag.engine.patches import drop_patch, keep_patch
from brasstag.engine.running import Admitted, run_function
from brasstag.engine.shop import Shop
from brasstag.engine.watch import LeftBehind, Watch
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


def run_on_draft(shop: Shop, grant: Grant, looked: Looked, watch: Watch) -> Looked:
    """Run a granted call that only drafts, and return what it would change, and how it would end."""
    admitted = looked.admitted
    draft = draft_for(shop, admitted, writable=True, granted=looked.preview)

    def late() -> Settled:
        _require_caller_or_desk(admitted.call, watch)
        return too_late(shop, admitted, draft, watch, approval_id=grant.approval_id)

    with watch.drafting():
        ending = run_function(shop, admitted, draft, watch, late)
    _require_caller_or_desk(admitted.call, watch)
    preview = _landing_preview(shop, admitted, draft)
    if isinstance(ending, Failed) and "refused" in ending.details and preview.changes:
        # Part of what it changed cannot land, so nothing does; the rest of it is there to be read.
        kept = _kept(shop, replace(looked, preview=preview))
        ending = replace(ending, details={**ending.details, **kept})
    if isinstance(ending, Done):
        ending = _unless_changed(ending, looked.coming, preview.changes)
    if isinstance(ending, Done) and watch.is_unwanted:
        said = "it ran, but whoever called had gone; nothing it changed was kept"
        ending = Failed(Code.CANCELLED, said, {"ran": ending.value}, ending.meta)
    return replace(looked, draft=draft, ending=ending, preview=preview)


def _require_caller_or_desk(call: Call, watch: Watch) -> None:
    """Raise LeftBehind for a draft of a worker that gave its task back: whoever holds the task next runs it again."""
    if watch.is_unwanted and call.epoch:
        raise LeftBehind


def require_unrun(shop: Shop, approval: Approval) -> None:
    """Raise ToolError where an approval is about changes: the call has run, and other arguments would be another call."""
    if "intended" in _asked(shop, approval):
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"{approval.call_id} has run, and what it changed can land or not; to run it otherwise, deny it and call again",
        )


def look_again(shop: Shop, admitted: Admitted, approval: Approval) -> Looked | None:
    """Return what an approval that waited for changes to land is about, as they would land now; None for any other."""
    asked = _asked(shop, approval)
    if "intended" not in asked:
        return None
    draft = draft_for(shop, admitted, writable=True)
    try:
        draft.stage_again(approval.preview.changes)
    finally:
        draft.close()
    preview = _landing_preview(shop, admitted, draft)
    ending = _told_anew(payloads.reopened(asked["intended"]), approval.preview, preview)
    return Looked(admitted, preview, draft, ending, ran=asked.get("ran", {}))


def record_landed(shop: Shop, again: Looked, verdict: Verdict, approval: Approval) -> Settled:
    """End an approved call whose changes somebody else has made meanwhile: nothing is left to change."""
    call, ending = again.admitted.call, again.ending
    assert isinstance(ending, Done)  # noqa: S101 - only what has run has changes
    if isinstance(ending.value, Mapping) and "changes" in ending.value:
        notes = [*ending.value.get("notes", ()), ALREADY_THERE]
        ending = replace(ending, value={**ending.value, "notes": notes})
    drop_patch(shop.patches, call.id)
    payload = payloads.proposed(call, again.admitted.tool) | again.judged(again.preview, verdict)
    payload |= payloads.closed(ending) | {"approval": approval.id}
    return replace(ending, tag=shop.books.record(call, EntryKind.CALLED, payload, approval.id))


def landing(shop: Shop, ran: Looked) -> payloads.Payload:
    """Return what a request to let changes land has to remember: how the call ended, and where its patch is."""
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    return payloads.closed(replace(ran.ending, meta={**ran.ending.meta, **_kept(shop, ran)}))


def refused(shop: Shop, ran: Looked, verdict: Verdict) -> Looked:
    """Return how a call ends whose changes a rule denies: it ran, and nothing of it lands."""
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    if ran.draft is not None:
        ran.draft.persist()
    details = {"rule": verdict.rule, "ran": ran.ending.value, **_kept(shop, ran)}
    said = f"it ran, but nothing it changed was kept: {verdict.because}"
    return replace(ran, ending=Failed(Code.BLOCKED_BY_RULE, said, details, ran.ending.meta))


def not_landed(shop: Shop, ran: Looked, failed: Failed) -> Failed:
    """Return how a call ends whose changes could not be made: where it ran for them, what it said and its patch are told."""
    if not is_landing(ran):
        return failed
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    return replace(failed, details={**failed.details, "ran": ran.ending.value, **_kept(shop, ran)})


def _kept(shop: Shop, ran: Looked) -> dict[str, str]:
    name = keep_patch(shop.patches, ran.admitted.call.id, ran.preview.changes, shop.books.blobs)
    return {"patch": name} if name else {}


def _told_anew(ending: Settled, asked: Preview, now: Preview) -> Settled:
    """Return the ending of a run as it is now: what it says it changed is what would land, and no patch is spoken of."""
    meta = {name: value for name, value in ending.meta.items() if name != "patch"}
    if isinstance(ending, Done) and isinstance(ending.value, Mapping):
        value = ending.value
        if value.get("changes") == asked.told_changes:
            value = {**value, "changes": now.told_changes}
        return replace(ending, value=value, meta=meta)
    return replace(ending, meta=meta)


def _landing_preview(shop: Shop, admitted: Admitted, draft: Draft) -> Preview:
    drafted = draft.preview()
    preview = Preview(changes=drafted.changes, notes=drafted.notes)
    # Code has what it changes before it; whatever else is saved comes from elsewhere.
    is_code = admitted.tool.config.effects == CODE_EFFECTS
    return preview if is_code else with_conflicts(shop, admitted.call, preview)


def _unless_changed(done: Done, coming: Sequence[Change], made: Sequence[Change]) -> Settled:
    """Return the ending of a run, or why it cannot land: a file it was to write is not the one it was when it began."""
    expected = {change.path: change.before for change in coming}
    for change in made:
        if expected.get(change.path, change.before) != change.before:
            said = f"{change.path} changed while the call ran; nothing was written, so look at it, and call again"
            return Failed(Code.CHANGED, said, {"path": change.path}, done.meta)
    return done


def _asked(shop: Shop, approval: Approval) -> payloads.Payload:
    """Return what the proven timeline says an approval was asked for."""
    for entry in shop.books.proven(approval.task_id):
        payload = entry.payload or {}
        if entry.kind is EntryKind.ASKED and payload.get("approval") == approval.id:
            return payload
    return {}


def is_landing(looked: Looked) -> bool:
    """Say whether a look is at what a call that has run would change."""
    return looked.ran is not None and isinstance(looked.ending, Done)
