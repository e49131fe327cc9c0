"""People who decide without a terminal: their tokens, and their links to the control room."""

from typing import Annotated

import typer

from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import Output
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, report, say, wants_json

app = CommandGroup(
    help="List, add and remove people who may decide.",
    invoke_without_command=True,
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
def link(
    name: Name,
    level: Annotated[
        str, typer.Option(help="What the person may do: viewer, operator or approver.")
    ] = "approver",
    output: Output = None,
) -> None:
    """Make a link with which a person logs in at the control room.

    It works once, within a quarter of an hour, and needs a control room that runs. Only a person who has a token logs in as
    an approver; the link is printed alone on standard output.
    """
    from brasstag.app import link_for, running_control_rooms
    from brasstag.surfaces.cli.session.people import require_approver
    from brasstag.words.errors import Code, ToolError

    if level not in ("viewer", "operator", "approver"):
        raise ToolError(Code.INVALID_ARGUMENTS, f"{level} is not viewer, operator or approver")
    by = require_approver()
    rooms = running_control_rooms()
    if not rooms:
        raise ToolError(
            Code.NOT_SUPPORTED, "no control room of this account runs", hint="`brasstag serve` opens one"
        )
    address = f"{rooms[0].origin}/login/{link_for(name, level, by.name)}"  # type: ignore[arg-type]
    report(output, {"name": name, "level": level, "link": address}, address)
    say(f"{name} logs in as {level} with it, once, within a quarter of an hour.", "dim", stderr=True)


@app.command()
def remove(name: Name, output: Output = None) -> None:
    """Remove a person's token, and log them out of the control room."""
    from brasstag.app import log_out, remove_approver
    from brasstag.surfaces.cli.session.people import require_approver

    require_approver()
    remove_approver(name)
    log_out(name)
    report(output, {"name": name, "removed": True}, f"{name} can no longer decide, and is logged out.")
