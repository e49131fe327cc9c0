"""Limits given on the command line."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from brasstag.words.budgets import Budget

MaxSteps = Annotated[int | None, typer.Option("--max-steps", min=1, help="Turns of models, at most.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens in and out, at most.")]
MaxCost = Annotated[float | None, typer.Option("--max-cost", help="Dollars, at most, such as 2.5.")]
MaxSeconds = Annotated[
    float | None, typer.Option("--max-seconds", help="Seconds of models and tools, at most.")
]
MaxDepth = Annotated[int | None, typer.Option("--max-depth", min=1, help="Tasks above one another, at most.")]
MaxChildren = Annotated[int | None, typer.Option("--max-children", min=1, help="Tasks one task may open.")]


def budget_of(
    steps: int | None,
    tokens: int | None,
    cost: float | None,
    seconds: float | None,
    depth: int | None,
    children: int | None,
) -> "Budget":
    """Return the limits; raise BadParameter for one that is not above zero."""
    from brasstag.surfaces.cli.figures import MICRO
    from brasstag.words.budgets import Budget
    from brasstag.words.canonical import LARGEST_INTEGER

    for name, value in (("--max-cost", cost), ("--max-seconds", seconds)):
        if value is not None and not 0 < value * MICRO <= LARGEST_INTEGER:
            raise typer.BadParameter(f"{name} is a number above zero, not {value:g}")
    for name, count in (("--max-steps", steps), ("--max-tokens", tokens), ("--max-depth", depth)):
        if count is not None and count > LARGEST_INTEGER:
            raise typer.BadParameter(f"{name} cannot be counted that far")
    return Budget(
        max_steps=steps,
        max_tokens=tokens,
        max_cost=None if cost is None else max(1, round(cost * MICRO)),
        max_depth=depth,
        max_children=children,
        max_seconds=seconds,
    )
