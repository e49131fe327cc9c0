"""Options that many commands share, among them the limits of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brasstag.settings import chosen_output
from brasstag.surfaces.cli.commands.complete import role_names
from brasstag.surfaces.cli.terminal.console import OutputName

HERE = Path()


def _output_or_setting(context: typer.Context, output: OutputName | None) -> OutputName | None:
    """Return the form that was asked for, or else the one that the project's settings name."""
    if output is not None or context.resilient_parsing:
        return output
    # What was given was read before what was not, so a project that was named is known here.
    return chosen_output(context.params.get("project") or context.lookup_default("project") or HERE)


Output = Annotated[
    OutputName | None,
    typer.Option(
        "--output",
        "-o",
        help="Print for people or as json; people, unless [cli] output in brasstag.toml says json.",
        callback=_output_or_setting,
    ),
]
Project = Annotated[
    Path,
    typer.Option(
        "--project",
        "-C",
        metavar="PATH",
        help="The project's directory, or any directory in it.",
        show_default=False,
    ),
]
Role = Annotated[
    str,
    typer.Option("--as", metavar="ROLE", help="The role that makes the call.", autocompletion=role_names),
]
ForRole = Annotated[
    str,
    typer.Option(
        "--as", metavar="ROLE", help="List only tools that this role may use.", autocompletion=role_names
    ),
]
Pairs = Annotated[
    list[str] | None,
    typer.Argument(metavar="key=value", help="The tool's arguments.", show_default=False),
]
JsonText = Annotated[
    str | None, typer.Option("--json", metavar="JSON", help="Give all arguments as one JSON object.")
]


def pass_on(context: typer.Context, project: Path, output: OutputName | None) -> None:
    """Let options given to a group count for the command that follows: ``tools -o json list``."""
    if context.invoked_subcommand is not None:
        # The setting of one project must not count for a command that names another one.
        source = context.get_parameter_source("output")
        was_given = source is not None and source.name == "COMMANDLINE"
        given = {"project": project} | ({"output": output} if was_given else {})
        context.default_map = {context.invoked_subcommand: given}


if TYPE_CHECKING:
    from brasstag.words.budgets import Budget

MaxSteps = Annotated[int | None, typer.Option("--max-steps", help="Stop after this many model turns.")]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", help="Stop after this many tokens, in and out.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="DOLLARS", help="Stop at this cost in dollars, such as 2.5."),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        "--max-seconds", metavar="SECONDS", help="Stop after this many seconds of model and tool time."
    ),
]
MaxDepth = Annotated[int | None, typer.Option("--max-depth", help="Allow this many levels of tasks.")]
MaxChildren = Annotated[
    int | None, typer.Option("--max-children", help="Allow each task to open this many tasks.")
]


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
