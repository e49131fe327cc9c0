"""Performing a granted call: claim, act, settle. Nothing here takes a call; it takes the grant."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from brasstag.engine import payloads
from brasstag.engine.beside import BESIDE, written_beside
from brasstag.engine.confined import is_landing, not_landed
from brasstag.engine.delegating import ask_master, delegate, hand_off
from brasstag.engine.looking import Looked, draft_for
from brasstag.engine.patches import drop_patch
from brasstag.engine.running import run_function, timed_out
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.policy.grants import Grant
from brasstag.sandbox.workspace.effects import apply_changes
from brasstag.sandbox.workspace.errors import Unsettled
from brasstag.store.ledger import Claimed, open_claims
from brasstag.store.tasks import ENDED, status_of
from brasstag.toolkit.kinds import ToolType
from brasstag.words.calls import Call, Done, Failed, Outcome, Settled, Tag, Unknown
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change

log = logging.getLogger("brasstag")

FRESH_SECONDS = 2.0
"""How long a claim may act without looking whether its task still stands."""

Performer = Callable[[Shop, Grant, Looked, Watch], Outcome]


def perform(shop: Shop, grant: Grant, looked: Looked, watch: Watch) -> Outcome:
    """Run a granted call by its kind and return only what is on the timeline."""
    return PERFORMERS[looked.admitted.tool.config.type](shop, grant, looked, watch)


def _run_code(shop: Shop, grant: Grant, looked: Looked, watch: Watch) -> Settled:
    if looked.ending is None:
        return _act_outside(shop, grant, looked, watch)
    acts = grant.approval_id is not None and grant.call.tool not in BESIDE
    if not acts and not grant.preview.changes:
        return _write_down(shop, grant, looked, watch)
    return _act_on_files(shop, grant, looked)


def _write_down(shop: Shop, grant: Grant, looked: Looked, _watch: Watch) -> Settled:
    assert looked.ending is not None  # noqa: S101 - calls that have not run go through _act_outside
    ending = looked.told(looked.ending)
    payload = (
        payloads.proposed(grant.call, looked.admitted.tool)
        | looked.judged(grant.preview, grant.verdict)
        | payloads.closed(ending)
    )
    if grant.approval_id is not None:
        payload["approval"] = grant.approval_id
    beside = written_beside(shop, grant) if isinstance(ending, Done) else None
    tag = shop.books.record(grant.call, EntryKind.CALLED, payload, grant.approval_id, beside)
    return replace(ending, tag=tag)


PERFORMERS: dict[ToolType, Performer] = {
    ToolType.FUNCTION_TOOL: _run_code,
    ToolType.NON_FUNCTION_TOOL: _write_down,
    ToolType.HANDOFF: hand_off,
    ToolType.AGENT_AS_TOOL: delegate,
    ToolType.ASK_MASTER: ask_master,
}
"""How each kind is performed; a test holds it equal to looking.PERFORMABLE."""


def _act_on_files(shop: Shop, grant: Grant, looked: Looked) -> Settled:
    """Blobs to disk, claim, change the files, settle."""
    ending = looked.ending
    assert ending is not None and looked.draft is not None  # noqa: S101, PT018 - the look ran this call
    changes = grant.preview.changes if isinstance(ending, Done) else ()
    if changes:
        looked.draft.persist()
        shop.at("persisted")
    claimed = _claim(shop, grant, looked, changes)
    stands = Stands(shop, claimed)
    shop.at("claimed")
    made = changes
    try:
        apply_changes(shop.workspace, grant.call.id, changes, shop.at, stands)
        if is_landing(looked):
            drop_patch(shop.patches, grant.call.id)
    except (ToolError, StoreError) as error:
        failed = replace(_not_begun(error), meta=ending.meta)
        ending, made = not_landed(shop, looked, failed), ()
    except Unsettled as error:
        ending, made = Unknown(str(error), error.details, ending.meta), ()
    except Exception as error:
        # A claim that is never settled would hold its paths for as long as this process lives.
        log.exception("applying the changes of %s failed", grant.call.id)
        ending, made = Unknown(f"changing the files failed in an unforeseen way: {type(error).__name__}"), ()
    shop.at("performed")
    return _settle(shop, claimed, grant, looked, ending, made)


def _act_outside(shop: Shop, grant: Grant, looked: Looked, watch: Watch) -> Settled:
    """Claim, run, settle: what a preview could not see."""
    claimed = _claim(shop, grant, looked, ())
    stands = Stands(shop, claimed)
    shop.at("claimed")
    admitted = replace(looked.admitted, outside=True)
    try:
        stands()
    except (ToolError, StoreError) as error:
        return _settle(shop, claimed, grant, looked, _not_begun(error), ())
    draft = draft_for(shop, admitted, granted=looked.preview)

    def late() -> Settled:
        return _settle(shop, claimed, grant, looked, timed_out(admitted, watch), ())

    ending = run_function(shop, admitted, draft, watch, late)
    shop.at("performed")
    return _settle(shop, claimed, grant, looked, ending, ())


def _not_begun(error: ToolError | StoreError) -> Failed:
    if isinstance(error, ToolError):
        return Failed.by(error)
    return Failed(
        Code.INTERNAL_ERROR,
        f"nothing was changed, as nobody could say whether its task still stands: {error}",
    )


class Stands:
    """Asked before each step of a call that acts: a process that was stopped may wake when its task has moved on.

    A young claim stands: nobody ends its task and believes it ended within that time. An older one looks.
    """

    def __init__(self, shop: Shop, claimed: Claimed) -> None:
        self._shop = shop
        self._claimed = claimed
        self._until = time.monotonic() + FRESH_SECONDS

    def __call__(self) -> None:
        """Let the next step happen, or raise ToolError where the call must not act any more."""
        if time.monotonic() >= self._until:
            status = self._shop.books.read(lambda view: status_of(view, self._claimed.task_id))
            if status in ENDED:
                raise ToolError(Code.CANCELLED, "its task ended before it acted; nothing was changed")
            self._until = time.monotonic() + FRESH_SECONDS


def _claim(shop: Shop, grant: Grant, looked: Looked, changes: tuple[Change, ...]) -> Claimed:
    payload = payloads.proposed(grant.call, looked.admitted.tool)
    payload |= looked.judged(grant.preview, grant.verdict)
    payload["result"] = None
    payload["approval"] = grant.approval_id
    payload["tool_version"] = grant.tool_version
    if looked.ending is not None:
        # What recovery will say of the call, should this process not live to say it.
        payload["intended"] = payloads.closed(looked.told(looked.ending))
    try:
        return shop.books.claim(grant.call, changes, grant.approval_id, payload)
    except StoreLost:
        if not grant.call.epoch:
            # Nobody comes back to a call of a desk, and its caller is told that nothing was done: so it shall be.
            shop.unsettled.append(partial(_give_up_claim, shop, grant.call))
        raise


def _give_up_claim(shop: Shop, call: Call) -> Tag | None:
    """Settle a claim that may have arrived although nobody heard so; nothing was done for it."""
    claims = shop.books.read(lambda view: [one for one in open_claims(view) if one.call_id == call.id])
    if not claims:
        return None
    never = Failed(Code.INTERNAL_ERROR, "nothing was done, as it could not be written down")
    said = {"type": EntryKind.SETTLED.value, "tool": call.tool, "changes": []} | payloads.closed(never)
    return shop.books.settle(claims[0], said, (), call.role, call.tool)


def _settle(
    shop: Shop, claimed: Claimed, grant: Grant, looked: Looked, ending: Settled, made: tuple[Change, ...]
) -> Settled:
    """Write the ending down; only then does it leave."""
    ending = looked.told(ending)
    payload = {
        "type": looked.admitted.tool.config.type.value,
        "tool": grant.call.tool,
        "changes": [change.as_json() for change in made],
    }
    write = partial(
        shop.books.settle, claimed, payload | payloads.closed(ending), made, grant.call.role, grant.call.tool
    )
    try:
        tag = write()
    except StoreError as error:
        shop.unsettled.append(write)
        return Unknown(
            f"it ran, but its end could not be written down: {error} It is tried again with the next call."
        )
    shop.at("settled")
    if made and shop.library is not None:
        shop.library.refresher.look_at_touched()
    return replace(ending, tag=tag)
