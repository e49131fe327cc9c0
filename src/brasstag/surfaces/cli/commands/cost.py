"""What runs have used: steps, tokens and money, by task, role and model."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from brasstag.surfaces.cli.commands.complete import run_ids
from brasstag.surfaces.cli.commands.options import HERE, Output, Project
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.show.task_tree import TAIL
from brasstag.surfaces.cli.terminal.console import print_json, say, wants_json
from brasstag.surfaces.cli.terminal.numbers import counted
from brasstag.surfaces.visible import one_line

if TYPE_CHECKING:
    from brasstag.app import Spending, UsedByTurns


def cost(
    task: Annotated[
        str | None,
        typer.Argument(help="Show only this run: its id, or the end of it.", autocompletion=run_ids),
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show the cost of runs, by task, role and model."""
    from brasstag.app import UsedByTurns, spendings_of_run

    with open_store(project) as room_state:
        found = room_state.store.read(lambda view: list(spendings_of_run(view, task)))
    by_task = _summed(found, lambda one: one.task.tree if task is None else one.task.id)
    by_role, by_model = _summed(found, lambda one: one.task.role), _summed(found, lambda one: one.model)
    total = sum((one.taken for one in found), UsedByTurns())
    if wants_json(output):
        kinds = {"runs" if task is None else "tasks": by_task, "roles": by_role, "models": by_model}
        parts = {kind: {name: one.as_json() for name, one in rows.items()} for kind, rows in kinds.items()}
        print_json({"total": total.as_json(), **parts})
    elif not found:
        say("No model has answered yet, so nothing was spent.", "dim")
    else:
        roles = {one.task.id: one.task.role for one in found}
        named = {f"{name[-TAIL:]} {roles.get(name, '')}": taken for name, taken in by_task.items()}
        _print_rows("run" if task is None else "task", named)
        _print_rows("role", by_role)
        _print_rows("model", by_model)
        _print_total(total)


def _print_total(total: "UsedByTurns") -> None:
    price = "cost not known" if total.dollars is None else total.price
    say(f"Altogether {counted(total.steps, 'step')}, {total.tokens:,} tokens, {price}.", "bold")
    if total.unpriced:
        steps = counted(total.unpriced, "step")
        say(f"The price of {steps} is not known; see your provider's bill.", "yellow")


def _summed(found: "Iterable[Spending]", name: "Callable[[Spending], str]") -> "dict[str, UsedByTurns]":
    sums: dict[str, UsedByTurns] = {}
    for one in found:
        key = name(one)
        sums[key] = sums[key] + one.taken if key in sums else one.taken
    return sums


def _print_rows(heading: str, rows: "dict[str, UsedByTurns]") -> None:
    """Print a line for each name; a name that does not fit goes on the next line, in full."""
    figures = [["steps", "in", "out", "cached", "cost"]]
    for taken in rows.values():
        counts = (taken.steps, taken.tokens_in, taken.tokens_out, taken.cached)
        figures.append([*(f"{count:,}" for count in counts), taken.price])
    widths = [max(map(len, column)) for column in zip(*figures, strict=True)]
    for name, row in zip((heading, *rows), figures, strict=True):
        line = "  ".join(figure.rjust(width) for figure, width in zip(row, widths, strict=True))
        say(f"{line}  {one_line(name)}", "bold" if row is figures[0] else "", at_words=True)
