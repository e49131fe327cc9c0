"""How following a run ends: it is over, it waits for people, or no worker is running it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.follow.events import event, shortly
from brasstag.surfaces.cli.follow.who_continues import who_continues
from brasstag.surfaces.cli.show.outcomes import print_value
from brasstag.surfaces.cli.show.task_tree import picture
from brasstag.surfaces.cli.terminal.console import (
    OutputName,
    print_json,
    quote,
    say,
    screen,
    screen_width,
    wants_json,
)
from brasstag.surfaces.cli.terminal.exits import Exit, exit_for_code
from brasstag.surfaces.cli.terminal.numbers import counted
from brasstag.words.errors import Code

if TYPE_CHECKING:
    from brasstag.app import Ended, Overview, UsedByTurns
    from brasstag.store import Task

_STYLES = {"done": "green", "failed": "red", "cancelled": "yellow"}


def tell_ended(output: OutputName | None, ended: "Ended", overview: "Overview", taken: "UsedByTurns") -> Exit:
    """Tell how a task ended, and what came of it."""
    task = ended.task
    if wants_json(output):
        spent = {"steps": taken.steps, "tokens": taken.tokens, "cost": taken.dollars}
        came = {"status": task.status, "result": ended.result, "documents": list(ended.documents)}
        print_json(event("ended", task, task.closed_at or "", **came, **spent))
        return _exit(ended)
    print_picture(overview)
    price = "cost not known" if taken.dollars is None else taken.price
    took = f"{counted(taken.steps, 'step')} · {taken.tokens:,} tokens · {price}"
    say(f"{task.status.capitalize()}. {took}", f"{_STYLES[task.status]} bold")
    error = _error(ended)
    if error is None:
        print_value(ended.result)
    else:
        say(f"{error.get('code')}: {error.get('message')}", "red")
        say(f"  brasstag resume {task.tree}{_more(error)}")
    for document in ended.documents:
        quote(f"document {document}", indent="  ")
    return _exit(ended)


def tell_waiting(output: OutputName | None, overview: "Overview", top: "Task") -> Exit:
    """Tell what waits for people, and how they answer."""
    if wants_json(output):
        approvals = [
            {
                "approvalId": one.id,
                "task": one.task_id,
                "role": one.role,
                "tool": one.tool,
                "reason": one.reason,
            }
            for one in overview.approvals
        ]
        questions = [
            {"question": one.id, "task": one.parent_id, "text": overview.asked[one.id]}
            for one in overview.questions
        ]
        print_json(event("waiting", top, approvals=approvals, questions=questions))
        return Exit.WAITING
    print_picture(overview)
    say("Waiting for people:", "yellow bold")
    for approval in overview.approvals:
        quote(f"{approval.role} wants to use {approval.tool}: {approval.reason}", indent="  ")
        say(f"    brasstag approvals approve {approval.id}")
    for question in overview.questions:
        quote(shortly(overview.asked[question.id]), indent="  ")
        say(f"    brasstag answer {question.id} 'YOUR ANSWER'")
    say(f"Then `brasstag resume {top.tree}` continues the run.")
    return Exit.WAITING


def tell_unserved(output: OutputName | None, top: "Task") -> None:
    """Tell that no process works on a run."""
    if wants_json(output):
        print_json(event("unserved", top))
    else:
        say(who_continues(top.tree, served=False), "yellow")


def print_picture(overview: "Overview", *, hints: bool = False) -> None:
    """Print the tasks as a tree."""
    console = screen()
    for row in picture(overview, screen_width(), hints=hints):
        console.print(row)


def _more(error: Mapping[str, Any]) -> str:
    """Say how a run is continued: with more of what it had used up, or with other limits."""
    details = error.get("details")
    limit = details.get("limit") if isinstance(details, Mapping) else None
    if isinstance(limit, str):
        return f" --{limit.replace('_', '-')} N   continues it, with a limit of N"
    return "   continues it; options such as --max-steps set new limits"


def _exit(ended: "Ended") -> Exit:
    code = Code.__members__.get(str((_error(ended) or {}).get("code")))
    if ended.ok:
        return Exit.DONE
    return Exit.FAILED if code is None else exit_for_code(code)


def _error(ended: "Ended") -> Mapping[str, Any] | None:
    error = ended.result.get("error") if isinstance(ended.result, Mapping) else None
    return error if isinstance(error, Mapping) and not ended.ok else None
