"""Performing a granted call: claim, act, settle. Nothing here takes a call; it takes the grant."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from brasstag.engine import payloads
from brasstag.engine.looking import Looked, veil
from brasstag.engine.running import run_function
from brasstag.engine.shop import Shop
from brasstag.policy.grants import Grant
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.effects import apply_changes
from brasstag.sandbox.workspace.errors import Unsettled
from brasstag.store.ledger import Claimed
from brasstag.toolkit.kinds import ToolType
from brasstag.words.calls import Done, Failed, Settled, Unknown
from brasstag.words.errors import StoreError, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change

Performer = Callable[[Shop, Grant, Looked], Awaitable[Settled]]


async def perform(shop: Shop, grant: Grant, looked: Looked) -> Settled:
    """Run a granted call by its kind and return only what is on the timeline."""
    return await PERFORMERS[looked.admitted.tool.config.type](shop, grant, looked)


async def _run_code(shop: Shop, grant: Grant, looked: Looked) -> Settled:
    if looked.ending is None:
        # The caller may go away; the claim must still be settled.
        return await asyncio.shield(asyncio.ensure_future(_act_outside(shop, grant, looked)))
    if grant.approval_id is None and not grant.preview.changes:
        return await _write_down(shop, grant, looked)
    # One worker does all four steps, and goes on when the caller stops waiting.
    return await shop.threads.run(_act_on_files, shop, grant, looked)


async def _write_down(shop: Shop, grant: Grant, looked: Looked) -> Settled:
    assert looked.ending is not None  # noqa: S101 - calls that have not run go through _act_outside
    payload = (
        payloads.proposed(grant.call, looked.admitted.tool)
        | payloads.judged(grant.preview, grant.verdict, looked.admitted.tool)
        | payloads.closed(looked.ending)
    )
    tag = await shop.threads.run(shop.books.record, grant.call, EntryKind.CALLED, payload)
    return replace(looked.ending, tag=tag)


async def _hand_off(shop: Shop, grant: Grant, looked: Looked) -> Settled:
    settled = await _write_down(shop, grant, looked)
    if isinstance(settled, Done):
        end = {"type": ToolType.HANDOFF.value, "tool": grant.call.tool, "input": dict(grant.call.arguments)}
        await shop.threads.run(shop.books.close_task, grant.call.task_id, "done", end, "handoff")
    return settled


PERFORMERS: dict[ToolType, Performer] = {
    ToolType.FUNCTION_TOOL: _run_code,
    ToolType.NON_FUNCTION_TOOL: _write_down,
    ToolType.HANDOFF: _hand_off,
}
"""How each kind a desk can perform is performed; a test holds it equal to looking.PERFORMABLE."""


def _act_on_files(shop: Shop, grant: Grant, looked: Looked) -> Settled:
    """Blobs to disk, claim, change the files, settle."""
    ending = looked.ending
    assert ending is not None and looked.draft is not None  # noqa: S101, PT018 - the look ran this call
    changes = grant.preview.changes if isinstance(ending, Done) else ()
    if changes:
        looked.draft.persist()
        shop.at("persisted")
    claimed = _claim(shop, grant, looked, changes)
    shop.at("claimed")
    made = changes
    try:
        apply_changes(shop.workspace, grant.call.id, changes, shop.at)
    except ToolError as error:
        ending, made = Failed(error.code, error.message, error.details, ending.meta), ()
    except Unsettled as error:
        ending, made = Unknown(str(error), error.details, ending.meta), ()
    shop.at("performed")
    return settle(shop, claimed, grant, looked, ending, made)


async def _act_outside(shop: Shop, grant: Grant, looked: Looked) -> Settled:
    """Claim, run, settle: what a preview could not see."""
    claimed = await shop.threads.run(_claim, shop, grant, looked, ())
    shop.at("claimed")
    draft = Draft(shop.workspace, writable=False, hidden=veil(shop, looked.admitted.tool))
    ending = await run_function(shop, looked.admitted, draft)
    shop.at("performed")
    return await shop.threads.run(settle, shop, claimed, grant, looked, ending, ())


def _claim(shop: Shop, grant: Grant, looked: Looked, changes: tuple[Change, ...]) -> Claimed:
    payload = payloads.proposed(grant.call, looked.admitted.tool) | payloads.judged(
        grant.preview, grant.verdict, looked.admitted.tool
    )
    payload["result"] = None
    payload["approval"] = grant.approval_id
    payload["tool_version"] = grant.tool_version
    if looked.ending is not None:
        # What recovery will say of the call, should this process not live to say it.
        payload["intended"] = payloads.closed(looked.ending)
    return shop.books.claim(grant.call, changes, grant.approval_id, payload)


def settle(
    shop: Shop, claimed: Claimed, grant: Grant, looked: Looked, ending: Settled, made: tuple[Change, ...]
) -> Settled:
    """Write the ending down; only then does it leave."""
    payload = {
        "type": looked.admitted.tool.config.type.value,
        "tool": grant.call.tool,
        "changes": [change.as_json() for change in made],
    }
    try:
        tag = shop.books.settle(
            claimed, payload | payloads.closed(ending), made, grant.call.role, grant.call.tool
        )
    except StoreError as error:
        return Unknown(
            f"it ran, but its end could not be written down: {error} Opening the room again settles it."
        )
    shop.at("settled")
    return replace(ending, tag=tag)
