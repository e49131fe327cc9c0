"""Tasks: list them as trees, answer their questions, stop them, see what they changed."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.commands.complete import question_ids, run_ids, task_ids
from brasstag.surfaces.cli.commands.options import HERE, Output, Project
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.session.rooms import run as in_loop
from brasstag.surfaces.cli.terminal.console import can_ask, print_json, say, wants_json
from brasstag.words.budgets import MICRO

if TYPE_CHECKING:
    from brasstag.app import Overview
    from brasstag.store import Task, View

NEWEST = 5
"""How many runs that have ended are listed beside those that have not."""


def tasks(
    run: Annotated[
        str | None,
        typer.Argument(help="Show only this run: its id, or the end of it.", autocompletion=run_ids),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every run, and every desk.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show runs as trees of tasks, and what each task waits for.

    It shows all runs that have not ended, and a few that have; the newest is last.
    """
    from brasstag.surfaces.cli.follow.endings import print_picture

    with open_store(project) as room_state:
        overview = room_state.store.read(lambda view: _chosen(view, run, everything))
        overview = overview.seen_by(room_state.boot.is_alive)
        if wants_json(output):
            for task in overview.tasks:
                print_json(
                    _as_json(overview, task) | {"cost": room_state.store.read(partial(_cost, task=task))}
                )
            return
    if overview.tasks:
        print_picture(overview, hints=True)
    else:
        say('No run was started here yet; try `brasstag run "…"`.', "dim")


def answer(
    question: Annotated[
        str, typer.Argument(help="The id of the question, or the end of it.", autocompletion=question_ids)
    ],
    text: Annotated[str, typer.Argument(help="The answer.")],
    document: Annotated[
        list[Path] | None,
        typer.Option(
            "--document", "-d", metavar="PATH", help="Add this workspace file to the answer; may be repeated."
        ),
    ] = None,
    go_on: Annotated[bool, typer.Option("--go-on", help="Then continue that run here.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Answer a question that an agent has asked a person.

    This needs a terminal or an approver's token, as approving does.
    """
    from brasstag.surfaces.cli.actions.answer import Answering

    answering = Answering(project, output, asks=can_ask(output))
    if document or go_on:
        raise typer.Exit(in_loop(answering.in_room(question, text, document or [], go_on=go_on)))
    answering.in_store(question, text)


def stop(
    task: Annotated[
        str, typer.Argument(help="The id of the task, or the end of it.", autocompletion=task_ids)
    ],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Stop a task and every task below it.

    Their open approvals are withdrawn. The exit code is 5 when it is not known whether a call happened.
    """
    from brasstag.surfaces.cli.actions.stop import stop_and_tell

    raise typer.Exit(stop_and_tell(project, task, output))


def changes(
    task: Annotated[
        str, typer.Argument(help="The id of the run or task, or the end of it.", autocompletion=task_ids)
    ],
    patch: Annotated[
        bool, typer.Option("--patch", help="Print only the diff, as `git apply` reads it.")
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show all that a run, or a task and all below it, has changed.

    Each file is compared with what it was before. What was done outside of the workspace is named. `brasstag undo-run`
    takes the changes back.
    """
    from brasstag.surfaces.cli.show.run_changes import show_changes

    with open_store(project) as room_state:
        show_changes(room_state.store, task, output, patch=patch)


def _chosen(view: "View", run: str | None, everything: bool) -> "Overview":
    from brasstag.app import look_over, look_over_all

    return look_over_all(view, None if everything else NEWEST) if run is None else look_over(view, run)


def _as_json(overview: "Overview", task: "Task") -> dict[str, Any]:
    return {
        "task": task.id,
        "run": task.tree,
        "parent": task.parent_id or None,
        "kind": task.kind,
        "role": task.role,
        "status": task.status,
        "title": task.title,
        "waitsFor": overview.waits_for(task),
        "isLeft": task.id in overview.left,
        "approvals": [approval.id for approval in overview.approvals_of(task)],
        "openedAt": task.opened_at,
        "closedAt": task.closed_at,
        "steps": task.steps,
        "tokens": task.tokens,
    }


def _cost(view: "View", task: "Task") -> float | None:
    """Return dollars, or None where the price is unknown; the turns are looked at only where the cost is zero."""
    from brasstag.app import taken_by

    return task.cost / MICRO if task.cost or not task.steps else taken_by(view, [task]).dollars
