"""Settle what crashed processes left: their calls, their tasks and their desks.

A claim belongs to one opening of the room, which holds a process lock for as long as its process lives. Only claims
whose process lock is free are settled. Who settles a claim depends on what is needed to know how the call ended:

    the disk, or the timeline             the first to look: an opening, or a reconciler         recover_at_once
    its tool, and an agent's task waits   the worker that holds the task next                    settle_strays
    its tool, and a desk waits            an opening, or a worker: a desk has no next holder     recover_desks
    its tool, and its task has ended      no process: it is not run again, its end is unknown    recover_at_once

So no tool runs for a task that was stopped, and no tool delays the recovery or reconciling of the room.
"""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from brasstag.engine.calls.admit import Admitted
from brasstag.engine.calls.approvals import Decisions
from brasstag.engine.calls.function import note_traceback, run_outside, scrub, timed_out_outside
from brasstag.engine.calls.patches import drop_patch
from brasstag.engine.calls.preview import draft_for
from brasstag.engine.in_flight import Deadline, LeftBehind
from brasstag.engine.runtime import Runtime
from brasstag.sandbox.workspace.change.recover import recover_changes
from brasstag.sandbox.workspace.change.sweep import sweep
from brasstag.store.contents.versions import reason_of
from brasstag.store.tasks.ledger import Claimed, claims_of_tasks, open_claims
from brasstag.store.tasks.rows import Task, find_task, read_tasks, status_of
from brasstag.store.tasks.writer import Desk
from brasstag.store.timeline.timeline import ENDED_STATUSES
from brasstag.toolkit.tool import Tool
from brasstag.words.calls import Call, Done, Failed, Settled, Unknown, as_stored, from_stored
from brasstag.words.errors import Code, StoreError, StoreLost, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.previews import Change

log = logging.getLogger("brasstag")

MOST_TRIES = 4
"""How often a call may be begun before it is left to a person: running it may kill the process that runs it.

Fewer than the attempts after which a task is given up: what kills is the call, and its task can go on without it.
"""


@dataclass(slots=True)
class Recovered:
    """What recovery did, for a person to read."""

    calls: list[tuple[str, Settled]] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)

    def add(self, claim: Claimed, ending: Settled | None) -> None:
        """Note a call that was settled here; ``ending`` is None for a call that another process or worker settles."""
        if ending is not None:
            self.calls.append((claim.call_id, ending))

    @property
    def unknown(self) -> list[str]:
        """Calls of which it is not known whether they happened."""
        return [call_id for call_id, ending in self.calls if isinstance(ending, Unknown)]


def recover(runtime: Runtime, deadline: Deadline) -> Recovered:
    """Settle or pass on all that dead processes left, except calls that an agent's next worker has to settle.

    Approvals whose time ran out meanwhile expire.
    """
    Decisions(runtime.store).expire_due()
    found, desks = recover_at_once(runtime, deadline), recover_desks(runtime, deadline)
    return Recovered(found.calls + desks.calls, found.tasks + desks.tasks)


def recover_at_once(runtime: Runtime, deadline: Deadline) -> Recovered:
    """Settle what needs no tool, and give the tasks of dead processes to other workers."""
    found = Recovered()
    for claim in _left_claims(runtime):
        found.add(claim, _settle_dead(runtime, claim, deadline, ask_tool=False))
    left = [task for task in _left_tasks(runtime) if not task.is_desk]
    found.tasks += [task.id for task in left if runtime.store.graph.reclaim(task)]
    return _swept(runtime, found)


def recover_desks(runtime: Runtime, deadline: Deadline) -> Recovered:
    """Settle calls of desks whose tools have to be asked, however long that takes, and close dead desks."""
    found = Recovered()
    for claim in _left_claims(runtime):
        task = runtime.store.read(partial(find_task, task_id=claim.task_id))
        if task is not None and task.is_desk:
            found.add(claim, _settle_dead(runtime, claim, deadline, ask_tool=True))
    found.tasks += [task.id for task in _left_tasks(runtime) if task.is_desk and _close_dead(runtime, task)]
    return _swept(runtime, found)


def settle_strays(runtime: Runtime, call_ids: Sequence[str], deadline: Deadline) -> bool:
    """Settle claims of a held task that no worker is running any more; return whether any was settled."""
    claims = [claim for claim in _left_claims(runtime) if claim.call_id in call_ids]
    endings = [_settle_dead(runtime, claim, deadline, ask_tool=True) for claim in claims]
    return any(ending is not None and ending.tag is not None for ending in endings)


def _left_claims(runtime: Runtime) -> list[Claimed]:
    return [
        claim
        for claim in runtime.store.read(lambda view: list(open_claims(view)))
        if _is_left(runtime, claim)
    ]


def _left_tasks(runtime: Runtime) -> list[Task]:
    running = runtime.store.read(lambda view: read_tasks(view, ("running",)))
    return [task for task in running if not runtime.boot.is_alive(task.boot)]


def _swept(runtime: Runtime, found: Recovered) -> Recovered:
    if found.calls or found.tasks:
        # The store is asked for each call when its file is found: a call may have claimed since.
        sweep(runtime.workspace, runtime.store.is_unsettled)
    runtime.boot.sweep()
    if runtime.sandbox is not None:
        runtime.sandbox.sweep()
    return found


def _is_left(runtime: Runtime, claim: Claimed) -> bool:
    """Say whether no worker is running the call of a claim any more.

    A claim of this process itself can be left over: its commit, or its settling, came while the database was away.
    Endings that are known here and could not be written yet come first.
    """
    if claim.call_id in runtime.in_flight:
        return False
    unsettled = runtime.in_flight.unsettled
    return not unsettled if claim.boot == runtime.boot.id else not runtime.boot.is_alive(claim.boot)


def _close_dead(runtime: Runtime, task: Task) -> bool:
    if runtime.store.read(lambda view: claims_of_tasks(view, [task.id])):
        # A process is running its last call, or has to settle it: a call of a closed task is not run again.
        return False
    end = Desk.closing({"error": "its process ended without closing it"})
    try:
        runtime.store.close_task(task.id, "failed", end)
    except (ToolError, StoreError) as error:
        # Another process was faster, or its timeline does not hold; `verify` tells which.
        log.info("%s was not closed: %s", task.id, error)
        return False
    return True


def _settle_dead(runtime: Runtime, claim: Claimed, deadline: Deadline, *, ask_tool: bool) -> Settled | None:
    """Settle one claim, or return None where another process or worker does, or has to."""
    try:
        payload = _claimed_payload(runtime, claim)
        if not ask_tool and _takes_its_tool(runtime, claim, payload):
            # The task waits for a call of a dead process; its next worker settles the call.
            runtime.store.wake(claim.task_id)
            return None
        return _take_over(runtime, claim, payload, deadline)
    except StoreLost:
        raise
    except StoreError as error:
        log.warning("%s is left alone: %s", claim.call_id, error)
        return Unknown(f"it was left alone, as its record cannot be believed: {error}")


def _take_over(
    runtime: Runtime, claim: Claimed, payload: dict[str, Any], deadline: Deadline
) -> Settled | None:
    # Noted before the claim is ours, so that no other worker of this process takes it for one that was left.
    if not runtime.in_flight.enter_if_free(claim.call_id, deadline):
        return None
    try:
        ours = runtime.store.take_over(claim)
        return None if ours is None else _finish(runtime, ours, payload, deadline)
    finally:
        runtime.in_flight.leave(claim.call_id)


def _takes_its_tool(runtime: Runtime, claim: Claimed, payload: dict[str, Any]) -> bool:
    return not claim.changes and "intended" not in payload and _tool_to_ask(runtime, claim) is not None


def _tool_to_ask(runtime: Runtime, claim: Claimed) -> Tool | None:
    """Return the tool that can say how a call ended, by running again or by its check; None where nothing can."""
    tool = runtime.registry.get(claim.tool)
    if tool is None or claim.attempt > MOST_TRIES:
        return None
    if runtime.store.read(lambda view: status_of(view, claim.task_id)) in ENDED_STATUSES:
        return None
    can_say = tool.may_run_again or (tool.config.replay == "check" and tool.check is not None)
    return tool if can_say else None


def _finish(runtime: Runtime, claim: Claimed, payload: dict[str, Any], deadline: Deadline) -> Settled:
    if claim.changes:
        ending, made = _finish_files(runtime, claim, payload)
    elif "intended" in payload:
        # An approved call that changes nothing: it ends with the result it would have had.
        ending, made = from_stored(payload["intended"]), ()
    else:
        ending, made = _finish_outside(runtime, claim, payload, deadline), ()
    said = {"type": payload["type"], "tool": claim.tool, "recovered": True}
    said |= {"changes": [change.as_json() for change in made]} | as_stored(ending)
    tag = runtime.store.settle(
        claim, said, made, payload["role"], reason_of(claim.tool, payload.get("input"))
    )
    runtime.tracebacks.keep(claim.call_id, tag.id)
    return replace(ending, tag=tag)


def _claimed_payload(runtime: Runtime, claim: Claimed) -> dict[str, Any]:
    """Return what the proven timeline says the call intended; the ledger alone is not believed."""
    for entry in runtime.store.proven(claim.task_id):
        if entry.kind is EntryKind.CLAIMED and entry.call_id == claim.call_id:
            intended = (entry.payload or {}).get("preview", {}).get("changes", [])
            if entry.payload is not None and intended == [change.as_json() for change in claim.changes]:
                return entry.payload
    raise StoreError(f"the timeline does not say what {claim.call_id} was about to do")


def _finish_files(
    runtime: Runtime, claim: Claimed, payload: dict[str, Any]
) -> tuple[Settled, tuple[Change, ...]]:
    recovery = recover_changes(runtime.workspace, claim.call_id, claim.changes)
    if recovery.state == "applied":
        drop_patch(runtime.patches, claim.call_id)
        return from_stored(payload["intended"]), claim.changes
    if recovery.state == "not_applied":
        return Failed(Code.CHANGED, "its process ended before it acted, and the files have changed since"), ()
    return Unknown(
        "its process ended while it acted, and the files are in neither state", recovery.details
    ), ()


def _finish_outside(runtime: Runtime, claim: Claimed, payload: dict[str, Any], deadline: Deadline) -> Settled:
    tool = _tool_to_ask(runtime, claim)
    call = Call(claim.call_id, claim.tool, payload["input"], payload["actor"], payload["role"], claim.task_id)
    if tool is not None and tool.may_run_again:
        return _run_again(runtime, Admitted(call, tool), deadline)
    if tool is not None and tool.check is not None:
        return _ask_tool(runtime, Admitted(call, tool), tool.check, deadline)
    return Unknown(
        f"its process ended while {claim.tool} was acting; whether it happened is not known here. "
        "Look at what it acts on, then decide whether to call it again."
    )


def _run_again(runtime: Runtime, admitted: Admitted, deadline: Deadline) -> Settled:
    """Run a call that may simply run again."""

    def again(own: Deadline) -> Settled:
        draft = draft_for(runtime, admitted)
        return run_outside(runtime, admitted, draft, own, lambda: timed_out_outside(admitted, own))

    return _in_time(runtime, admitted, deadline, again)


def _ask_tool(runtime: Runtime, admitted: Admitted, check: Callable[..., Any], deadline: Deadline) -> Settled:
    """Let the tool itself find out: its check returns the value if it happened, None if it did not."""
    tool, call = admitted.tool, admitted.call

    def ask(_own: Deadline) -> Settled:
        try:
            value = check(call.id, dict(call.arguments))
            if value is None:
                return Failed(Code.CANCELLED, "its process ended before it acted")
            return Done(tool.check_result(value))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises ends here
            note_traceback(runtime, admitted, error)
            return Unknown(
                f"its process ended while it acted, and its own check failed: {scrub(runtime, str(error))}"
            )

    return _in_time(runtime, admitted, deadline, ask)


def _in_time(
    runtime: Runtime, admitted: Admitted, deadline: Deadline, ask: Callable[[Deadline], Settled]
) -> Settled:
    """Ask a tool on a separate thread, within its own timeout and the time its task has left."""
    ended: queue.SimpleQueue[Settled] = queue.SimpleQueue()
    own = Deadline(deadline.loop, deadline.seconds_left, on_late=lambda late: ended.put(late()))
    seconds = own.begin(admitted.tool.config.limits.timeout_seconds, lambda: timed_out_outside(admitted, own))

    def answer() -> None:
        with suppress(LeftBehind):
            ended.put(ask(own))

    # When the task is stopped, the deadline that is entered for the call is; so that has to be this one.
    runtime.in_flight.enter(admitted.call.id, own)
    if deadline.stopped:
        own.stop()
    threading.Thread(target=answer, name="brasstag-recovery", daemon=True).start()
    try:
        return ended.get(timeout=seconds)
    except queue.Empty:
        return timed_out_outside(admitted, own)
    finally:
        own.close()
