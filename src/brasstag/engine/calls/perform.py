"""Perform a granted call: claim, act, settle. It takes a grant, never a call."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from brasstag.engine.calls import record
from brasstag.engine.calls.delegate import ask_master, delegate, hand_off
from brasstag.engine.calls.extra_rows import EXTRA_ROWS, extra_rows
from brasstag.engine.calls.function import run_outside, timed_out_outside
from brasstag.engine.calls.landing import not_landed
from brasstag.engine.calls.patches import drop_patch
from brasstag.engine.calls.preview import draft_for
from brasstag.engine.calls.types import LOGGED, AnyPhase, Failing, Foreseen, Landing, Passing, Previewed
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.sandbox.workspace.change.apply import apply_changes
from brasstag.sandbox.workspace.errors import Unsettled
from brasstag.store.tasks.ledger import Claimed
from brasstag.store.tasks.rows import ENDED, status_of
from brasstag.toolkit.kinds import ToolType
from brasstag.words.calls import Failed, Outcome, Settled, Unknown
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.previews import Change

log = logging.getLogger("brasstag")

FRESH_SECONDS = 2.0
"""How long a claim may act without looking whether its task still stands."""


def perform(runtime: Runtime, grant: Grant, phase: AnyPhase, deadline: Deadline) -> Outcome:
    """Run a granted call and return only what is on the timeline."""
    match phase:
        case Foreseen():
            return _act_outside(runtime, grant, phase, deadline)
        case Passing():
            return PERFORMERS[phase.admitted.tool.config.type](runtime, grant, phase)
        case Failing() | Previewed() | Landing():
            # An approved call is claimed even where it changes no file: its timeline shows when the approval was used.
            is_claimed = grant.approval_id is not None and grant.call.tool not in EXTRA_ROWS
            if is_claimed or grant.preview.changes:
                return _act_on_files(runtime, grant, phase)
            if isinstance(phase, Failing):
                return record.called(runtime, grant, phase, phase.ending)
            return _with_rows(runtime, grant, phase)


def _with_rows(runtime: Runtime, grant: Grant, phase: Previewed | Landing) -> Settled:
    """Record a call with what else it writes; where that is no longer possible, the call has failed."""
    try:
        return record.called(runtime, grant, phase, phase.ending, extra_rows(runtime, grant))
    except ToolError as error:
        if grant.call.tool not in EXTRA_ROWS or error.code is Code.CANCELLED:
            raise
        return record.called(runtime, grant, phase, Failed.by(error))


def _note(runtime: Runtime, grant: Grant, phase: Passing) -> Outcome:
    return record.called(runtime, grant, phase, LOGGED, extra_rows(runtime, grant))


PERFORMERS: Mapping[ToolType, Callable[[Runtime, Grant, Passing], Outcome]] = MappingProxyType(
    {
        ToolType.NON_FUNCTION_TOOL: _note,
        ToolType.HANDOFF: hand_off,
        ToolType.AGENT_AS_TOOL: delegate,
        ToolType.ASK_MASTER: ask_master,
    }
)
"""How each kind that runs no code is performed; a test holds that none is missing."""


def _act_on_files(runtime: Runtime, grant: Grant, phase: Failing | Previewed | Landing) -> Settled:
    """Write the blobs to disk, claim, change the files, settle."""
    ending: Settled = phase.ending
    changes: tuple[Change, ...] = ()
    if not isinstance(phase, Failing) and grant.preview.changes:
        changes = grant.preview.changes
        runtime.path_queue.require_turn(grant.call.id, [change.path for change in changes])
        phase.draft.persist()
        runtime.at("persisted")
    claimed = record.claim(runtime, grant, phase, changes)
    still_held = StillHeld(runtime, claimed)
    runtime.at("claimed")
    made = changes
    try:
        apply_changes(runtime.workspace, grant.call.id, changes, runtime.at, still_held)
        if isinstance(phase, Landing):
            drop_patch(runtime.patches, grant.call.id)
    except (ToolError, StoreError) as error:
        failed = replace(_not_begun(error), meta=ending.meta)
        made = ()
        ending = not_landed(runtime, phase, failed) if isinstance(phase, Landing) else failed
    except Unsettled as error:
        ending, made = Unknown(str(error), error.details, ending.meta), ()
    except Exception as error:
        # A claim that is never settled would hold its paths for as long as this process lives.
        log.exception("applying the changes of %s failed", grant.call.id)
        ending, made = Unknown(f"changing the files failed in an unforeseen way: {type(error).__name__}"), ()
    runtime.at("performed")
    return record.settle(runtime, claimed, grant, phase, ending, made)


def _act_outside(runtime: Runtime, grant: Grant, phase: Foreseen, deadline: Deadline) -> Settled:
    """Claim, run and settle a call whose effects a preview could not see."""
    claimed = record.claim(runtime, grant, phase, ())
    still_held = StillHeld(runtime, claimed)
    runtime.at("claimed")
    admitted = phase.admitted
    try:
        still_held()
    except (ToolError, StoreError) as error:
        return record.settle(runtime, claimed, grant, phase, _not_begun(error), ())
    draft = draft_for(runtime, admitted, granted=phase.preview)

    def late() -> Settled:
        return record.settle(runtime, claimed, grant, phase, timed_out_outside(admitted, deadline), ())

    ending = run_outside(runtime, admitted, draft, deadline, late)
    runtime.at("performed")
    return record.settle(runtime, claimed, grant, phase, ending, ())


def _not_begun(error: ToolError | StoreError) -> Failed:
    if isinstance(error, ToolError):
        return Failed.by(error)
    return Failed(
        Code.INTERNAL_ERROR,
        f"nothing was changed, as it could not be looked up whether its task still runs: {error}",
    )


class StillHeld:
    """Asked before each step of a call that acts: a process that was stopped may wake when its task has moved on.

    A young claim stands without a look: in so short a time no process ends its task and takes the call for ended. For
    an older claim the task is looked up.
    """

    def __init__(self, runtime: Runtime, claimed: Claimed) -> None:
        self._runtime = runtime
        self._claimed = claimed
        self._until = time.monotonic() + FRESH_SECONDS

    def __call__(self) -> None:
        """Let the next step happen, or raise ToolError where the call must not act any more."""
        if time.monotonic() >= self._until:
            status = self._runtime.store.read(lambda view: status_of(view, self._claimed.task_id))
            if status in ENDED:
                raise ToolError(Code.CANCELLED, "its task ended before it acted; nothing was changed")
            self._until = time.monotonic() + FRESH_SECONDS
