"""Tokens for people who decide without a terminal, such as from a chat bot or another machine."""

from typing import Annotated

import typer

from brasstag.surfaces.cli.console import say

app = typer.Typer(help="Who may decide with a token.", invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="The person's name, as it will stand on the timeline.")]


@app.callback()
def approvers(context: typer.Context) -> None:
    """List who has a token, when no command is given."""
    from brasstag.surfaces.cli.people import approver_names

    if context.invoked_subcommand is None:
        for name in approver_names():
            say(name)


@app.command()
def add(name: Name) -> None:
    """Give somebody a token; it is printed once, and only its digest is kept."""
    from brasstag.surfaces.cli.people import TOKEN_VARIABLE, add_approver, require_approver

    require_approver()
    typer.echo(add_approver(name))
    say(f"Whoever has this in {TOKEN_VARIABLE} decides as {name}.", stderr=True)


@app.command()
def remove(name: Name) -> None:
    """Take somebody's token away."""
    from brasstag.surfaces.cli.people import remove_approver, require_approver

    require_approver()
    remove_approver(name)
    say(f"{name} can no longer decide with a token.")
