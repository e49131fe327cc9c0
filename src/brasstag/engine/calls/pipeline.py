"""Take one call through its path: admitted, previewed, judged, then refused, asked about or performed.

    admit ── preview ── judge ──┬── deny    record the refusal
                                ├── ask     store an approval; Waiting; where a timed permission covers it: as allow
                                └── allow   act: claim ── perform ── settle

A call that has to run before its changes are known, such as confined code, runs in `act` on a draft. Its changes are then
judged like a call of their own: denied, asked about, or landed. A call that a person approved comes back through `act`, too.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from brasstag.engine.calls import record
from brasstag.engine.calls.admit import Admitted, admit_unless_denied, blocked
from brasstag.engine.calls.ask import ask
from brasstag.engine.calls.judge import judge, judge_changes, landing_of, mistake_in
from brasstag.engine.calls.landing import not_landed, refused, run_on_draft, without_made_directories
from brasstag.engine.calls.perform import perform
from brasstag.engine.calls.permissions import find_permission, permitted_by
from brasstag.engine.calls.preview import preview
from brasstag.engine.calls.types import AnyPhase, Failing, Foreseen, Landing
from brasstag.engine.in_flight import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant, grant_allowed, grant_landing, grant_nothing
from brasstag.policy.profiles import facts_of
from brasstag.words.calls import Call, Failed, Outcome
from brasstag.words.errors import Code, LeaseHeld, PermissionEnded, ToolError
from brasstag.words.verdicts import Verdict

WAIT_SECONDS = 10.0
"""How long a call tries while other calls hold or change its paths."""

FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
"""How long a call that has its turn waits before it tries again, at first and at last."""


def dispatch(runtime: Runtime, call: Call, deadline: Deadline) -> Outcome:
    """Take a call to its outcome; it waits a while for paths that other calls hold."""
    admitted = admit_unless_denied(runtime, call)
    if isinstance(admitted, Failed):
        return record.refusal(runtime, call, admitted)
    taken = while_leased(runtime, call.id, lambda: _take(runtime, admitted, deadline))
    return taken or record.refusal(runtime, call, busy(call.tool))


def _take(runtime: Runtime, admitted: Admitted, deadline: Deadline) -> Outcome:
    """Preview an admitted call, judge it, then refuse, ask or act."""
    phase = preview(runtime, admitted, deadline)
    verdict = judge(runtime, phase)
    try:
        return _by_verdict(runtime, phase, verdict, deadline)
    except ToolError as error:
        if error.code is Code.CHANGED:
            raise
        return record.failure(runtime, phase, verdict, Failed.by(error))


def _by_verdict(runtime: Runtime, phase: AnyPhase, verdict: Verdict, deadline: Deadline) -> Outcome:
    call, tool = phase.admitted.call, phase.admitted.tool
    mistake = mistake_in(phase, verdict)
    if mistake is not None:
        return record.refusal(runtime, call, mistake)
    if verdict.decision == "deny":
        return record.refusal(runtime, call, blocked(verdict), phase, verdict)
    if isinstance(phase, Failing) and not (verdict.decision == "ask" and verdict.by_rule):
        # It would fail, so a person is not asked, unless a rule says that a person has to be asked.
        return record.failure(runtime, phase, verdict, phase.ending)
    permission = None
    if verdict.decision == "ask":
        permission = find_permission(runtime, call, phase.preview, facts_of(tool, call), verdict)
        if permission is None:
            return ask(runtime, phase, verdict)
        verdict = permitted_by(permission)
    grant = grant_allowed(call, phase.preview, verdict, tool.version, permission)
    return act(runtime, grant, phase, deadline)


def act(runtime: Runtime, grant: Grant, phase: AnyPhase, deadline: Deadline) -> Outcome:
    """Perform a granted call; what it changed on a draft is judged, and where needed asked about, before it lands."""
    if isinstance(phase, Foreseen) and phase.only_drafts:
        phase = run_on_draft(runtime, grant, phase, deadline)
        if isinstance(phase, Landing):
            return _judge_landing(runtime, grant, phase, deadline)
    return perform(runtime, grant, phase, deadline)


def _judge_landing(runtime: Runtime, grant: Grant, ran: Landing, deadline: Deadline) -> Outcome:
    verdict = judge_changes(runtime, grant.call, ran.preview)
    if verdict.decision == "deny":
        return perform(runtime, grant, refused(runtime, ran, verdict), deadline)
    permission = None
    if verdict.decision == "ask":
        call, facts = landing_of(grant.call)
        permission = find_permission(runtime, call, ran.preview, facts, verdict)
        if permission is None:
            return ask(runtime, ran, verdict, uses=grant.approval_id)
        verdict = permitted_by(permission)
    return _land(runtime, grant_landing(grant, ran.preview, verdict, permission), ran, deadline)


def _land_unpermitted(
    runtime: Runtime, grant: Grant, ran: Landing, ended: PermissionEnded, deadline: Deadline
) -> Outcome:
    """Ask about what a run changed, if a permission ended while it ran: for running it, or for its changes."""
    verdict = judge_changes(runtime, grant.call, ran.preview)
    if verdict.decision == "deny":
        return perform(runtime, grant_nothing(grant), refused(runtime, ran, verdict), deadline)
    if verdict.decision == "allow":
        verdict = Verdict("ask", "what allowed it to run ended while it ran", ended.permission_id)
    return ask(runtime, ran, verdict, uses=grant.approval_id)


def _land(runtime: Runtime, grant: Grant, ran: Landing, deadline: Deadline) -> Outcome:
    """Let the changes of a run land; if other calls hold its paths, it waits for them instead of running again."""
    try:
        land = partial(perform, runtime, grant, ran, deadline)
        landed = while_leased(runtime, grant.call.id, land, anew=False)
        failed = busy(grant.call.tool)
    except PermissionEnded as error:
        return _land_unpermitted(runtime, grant, ran, error, deadline)
    except ToolError as error:
        if error.code is not Code.CHANGED:
            raise
        rest = without_made_directories(runtime, ran)
        if rest is not None:
            return _judge_landing(runtime, grant, rest, deadline)
        landed, failed = None, Failed.by(error)
    if landed is not None:
        return landed
    ended = Failing(
        ran.admitted, ran.preview, not_landed(runtime, ran, failed), ran=ran.ran, edited=ran.edited
    )
    return perform(runtime, grant_nothing(grant), ended, deadline)


def while_leased(
    runtime: Runtime, call_id: str, attempt: Callable[[], Outcome], *, anew: bool = True
) -> Outcome | None:
    """Try again while other calls hold the same paths; return None where they never became free.

    Calls that wait for the same path try one after the other, in the order in which they came. ``anew`` says that each try
    looks at everything again, so that what another call has changed is no reason to end.
    """
    until = time.monotonic() + WAIT_SECONDS
    with ExitStack() as queued:
        pause = 0.0
        while time.monotonic() < until:
            try:
                return attempt()
            except LeaseHeld as error:
                path = error.path
            except ToolError as error:
                if error.code is not Code.CHANGED or not anew:
                    raise
                path = error.details.get("path", "")
            if not pause:
                queued.enter_context(runtime.path_queue.turn(call_id, path))
                pause = FIRST_PAUSE
            else:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
    return None


def busy(what: str) -> Failed:
    """Return how a call ends that waited in vain."""
    return Failed(Code.BUSY, f"{what}: other calls kept working at the same paths; try again")
