"""What a dead process left behind: its claims are settled by what the disk shows, its desks are closed.

A claim belongs to a boot, and a boot holds a lock for as long as its process lives. Only claims whose lock is free are
touched.
"""

import logging
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from brasstag.engine import payloads
from brasstag.engine.looking import draft_for
from brasstag.engine.running import Admitted, run_function, scrub, timed_out
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.sandbox.workspace.recover import recover_changes
from brasstag.sandbox.workspace.sweeping import sweep
from brasstag.store.boots import Boot
from brasstag.store.ledger import Claimed, is_unsettled, open_claims
from brasstag.store.tasks import Task, read_tasks
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Done, Failed, Settled, Unknown
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change

log = logging.getLogger("brasstag")

MOST_TRIES = 5
"""How often a call that was cut short is taken up before it is left to a person: running it may kill whoever does."""


@dataclass(slots=True)
class Recovered:
    """What recovery did, for a person to read."""

    calls: list[tuple[str, Settled]] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)

    @property
    def unknown(self) -> list[str]:
        """Calls of which nobody knows whether they happened."""
        return [call_id for call_id, ending in self.calls if isinstance(ending, Unknown)]


def recover(shop: Shop, boot: Boot, watch: Watch) -> Recovered:
    """Settle every claim of a dead boot, close its desks, and sweep its temporary files."""
    found = Recovered()
    claims = shop.books.read(lambda view: list(open_claims(view)))
    dead = [claim for claim in claims if _is_left(shop, claim)]
    for claim in dead:
        ending = _settle_dead(shop, claim, watch)
        if ending is not None:
            found.calls.append((claim.call_id, ending))
    running = shop.books.read(lambda view: read_tasks(view, ("running",)))
    left = [task for task in running if not boot.is_alive(task.boot)]
    found.tasks += [task.id for task in left if _let_go(shop, task)]
    if left or dead:
        # Asked for each name when it is found: a call may have claimed since.
        sweep(shop.workspace, lambda call_id: shop.books.read(lambda view: is_unsettled(view, call_id)))
    boot.sweep()
    if shop.booth is not None:
        shop.booth.sweep()
    return found


def settle_strays(shop: Shop, call_ids: Sequence[str], watch: Watch) -> bool:
    """Settle claims of a held task that nobody is at any more; return whether there were any."""
    claims = shop.books.read(lambda view: [one for one in open_claims(view) if one.call_id in call_ids])
    endings = [_settle_dead(shop, claim, watch) for claim in claims if _is_left(shop, claim)]
    return any(ending is not None for ending in endings)


def _is_left(shop: Shop, claim: Claimed) -> bool:
    """Say whether nobody is at a claim any more.

    One of this very process is left where its commit, or its settling, fell into a time without the database; what is
    known of its end, and could not be written yet, comes first.
    """
    if claim.call_id in shop.active:
        return False
    return not shop.unsettled if claim.boot == shop.boot.id else not shop.boot.is_alive(claim.boot)


def _let_go(shop: Shop, task: Task) -> bool:
    """Give a dead process's task to the next worker; a desk has nobody else, so it is closed."""
    return _close_dead(shop, task) if task.kind == "desk" else shop.books.graph.reclaim(task)


def _close_dead(shop: Shop, task: Task) -> bool:
    end: payloads.Payload = {"type": "root", "tool": "desk", "input": {}}
    end["result"] = {"error": "its process ended without closing it"}
    try:
        shop.books.close_task(task.id, "failed", end)
    except (ToolError, StoreError) as error:
        # Somebody else was faster, or its timeline does not hold; `verify` tells which.
        log.info("%s was not closed: %s", task.id, error)
        return False
    return True


def _settle_dead(shop: Shop, claim: Claimed, watch: Watch) -> Settled | None:
    """Settle one claim, or return None where somebody else does, or where it is not ours to believe."""
    # Before it is ours, so that no other worker of this process takes it for one that was left.
    if shop.active.setdefault(claim.call_id, watch) is not watch:
        return None
    try:
        payload = _claimed_payload(shop, claim)
        ours = shop.books.take_over(claim)
        return None if ours is None else _finish(shop, ours, payload, watch)
    except StoreLost:
        raise
    except StoreError as error:
        log.warning("%s is left alone: %s", claim.call_id, error)
        return Unknown(f"it was left alone, as its record cannot be believed: {error}")
    finally:
        shop.active.pop(claim.call_id, None)


def _finish(shop: Shop, claim: Claimed, payload: dict[str, Any], watch: Watch) -> Settled:
    if claim.changes:
        ending, made = _finish_files(shop, claim, payload)
    elif "intended" in payload:
        # An approved call that changes nothing: what it would have said is all there is to it.
        ending, made = payloads.reopened(payload["intended"]), ()
    else:
        ending, made = _finish_outside(shop, claim, payload, watch), ()
    said = {"type": payload["type"], "tool": claim.tool, "recovered": True}
    said |= {"changes": [change.as_json() for change in made]} | payloads.closed(ending)
    tag = shop.books.settle(claim, said, made, payload["role"], claim.tool)
    return replace(ending, tag=tag)


def _claimed_payload(shop: Shop, claim: Claimed) -> dict[str, Any]:
    """Return what the proven timeline says the call intended; the ledger alone is not believed."""
    for entry in shop.books.proven(claim.task_id):
        if entry.kind is EntryKind.CLAIMED and entry.call_id == claim.call_id:
            intended = (entry.payload or {}).get("preview", {}).get("changes", [])
            if entry.payload is not None and intended == [change.as_json() for change in claim.changes]:
                return entry.payload
    raise StoreError(f"the timeline does not say what {claim.call_id} was about to do")


def _finish_files(shop: Shop, claim: Claimed, payload: dict[str, Any]) -> tuple[Settled, tuple[Change, ...]]:
    recovery = recover_changes(shop.workspace, claim.call_id, claim.changes)
    if recovery.state == "applied":
        return payloads.reopened(payload["intended"]), claim.changes
    if recovery.state == "not_applied":
        return Failed(Code.CHANGED, "its process ended before it acted, and the files have changed since"), ()
    return Unknown(
        "its process ended while it acted, and the files are in neither state", recovery.details
    ), ()


def _finish_outside(shop: Shop, claim: Claimed, payload: dict[str, Any], watch: Watch) -> Settled:
    tool = shop.registry.get(claim.tool)
    if tool is not None and claim.attempt <= MOST_TRIES:
        call = Call(
            claim.call_id, claim.tool, payload["input"], payload["actor"], payload["role"], claim.task_id
        )
        if tool.config.replay == "safe":
            return _run_again(shop, Admitted(call, tool), watch)
        if tool.config.replay == "check" and tool.check is not None:
            return _ask_tool(shop, tool, call)
    return Unknown(
        f"its process ended while {claim.tool} was acting; whether it happened is not known here. "
        "Look at what it acts on, then decide whether to call it again."
    )


def _run_again(shop: Shop, admitted: Admitted, watch: Watch) -> Settled:
    """Run a call that may simply run again, on a thread of its own: opening a room waits for no tool for ever."""
    ended: queue.SimpleQueue[Settled] = queue.SimpleQueue()
    tool, own = admitted.tool, Watch(watch.loop, watch.seconds_left)

    def again() -> None:
        draft = draft_for(shop, admitted)
        ended.put(run_function(shop, admitted, draft, own, lambda: timed_out(tool, own)))

    threading.Thread(target=again, name="brasstag-recovery", daemon=True).start()
    try:
        return ended.get(timeout=own.start(tool.config.limits.timeout_seconds))
    except queue.Empty:
        return timed_out(tool, own)


def _ask_tool(shop: Shop, tool: Tool, call: Call) -> Settled:
    """Let the tool itself find out: its check returns the value if it happened, None if it did not."""
    assert tool.check is not None  # noqa: S101 - asked by the caller
    try:
        value = tool.check(call.id, dict(call.arguments))
        if value is None:
            return Failed(Code.CANCELLED, "its process ended before it acted")
        return Done(tool.check_result(value))
    except Exception as error:  # noqa: BLE001 - whatever a tool raises ends here
        return Unknown(
            f"its process ended while it acted, and its own check failed: {scrub(shop, str(error))}"
        )
