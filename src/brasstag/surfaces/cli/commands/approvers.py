"""Tokens for people who decide without a terminal, such as from a chat bot."""

from typing import Annotated

import typer

from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import Output
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, report, say, wants_json

app = CommandGroup(
    help="List, add and remove people who may decide with a token.", invoke_without_command=True
)

Name = Annotated[str, typer.Argument(help="The person's name, as the timeline shows it.")]


@app.callback()
def approvers(context: typer.Context, output: Output = None) -> None:
    """List the people who have a token, when no command is given."""
    from brasstag.app import approver_names

    if context.invoked_subcommand is not None:
        context.default_map = {context.invoked_subcommand: {"output": output}}
        return
    names = approver_names()
    for name, file in names.items():
        report(output, {"name": name, "by": file or None}, f"{name}  (by {file})" if file else name)
    if not names and not wants_json(output):
        say("No person has a token; `brasstag approvers add NAME` makes one.", "dim")


@app.command()
def add(name: Name, output: Output = None) -> None:
    """Make a token for a person; only its digest is stored.

    The token is printed alone on standard output, so that a script can read it. -o json prints an object.
    """
    from brasstag.app import add_approver
    from brasstag.surfaces.cli.session.people import require_approver

    _hand_over(name, add_approver(name, issued_by=require_approver().name), output)


@app.command()
def bootstrap(name: Name, output: Output = None) -> None:
    """Make the first token of an account that has no terminal.

    It works only while the user directory holds no approver, no accepted file and no room. `doctor` and `timeline verify`
    name it ever after.
    """
    from brasstag.app import bootstrap as give_first

    _hand_over(name, give_first(name), output)
    say("`brasstag doctor` and `brasstag timeline verify` name this bootstrap from now on.", stderr=True)


def _hand_over(name: str, token: str, output: OutputName | None) -> None:
    """Print the token alone on standard output, and what it is for beside it."""
    from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE

    if wants_json(output):
        print_json({"name": name, "token": token})
    else:
        typer.echo(token)
    say(f"A person with this token in {TOKEN_VARIABLE} decides as {name}.", stderr=True)


@app.command()
def remove(name: Name, output: Output = None) -> None:
    """Remove a person's token."""
    from brasstag.app import remove_approver
    from brasstag.surfaces.cli.session.people import require_approver

    require_approver()
    remove_approver(name)
    report(output, {"name": name, "removed": True}, f"{name} can no longer decide with a token.")
