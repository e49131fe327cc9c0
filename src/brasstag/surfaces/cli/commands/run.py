"""Runs of a crew: start one, watch one, resume one, ask one for more."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brasstag.surfaces.cli.commands.complete import crew_roles, run_ids, task_ids
from brasstag.surfaces.cli.commands.options import (
    HERE,
    MaxChildren,
    MaxCost,
    MaxDepth,
    MaxSeconds,
    MaxSteps,
    MaxTokens,
    Output,
    Project,
    budget_of,
)
from brasstag.surfaces.cli.session.people import require_approver
from brasstag.surfaces.cli.session.rooms import run as in_loop
from brasstag.surfaces.cli.terminal.console import OutputName, can_ask

if TYPE_CHECKING:
    from brasstag.surfaces.cli.follow.follow_run import Running

Detach = Annotated[
    bool, typer.Option("--detach", help="Let a worker do it in the background, and return at once.")
]
Later = Annotated[bool, typer.Option("--later", help="Ask nothing here; approvals and questions stay open.")]
Documents = Annotated[
    list[Path] | None,
    typer.Option(
        "--document", "-d", metavar="PATH", help="Give the crew this workspace file; may be repeated."
    ),
]
TaskName = Annotated[
    str, typer.Argument(help="The id of the task, or the end of it.", autocompletion=task_ids)
]
RunName = Annotated[str, typer.Argument(help="The id of the run, or the end of it.", autocompletion=run_ids)]


def run(
    request: Annotated[str, typer.Argument(help="What the crew should do.")],
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE",
            help="The role that takes the request; the crew's lead by default.",
            autocompletion=crew_roles,
        ),
    ] = "",
    document: Documents = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Use this model for every role: anthropic:NAME, ollama:NAME, scripted:FILE …",
        ),
    ] = "",
    max_steps: MaxSteps = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    max_depth: MaxDepth = None,
    max_children: MaxChildren = None,
    skip_tool_catalog: Annotated[
        bool, typer.Option("--skip-tool-catalog", help="Leave the prompt tools out of the crew's context.")
    ] = False,
    skip_tools: Annotated[
        bool, typer.Option("--skip-tools", help="Leave the callable tools out as well: only words.")
    ] = False,
    later: Later = False,
    detach: Detach = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Give the crew a request, and follow its work.

    Ctrl-C stops following. Nothing that was done is lost, and `brasstag resume` continues the run.
    """
    from brasstag.surfaces.cli.follow.follow_run import RequestedRun

    budget = budget_of(max_steps, max_tokens, max_cost, max_seconds, max_depth, max_children)
    if not request.strip():
        raise typer.BadParameter("the request is empty; say what the crew should do")
    asked = RequestedRun(request, role, tuple(document or ()), model, budget, skip_tool_catalog, skip_tools)
    work = running(project, output, later).begin(asked, detach=detach)
    raise typer.Exit(in_loop(work))


def watch(
    task: TaskName,
    new: Annotated[bool, typer.Option("--new", help="Show only what happens from now on.")] = False,
    later: Later = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Follow a task that another process works on, until it ends."""
    raise typer.Exit(in_loop(running(project, output, later).watch(task, new=new)))


def resume(
    task: RunName,
    max_steps: MaxSteps = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    max_depth: MaxDepth = None,
    max_children: MaxChildren = None,
    note: Annotated[str, typer.Option(help="Tell the agent this.")] = "",
    later: Later = False,
    detach: Detach = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Continue a run that failed, was stopped, or was left.

    Limits given here replace the limits of a run that has ended.
    """
    budget = budget_of(max_steps, max_tokens, max_cost, max_seconds, max_depth, max_children)
    if budget.as_json() or note:
        # Only a person extends what people have limited, or speaks to an agent as one.
        require_approver()
    raise typer.Exit(in_loop(running(project, output, later).resume(task, budget, note, detach=detach)))


def follow_up(
    task: RunName,
    request: Annotated[str, typer.Argument(help="What the crew should do besides.")],
    document: Documents = None,
    max_steps: MaxSteps = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    max_depth: MaxDepth = None,
    max_children: MaxChildren = None,
    later: Later = False,
    detach: Detach = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Ask a run that has ended for more.

    The agent that led it goes on with everything it knows. It may use as much again as at first, unless limits are given.
    """
    from brasstag.surfaces.cli.follow.follow_run import RequestedRun

    budget = budget_of(max_steps, max_tokens, max_cost, max_seconds, max_depth, max_children)
    if budget.as_json():
        # Only a person extends what people have limited.
        require_approver()
    if not request.strip():
        raise typer.BadParameter("the request is empty; say what the crew should do")
    asked = RequestedRun(request, documents=tuple(document or ()), budget=budget)
    raise typer.Exit(in_loop(running(project, output, later).follow_up(task, asked, detach=detach)))


def running(project: Path, output: OutputName | None, later: bool) -> "Running":
    """Return what follows a run, and asks the person at the terminal unless that is for later."""
    from brasstag.surfaces.cli.follow.follow_run import Running

    return Running(project, output, asks=can_ask(output) and not later)
