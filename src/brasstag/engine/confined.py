"""Confined code: once granted it runs on a layer over the workspace, and what it changed is judged before it lands.

To run it is only to draft: until its change set has been claimed nothing has happened, and a crash leaves nothing.
"""

from dataclasses import replace
from typing import Any

from brasstag.engine import payloads
from brasstag.engine.looking import Looked, draft_for, too_late
from brasstag.engine.patches import keep_patch
from brasstag.engine.running import Admitted, run_function
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.policy.grants import Grant
from brasstag.policy.profiles import LANDING, ToolFacts
from brasstag.words.approvals import Approval
from brasstag.words.calls import Done, Failed
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from brasstag.words.previews import Preview
from brasstag.words.verdicts import Verdict


def has_to_run(looked: Looked) -> bool:
    """Say whether a granted call has code to run before it is known what it would change."""
    return looked.admitted.tool.config.effects == "code" and looked.ending is None


def run_confined(shop: Shop, grant: Grant, looked: Looked, watch: Watch) -> Looked:
    """Run granted code, and return what it would change, and how it would end."""
    admitted = looked.admitted
    draft = draft_for(shop, admitted)
    ending = run_function(
        shop,
        admitted,
        draft,
        watch,
        lambda: too_late(shop, admitted, draft, watch, approval_id=grant.approval_id),
    )
    return replace(looked, draft=draft, ending=ending, preview=_changes_only(draft.preview()))


def judge_changes(shop: Shop, ran: Looked) -> Verdict:
    """Return the rules' word on what code has changed, as on a call that changes files; that it ran was judged before."""
    call = replace(ran.admitted.call, tool=LANDING, arguments={})
    return shop.rules.judge(call, ran.preview, ToolFacts(LANDING, effects="files"))


def look_again(shop: Shop, admitted: Admitted, approval: Approval) -> Looked | None:
    """Return what an approval that waited for the changes of code is about, as it would land now; None for any other."""
    ran = _ran(shop, approval)
    if ran is None:
        return None
    draft = draft_for(shop, admitted)
    try:
        draft.stage_again(approval.preview.changes)
    finally:
        draft.close()
    ending = payloads.reopened(ran)
    return Looked(admitted, _changes_only(draft.preview()), draft, ending)


def landing(shop: Shop, ran: Looked) -> payloads.Payload:
    """Return what a request to let changes land has to remember: how the code ended, and where its patch is."""
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    return payloads.closed(replace(ran.ending, meta={**ran.ending.meta, **_kept(shop, ran)}))


def refused(shop: Shop, ran: Looked, verdict: Verdict) -> Looked:
    """Return how code ends whose changes a rule denies: it ran, and nothing of it lands."""
    assert isinstance(ran.ending, Done)  # noqa: S101 - only what has run has changes
    if ran.draft is not None:
        ran.draft.persist()
    details = {"rule": verdict.rule, "ran": ran.ending.value, **_kept(shop, ran)}
    said = f"the code ran, but nothing it changed was kept: {verdict.because}"
    return replace(ran, ending=Failed(Code.BLOCKED_BY_RULE, said, details, ran.ending.meta))


def _kept(shop: Shop, ran: Looked) -> dict[str, str]:
    name = keep_patch(shop.patches, ran.admitted.call.id, ran.preview.changes, shop.books.blobs)
    return {"patch": name} if name else {}


def _changes_only(preview: Preview) -> Preview:
    return Preview(changes=preview.changes, notes=preview.notes)


def _ran(shop: Shop, approval: Approval) -> dict[str, Any] | None:
    """Return what the proven timeline says the code came to before its changes were asked about."""
    for entry in shop.books.proven(approval.task_id):
        payload = entry.payload or {}
        if entry.kind is EntryKind.ASKED and payload.get("approval") == approval.id:
            found: dict[str, Any] | None = payload.get("intended")
            return found
    return None


def is_landing(looked: Looked) -> bool:
    """Say whether a look is at what code that has run would change."""
    return looked.admitted.tool.config.effects == "code" and isinstance(looked.ending, Done)
