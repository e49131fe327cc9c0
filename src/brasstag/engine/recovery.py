"""What dead processes left behind: their calls are settled, their tasks given to others, their desks closed.

A claim belongs to a boot, and a boot holds a lock for as long as its process lives. Only claims whose lock is free are
touched. Who settles one depends on what it takes to know how the call ended:

    the disk, or the timeline             whoever looks first: an opening, or a reconciler       recover_at_once
    its tool, and an agent's task waits   the worker that holds the task next                    settle_strays
    its tool, and a desk waits            an opening, or a floor: a desk has no next holder      recover_desks
    its tool, and its task has ended      nobody: it is not run again, and its end is unknown    recover_at_once

So no tool runs for a task that was stopped, and none holds up whoever looks after the room.
"""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from brasstag.engine import payloads
from brasstag.engine.facts import may_run_again
from brasstag.engine.looking import draft_for
from brasstag.engine.patches import drop_patch
from brasstag.engine.running import Admitted, run_function, scrub, timed_out
from brasstag.engine.shop import Shop
from brasstag.engine.watch import Watch
from brasstag.sandbox.workspace.recover import recover_changes
from brasstag.sandbox.workspace.sweeping import sweep
from brasstag.store.desks import Desk
from brasstag.store.ledger import Claimed, claims_of_tasks, is_unsettled, open_claims
from brasstag.store.tasks import Task, find_task, read_tasks, status_of
from brasstag.store.timeline import ENDED_STATUSES
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Done, Failed, Settled, Unknown
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change

log = logging.getLogger("brasstag")

MOST_TRIES = 4
"""How often a call may be begun before it is left to a person: running it may kill whoever does.

Fewer than the attempts after which a task is given up: what kills is the call, and its task can go on without it.
"""


@dataclass(slots=True)
class Recovered:
    """What recovery did, for a person to read."""

    calls: list[tuple[str, Settled]] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)

    def add(self, claim: Claimed, ending: Settled | None) -> None:
        """Tell of a call that was settled here; None is one that somebody else settles."""
        if ending is not None:
            self.calls.append((claim.call_id, ending))

    @property
    def unknown(self) -> list[str]:
        """Calls of which nobody knows whether they happened."""
        return [call_id for call_id, ending in self.calls if isinstance(ending, Unknown)]


def recover(shop: Shop, watch: Watch) -> Recovered:
    """Settle and give away all that dead processes left, but for what an agent's next worker has to run."""
    found, desks = recover_at_once(shop, watch), recover_desks(shop, watch)
    return Recovered(found.calls + desks.calls, found.tasks + desks.tasks)


def recover_at_once(shop: Shop, watch: Watch) -> Recovered:
    """Settle what needs no tool, and give the tasks of dead processes to other workers."""
    found = Recovered()
    for claim in _left_claims(shop):
        found.add(claim, _settle_dead(shop, claim, watch, ask_tool=False))
    left = [task for task in _left_tasks(shop) if task.kind != "desk"]
    found.tasks += [task.id for task in left if shop.books.graph.reclaim(task)]
    return _swept(shop, found)


def recover_desks(shop: Shop, watch: Watch) -> Recovered:
    """Settle calls of desks that have to be asked of their tools, however long those take, and close dead desks."""
    found = Recovered()
    for claim in _left_claims(shop):
        task = shop.books.read(partial(find_task, task_id=claim.task_id))
        if task is not None and task.kind == "desk":
            found.add(claim, _settle_dead(shop, claim, watch, ask_tool=True))
    found.tasks += [task.id for task in _left_tasks(shop) if task.kind == "desk" and _close_dead(shop, task)]
    return _swept(shop, found)


def settle_strays(shop: Shop, call_ids: Sequence[str], watch: Watch) -> bool:
    """Settle claims of a held task that nobody is at any more; return whether any was."""
    claims = [claim for claim in _left_claims(shop) if claim.call_id in call_ids]
    endings = [_settle_dead(shop, claim, watch, ask_tool=True) for claim in claims]
    return any(ending is not None and ending.tag is not None for ending in endings)


def _left_claims(shop: Shop) -> list[Claimed]:
    return [claim for claim in shop.books.read(lambda view: list(open_claims(view))) if _is_left(shop, claim)]


def _left_tasks(shop: Shop) -> list[Task]:
    running = shop.books.read(lambda view: read_tasks(view, ("running",)))
    return [task for task in running if not shop.boot.is_alive(task.boot)]


def _swept(shop: Shop, found: Recovered) -> Recovered:
    if found.calls or found.tasks:
        # Asked for each name when it is found: a call may have claimed since.
        sweep(shop.workspace, lambda call_id: shop.books.read(lambda view: is_unsettled(view, call_id)))
    shop.boot.sweep()
    if shop.booth is not None:
        shop.booth.sweep()
    return found


def _is_left(shop: Shop, claim: Claimed) -> bool:
    """Say whether nobody is at a claim any more.

    One of this very process is left where its commit, or its settling, fell into a time without the database; what is
    known of its end, and could not be written yet, comes first.
    """
    if claim.call_id in shop.active:
        return False
    return not shop.unsettled if claim.boot == shop.boot.id else not shop.boot.is_alive(claim.boot)


def _close_dead(shop: Shop, task: Task) -> bool:
    if shop.books.read(lambda view: claims_of_tasks(view, [task.id])):
        # Somebody is at its last call, or has to be: what is closed is not run again.
        return False
    end = Desk.closing({"error": "its process ended without closing it"})
    try:
        shop.books.close_task(task.id, "failed", end)
    except (ToolError, StoreError) as error:
        # Somebody else was faster, or its timeline does not hold; `verify` tells which.
        log.info("%s was not closed: %s", task.id, error)
        return False
    return True


def _settle_dead(shop: Shop, claim: Claimed, watch: Watch, *, ask_tool: bool) -> Settled | None:
    """Settle one claim, or return None where somebody else does, or has to."""
    try:
        payload = _claimed_payload(shop, claim)
        if not ask_tool and _takes_its_tool(shop, claim, payload):
            _wake(shop, claim.task_id)
            return None
        return _take_over(shop, claim, payload, watch)
    except StoreLost:
        raise
    except StoreError as error:
        log.warning("%s is left alone: %s", claim.call_id, error)
        return Unknown(f"it was left alone, as its record cannot be believed: {error}")


def _take_over(shop: Shop, claim: Claimed, payload: dict[str, Any], watch: Watch) -> Settled | None:
    # Before it is ours, so that no other worker of this process takes it for one that was left.
    if shop.active.setdefault(claim.call_id, watch) is not watch:
        return None
    try:
        ours = shop.books.take_over(claim)
        return None if ours is None else _finish(shop, ours, payload, watch)
    finally:
        shop.active.pop(claim.call_id, None)


def _takes_its_tool(shop: Shop, claim: Claimed, payload: dict[str, Any]) -> bool:
    return not claim.changes and "intended" not in payload and _tool_to_ask(shop, claim) is not None


def _tool_to_ask(shop: Shop, claim: Claimed) -> Tool | None:
    """Return the tool that can say how a call ended, by running again or by its check; None where nothing can."""
    tool = shop.registry.get(claim.tool)
    if tool is None or claim.attempt > MOST_TRIES:
        return None
    if shop.books.read(lambda view: status_of(view, claim.task_id)) in ENDED_STATUSES:
        return None
    can_say = may_run_again(tool) or (tool.config.replay == "check" and tool.check is not None)
    return tool if can_say else None


def _wake(shop: Shop, task_id: str) -> None:
    """Bring back a task that waits for a call somebody else was at, so that its next worker settles it."""
    with shop.books.database.write() as transaction:
        shop.books.endings.wake(transaction, task_id)


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
        drop_patch(shop.patches, claim.call_id)
        return payloads.reopened(payload["intended"]), claim.changes
    if recovery.state == "not_applied":
        return Failed(Code.CHANGED, "its process ended before it acted, and the files have changed since"), ()
    return Unknown(
        "its process ended while it acted, and the files are in neither state", recovery.details
    ), ()


def _finish_outside(shop: Shop, claim: Claimed, payload: dict[str, Any], watch: Watch) -> Settled:
    tool = _tool_to_ask(shop, claim)
    if tool is None:
        return Unknown(
            f"its process ended while {claim.tool} was acting; whether it happened is not known here. "
            "Look at what it acts on, then decide whether to call it again."
        )
    call = Call(claim.call_id, claim.tool, payload["input"], payload["actor"], payload["role"], claim.task_id)
    ask = _run_again if may_run_again(tool) else _ask_tool
    return ask(shop, Admitted(call, tool, outside=True), watch)


def _run_again(shop: Shop, admitted: Admitted, watch: Watch) -> Settled:
    """Run a call that may simply run again."""

    def again(own: Watch) -> Settled:
        draft = draft_for(shop, admitted)
        return run_function(shop, admitted, draft, own, lambda: timed_out(admitted, own))

    return _in_time(shop, admitted, watch, again)


def _ask_tool(shop: Shop, admitted: Admitted, watch: Watch) -> Settled:
    """Let the tool itself find out: its check returns the value if it happened, None if it did not."""
    tool, call = admitted.tool, admitted.call

    def check(_own: Watch) -> Settled:
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

    return _in_time(shop, admitted, watch, check)


def _in_time(shop: Shop, admitted: Admitted, watch: Watch, ask: Callable[[Watch], Settled]) -> Settled:
    """Ask a tool on a thread of its own, for no longer than it may take, nor than its task goes on."""
    ended: queue.SimpleQueue[Settled] = queue.SimpleQueue()
    tool, own = admitted.tool, Watch(watch.loop, watch.seconds_left)
    # Whoever stops the task hurries the one that is found there.
    own.look = lambda: ended.put(timed_out(admitted, own))
    shop.active[admitted.call.id] = own
    if watch.hurried:
        own.hurry()
    threading.Thread(target=lambda: ended.put(ask(own)), name="brasstag-recovery", daemon=True).start()
    try:
        return ended.get(timeout=own.start(tool.config.limits.timeout_seconds))
    except queue.Empty:
        return timed_out(admitted, own)
