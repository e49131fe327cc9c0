"""Options that many commands share."""

from pathlib import Path
from typing import Annotated

import typer

from brasstag.surfaces.cli.completing import role_names
from brasstag.surfaces.cli.console import OutputName

HERE = Path()

Output = Annotated[
    OutputName | None,
    typer.Option("--output", "-o", help="people or json; json when the output is not a terminal."),
]
Project = Annotated[
    Path,
    typer.Option(
        "--project", "-C", help="Directory of the project, or any directory in it.", show_default=False
    ),
]
Role = Annotated[
    str,
    typer.Option("--as", metavar="ROLE", help="The role that makes the call.", autocompletion=role_names),
]
ForRole = Annotated[
    str,
    typer.Option("--as", metavar="ROLE", help="Only what this role may use.", autocompletion=role_names),
]
Pairs = Annotated[
    list[str] | None, typer.Argument(metavar="[key=value]...", help="Its arguments.", show_default=False)
]
JsonText = Annotated[str | None, typer.Option("--json", help="All arguments as one JSON object.")]


def pass_on(context: typer.Context, project: Path, output: OutputName | None) -> None:
    """Let options given to a group count for the command that follows: ``tools -o json list``."""
    if context.invoked_subcommand is not None:
        context.default_map = {context.invoked_subcommand: {"project": project, "output": output}}
