"""Tokens for programs that use the HTTP API of the control room; no token decides anything."""

from typing import Annotated

import typer

from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import Output
from brasstag.surfaces.cli.terminal.console import print_json, report, say, wants_json

app = CommandGroup(help="List, make and remove tokens of programs.", invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="The program's name, as the timeline shows it.")]


@app.callback()
def tokens(context: typer.Context, output: Output = None) -> None:
    """List the programs that have a token, when no command is given."""
    from brasstag.app import program_tokens

    if context.invoked_subcommand is not None:
        context.default_map = {context.invoked_subcommand: {"output": output}}
        return
    found = program_tokens()
    for one in found:
        told = {"name": one.name, "role": one.role, "issuedBy": one.issued_by, "issuedAt": one.issued_at}
        report(output, told, f"{one.name}  (as {one.role}, by {one.issued_by})")
    if not found and not wants_json(output):
        say("No program has a token; `brasstag tokens new NAME --role ROLE` makes one.", "dim")


@app.command()
def new(
    name: Name,
    role: Annotated[str, typer.Option(help="The role in which the program makes calls and starts runs.")],
    output: Output = None,
) -> None:
    """Make a token for a program; only its digest is stored.

    The token is printed alone on standard output. A program sends it as `Authorization: Bearer TOKEN`, and never decides.
    """
    from brasstag.app import new_token
    from brasstag.surfaces.cli.session.people import require_approver

    token = new_token(name, role, issued_by=require_approver().name)
    if wants_json(output):
        print_json({"name": name, "role": role, "token": token})
    else:
        typer.echo(token)
    say(f"A program with this token uses the API as {role}; it never decides.", stderr=True)


@app.command()
def remove(name: Name, output: Output = None) -> None:
    """Remove a program's token."""
    from brasstag.app import remove_token
    from brasstag.surfaces.cli.session.people import require_approver

    require_approver()
    remove_token(name)
    report(output, {"name": name, "removed": True}, f"{name} can no longer use the API.")
