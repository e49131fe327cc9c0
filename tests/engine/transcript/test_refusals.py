"""Refused replies are counted from the timeline, in words and as handoffs, and only the task's own."""

from brasstag.engine.transcript.refusals import Refusals
from brasstag.engine.transcript.state import TaskState
from tests.engine.timelines import K, Log

PROBLEM = {"id": "NO_EVIDENCE", "line": 0, "says": "the reply has no evidence"}
REFUSED = {"code": "EVIDENCE_REFUSED", "message": "no", "details": {"problems": [PROBLEM]}}


def told() -> Log:
    log = Log()
    log.open()
    log.turn(text="Fine.")
    log.add(K.CHALLENGED, {"problems": [PROBLEM], "refused": 1, "tries": 3})
    log.turn(("handoff", {"result": "Fine."}))
    log.failed("1.0", REFUSED, K.CALLED)
    return log


def test_words_and_handoffs_count_alike_and_the_last_reasons_are_kept() -> None:
    log = told()
    assert Refusals.told_by(log.entries).problems == [[PROBLEM], [PROBLEM]]
    log.turn(("handoff", {"result": "Fine."}))
    log.failed("2.0", REFUSED, K.SETTLED)
    assert Refusals.told_by(log.entries).count == 3


def test_other_failures_and_those_of_a_task_below_do_not_count() -> None:
    log = told()
    log.turn(("route_to_editor", {}), ("read_file", {}))
    log.failed("2.0", REFUSED, K.RETURNED)
    log.failed("2.1", {"code": "FILE_NOT_FOUND", "message": "no"}, K.CALLED)
    assert Refusals.told_by(log.entries).count == 2


def test_a_removed_challenge_still_counts_and_a_resume_begins_anew() -> None:
    log = told()
    log.redact(2)
    assert Refusals.told_by(log.entries).problems == [[], [PROBLEM]]
    log.add(K.CLOSED, {"status": "failed", "result": {"error": REFUSED}})
    log.add(K.RESUMED, {"by": "ada", "note": "", "budget": {}})
    assert Refusals.told_by(log.entries).count == 0


def test_a_challenged_task_has_not_said_its_last() -> None:
    log = Log()
    log.open()
    log.turn(text="Fine.")
    state = TaskState("task_1")
    for entry in log.entries:
        state.add(entry)
    assert state.said_its_last
    state.add(log.add(K.CHALLENGED, {"problems": [PROBLEM], "refused": 1, "tries": 3}))
    assert not state.said_its_last
