"""The pipeline of one call.

    admit ── preview ── judge ──┬── deny    record the refusal
                                ├── ask     store an approval; Waiting
                                └── allow   act: claim ── perform ── settle

A call that has to run before its changes are known, such as confined code, runs in `act` on a draft. Its changes are then
judged like a call of their own: denied, asked about, or landed. A call that a person approved comes back through `act`, too.
"""

from dataclasses import replace

from brasstag.engine.calls import record
from brasstag.engine.calls.admit import Admitted, blocked
from brasstag.engine.calls.ask import ask
from brasstag.engine.calls.judge import judge, judge_changes, mistake_in
from brasstag.engine.calls.landing import has_to_run, not_landed, refused, run_on_draft
from brasstag.engine.calls.perform import perform
from brasstag.engine.calls.preview import preview
from brasstag.engine.calls.retry import busy, patiently
from brasstag.engine.calls.types import Looked
from brasstag.engine.deadline import Deadline
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant, grant_allowed, grant_landing
from brasstag.words.calls import Done, Failed, Outcome
from brasstag.words.errors import Code, ToolError
from brasstag.words.verdicts import Verdict


def take(runtime: Runtime, admitted: Admitted, deadline: Deadline) -> Outcome:
    """Take an admitted call to its outcome: preview it, judge it, then refuse, ask or act."""
    looked = preview(runtime, admitted, deadline)
    verdict = judge(runtime, looked)
    try:
        return _by_verdict(runtime, looked, verdict, deadline)
    except ToolError as error:
        if error.code is Code.CHANGED:
            raise
        return record.failure(runtime, looked, verdict, Failed.by(error))


def _by_verdict(runtime: Runtime, looked: Looked, verdict: Verdict, deadline: Deadline) -> Outcome:
    call, tool = looked.admitted.call, looked.admitted.tool
    mistake = mistake_in(looked, verdict)
    if mistake is not None:
        return record.refusal(runtime, call, mistake)
    if verdict.decision == "deny":
        return record.refusal(runtime, call, blocked(verdict), looked, verdict)
    if isinstance(looked.ending, Failed) and not (verdict.decision == "ask" and verdict.by_rule):
        # It would fail, so a person is not asked, unless a rule says that a person has to be asked.
        return record.failure(runtime, looked, verdict, looked.ending)
    if verdict.decision == "ask":
        return ask(runtime, looked, verdict)
    return act(runtime, grant_allowed(call, looked.preview, verdict, tool.version), looked, deadline)


def act(runtime: Runtime, grant: Grant, looked: Looked, deadline: Deadline) -> Outcome:
    """Perform a granted call; what it changed on a draft is judged, and where needed asked about, before it lands."""
    if not has_to_run(looked):
        return perform(runtime, grant, looked, deadline)
    ran = run_on_draft(runtime, grant, looked, deadline)
    if not isinstance(ran.ending, Done) or not ran.preview.changes:
        return perform(runtime, grant, ran, deadline)
    verdict = judge_changes(runtime, grant.call, ran.preview)
    if verdict.decision == "deny":
        return perform(runtime, grant, refused(runtime, ran, verdict), deadline)
    ran = replace(ran, ran=looked.judged(grant.preview, grant.verdict))
    if verdict.decision == "ask":
        return ask(runtime, ran, verdict, uses=grant.approval_id)
    return _land(runtime, grant_landing(grant, ran.preview, verdict), ran, deadline)


def _land(runtime: Runtime, grant: Grant, ran: Looked, deadline: Deadline) -> Outcome:
    """Let the changes of a run land; if other calls hold its paths, it waits for them instead of running again."""
    try:
        landed = patiently(lambda: perform(runtime, grant, ran, deadline), anew=False)
        failed = busy(grant.call.tool)
    except ToolError as error:
        if error.code is not Code.CHANGED:
            raise
        landed, failed = None, Failed.by(error)
    if landed is not None:
        return landed
    ended = replace(ran, ending=not_landed(runtime, ran, failed))
    nothing = replace(grant.preview, changes=())
    return perform(runtime, grant_landing(grant, nothing, grant.verdict), ended, deadline)
