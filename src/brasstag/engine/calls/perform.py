"""Perform a granted call: claim, act, settle. It takes a grant, never a call."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from brasstag.engine.calls import record
from brasstag.engine.calls.delegate import ask_master, delegate, hand_off
from brasstag.engine.calls.extra_rows import BESIDE, written_beside
from brasstag.engine.calls.function import run_function, timed_out
from brasstag.engine.calls.landing import is_landing, not_landed
from brasstag.engine.calls.patches import drop_patch
from brasstag.engine.calls.preview import draft_for
from brasstag.engine.calls.types import Looked
from brasstag.engine.deadline import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.sandbox.workspace.change.apply import apply_changes
from brasstag.sandbox.workspace.errors import Unsettled
from brasstag.store.tasks.ledger import Claimed
from brasstag.store.tasks.rows import ENDED, status_of
from brasstag.toolkit.kinds import ToolType
from brasstag.words.calls import Done, Failed, Outcome, Settled, Unknown
from brasstag.words.errors import Code, StoreError, ToolError

log = logging.getLogger("brasstag")

FRESH_SECONDS = 2.0
"""How long a claim may act without looking whether its task still stands."""

Performer = Callable[[Runtime, Grant, Looked, Deadline], Outcome]


def perform(runtime: Runtime, grant: Grant, looked: Looked, deadline: Deadline) -> Outcome:
    """Run a granted call by its kind and return only what is on the timeline."""
    return PERFORMERS[looked.admitted.tool.config.type](runtime, grant, looked, deadline)


def _run_code(runtime: Runtime, grant: Grant, looked: Looked, deadline: Deadline) -> Settled:
    if looked.ending is None:
        return _act_outside(runtime, grant, looked, deadline)
    acts = grant.approval_id is not None and grant.call.tool not in BESIDE
    if not acts and not grant.preview.changes:
        return _write_down(runtime, grant, looked, deadline)
    return _act_on_files(runtime, grant, looked)


def _write_down(runtime: Runtime, grant: Grant, looked: Looked, _watch: Deadline) -> Settled:
    assert looked.ending is not None  # noqa: S101 - calls that have not run go through _act_outside
    ending = looked.told(looked.ending)
    beside = written_beside(runtime, grant) if isinstance(ending, Done) else None
    return record.called(runtime, grant, looked, ending, beside)


PERFORMERS: dict[ToolType, Performer] = {
    ToolType.FUNCTION_TOOL: _run_code,
    ToolType.NON_FUNCTION_TOOL: _write_down,
    ToolType.HANDOFF: hand_off,
    ToolType.AGENT_AS_TOOL: delegate,
    ToolType.ASK_MASTER: ask_master,
}
"""How each kind is performed; a test holds it equal to admit.PERFORMABLE."""


def _act_on_files(runtime: Runtime, grant: Grant, looked: Looked) -> Settled:
    """Write the blobs to disk, claim, change the files, settle."""
    ending = looked.ending
    assert ending is not None and looked.draft is not None  # noqa: S101, PT018 - the look ran this call
    changes = grant.preview.changes if isinstance(ending, Done) else ()
    if changes:
        looked.draft.persist()
        runtime.at("persisted")
    claimed = record.claim(runtime, grant, looked, changes)
    stands = StillHeld(runtime, claimed)
    runtime.at("claimed")
    made = changes
    try:
        apply_changes(runtime.workspace, grant.call.id, changes, runtime.at, stands)
        if is_landing(looked):
            drop_patch(runtime.patches, grant.call.id)
    except (ToolError, StoreError) as error:
        failed = replace(_not_begun(error), meta=ending.meta)
        ending, made = not_landed(runtime, looked, failed), ()
    except Unsettled as error:
        ending, made = Unknown(str(error), error.details, ending.meta), ()
    except Exception as error:
        # A claim that is never settled would hold its paths for as long as this process lives.
        log.exception("applying the changes of %s failed", grant.call.id)
        ending, made = Unknown(f"changing the files failed in an unforeseen way: {type(error).__name__}"), ()
    runtime.at("performed")
    return record.settle(runtime, claimed, grant, looked, ending, made)


def _act_outside(runtime: Runtime, grant: Grant, looked: Looked, deadline: Deadline) -> Settled:
    """Claim, run and settle a call whose effects a preview could not see."""
    claimed = record.claim(runtime, grant, looked, ())
    stands = StillHeld(runtime, claimed)
    runtime.at("claimed")
    admitted = replace(looked.admitted, outside=True)
    try:
        stands()
    except (ToolError, StoreError) as error:
        return record.settle(runtime, claimed, grant, looked, _not_begun(error), ())
    draft = draft_for(runtime, admitted, granted=looked.preview)

    def late() -> Settled:
        return record.settle(runtime, claimed, grant, looked, timed_out(admitted, deadline), ())

    ending = run_function(runtime, admitted, draft, deadline, late)
    runtime.at("performed")
    return record.settle(runtime, claimed, grant, looked, ending, ())


def _not_begun(error: ToolError | StoreError) -> Failed:
    if isinstance(error, ToolError):
        return Failed.by(error)
    return Failed(
        Code.INTERNAL_ERROR,
        f"nothing was changed, as nobody could say whether its task still stands: {error}",
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
