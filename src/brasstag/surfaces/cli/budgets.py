"""Limits given on the command line."""

from typing import TYPE_CHECKING, Annotated

import typer

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
