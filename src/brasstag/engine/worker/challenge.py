"""Challenge the words a task would end with: where their evidence does not hold, its model is told why."""

from typing import Any

from brasstag.engine.evidence import evidence_problems, evidence_tries
from brasstag.engine.runtime import Runtime
from brasstag.engine.worker.journal import Journal
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind


def is_challenged(runtime: Runtime, journal: Journal) -> bool:
    """Check the last words of a task that has to give evidence; if they do not count, write down why, and return True.

    Raises ToolError where as many replies of it were refused as may be, in words or as a handoff.
    """
    tries, refusals, task = evidence_tries(journal.opened), journal.refusals, journal.held.task
    if tries is None:
        return False
    if refusals.count >= tries:
        raise ToolError(
            Code.EVIDENCE_REFUSED,
            f"the evidence in {refusals.count} replies of {task.role} did not hold; "
            "a person may let it try again",
            {"problems": refusals.problems[-1]},
        )
    if not journal.state.said_its_last:
        return False
    problems = evidence_problems(runtime, task.id, task.role, journal.state.text)
    if not problems:
        return False
    payload: dict[str, Any] = {
        "type": "challenge",
        "problems": [problem.as_json() for problem in problems],
        "refused": refusals.count + 1,
        "tries": tries,
    }
    runtime.store.graph.note(journal.held, EntryKind.CHALLENGED, payload)
    runtime.at("challenged")
    if not journal.catch_up():
        journal.refresh()
    return True
