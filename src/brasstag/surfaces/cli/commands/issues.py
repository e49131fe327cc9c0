"""Issues of a room: list, show, open, comment, assign and close them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from brasstag.surfaces.cli.commands.complete import issue_ids
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, Output, Project, pass_on
from brasstag.surfaces.cli.session.rooms import run
from brasstag.surfaces.cli.terminal.console import OutputName

app = CommandGroup(
    help="List, open, comment, assign and close issues of this room.", invoke_without_command=True
)

Name = Annotated[str, typer.Argument(help="The id of the issue, or the end of it.", autocompletion=issue_ids)]
PriorityName = Literal["low", "normal", "high", "urgent"]


@app.callback()
def issues(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List the open issues, when no command is given."""
    pass_on(context, project, output)
    if context.invoked_subcommand is None:
        _list(project, output, {"status": "open"})


@app.command("list")
def list_(
    query: Annotated[
        str, typer.Argument(help="Only issues with all of these words.", show_default=False)
    ] = "",
    assignee: Annotated[str, typer.Option(help="Only issues of this person or role.")] = "",
    tag: Annotated[str, typer.Option(help="Only issues with this tag.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Also list closed issues.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List issues, the best match first, then the most urgent and newest."""
    status = "" if everything else "open"
    _list(project, output, {"query": query, "assignee": assignee, "tag": tag, "status": status})


@app.command()
def show(name: Name, output: Output = None, project: Project = HERE) -> None:
    """Show one issue with its comments, actions and history."""
    from brasstag.surfaces.cli.actions.issues import show_issue

    run(show_issue(project, output, name))


@app.command()
def new(
    title: Annotated[str, typer.Argument(help="What it is about, in a line.")],
    body: Annotated[str, typer.Option("--body", "-b", help="What there is to know.")] = "",
    assignee: Annotated[str, typer.Option(help="Give it to this person or role.")] = "",
    priority: Annotated[PriorityName, typer.Option(help="How urgent it is.")] = "normal",
    tag: Annotated[list[str] | None, typer.Option(help="Give it this tag; may be repeated.")] = None,
    link: Annotated[
        list[str] | None, typer.Option(help="Link it to this issue, task, tag or document; may be repeated.")
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Open an issue."""
    from brasstag.surfaces.cli.actions.issues import act_on_issues

    run(
        act_on_issues(
            project,
            output,
            "Opened",
            lambda issues: issues.open(
                title, body, assignee=assignee, priority=priority, tags=tag or (), links=link or ()
            ),
        )
    )


@app.command()
def comment(
    name: Name,
    text: Annotated[str, typer.Argument(help="What you want to say.")],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Say something about an issue."""
    from brasstag.surfaces.cli.actions.issues import act_on_issues

    run(act_on_issues(project, output, "Commented", lambda issues: issues.comment(name, text)))


@app.command()
def assign(
    name: Name,
    assignee: Annotated[str, typer.Argument(help="The person or role that takes it.")],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Give an issue to a person or a role."""
    from brasstag.surfaces.cli.actions.issues import act_on_issues

    run(act_on_issues(project, output, "Assigned", lambda issues: issues.assign(name, assignee)))


@app.command()
def close(
    name: Name,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Say why.")] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Close an issue. One that waits for a decision is closed by that decision."""
    from brasstag.surfaces.cli.actions.issues import act_on_issues

    run(act_on_issues(project, output, "Closed", lambda issues: issues.close(name, reason)))


def _list(project: Path, output: OutputName | None, wanted: dict[str, str]) -> None:
    from brasstag.surfaces.cli.actions.issues import list_issues

    run(list_issues(project, output, wanted))
