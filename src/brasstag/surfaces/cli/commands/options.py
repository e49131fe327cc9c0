"""Options that many commands share, among them the limits of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brasstag.surfaces.cli.commands.complete import role_names
from brasstag.surfaces.cli.terminal.console import OutputName

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


if TYPE_CHECKING:
    from brasstag.words.budgets import Budget

MaxSteps = Annotated[int | None, typer.Option("--max-steps", help="Turns of models, at most.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", help="Tokens in and out, at most.")]
MaxCost = Annotated[float | None, typer.Option("--max-cost", help="Dollars, at most, such as 2.5.")]
MaxSeconds = Annotated[
    float | None, typer.Option("--max-seconds", help="Seconds of models and tools, at most.")
]
MaxDepth = Annotated[int | None, typer.Option("--max-depth", help="Tasks above one another, at most.")]
MaxChildren = Annotated[int | None, typer.Option("--max-children", help="Tasks one task may open.")]


def budget_of(
    steps: int | None,
    tokens: int | None,
    cost: float | None,
    seconds: float | None,
    depth: int | None,
    children: int | None,
) -> "Budget":
    """Return the limits; raise BadParameter for one that is out of bounds."""
    from brasstag.words.budgets import AMOUNT, COUNT, Budget

    given = (
        ("--max-steps", steps, COUNT),
        ("--max-tokens", tokens, COUNT),
        ("--max-cost", cost, AMOUNT),
        ("--max-seconds", seconds, AMOUNT),
        ("--max-depth", depth, COUNT),
        ("--max-children", children, COUNT),
    )
    for option, value, bound in given:
        reason = None if value is None else bound.why_not(value)
        if reason is not None:
            raise typer.BadParameter(f"{option} {reason}. {bound.mend}")
    return Budget(
        max_steps=steps,
        max_tokens=tokens,
        max_dollars=cost,
        max_depth=depth,
        max_children=children,
        max_seconds=seconds,
    )
