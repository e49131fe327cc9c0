"""What runs have taken: steps, tokens and money, by task, by role and by model, from the turns on the timeline."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.completing import run_ids
from brasstag.surfaces.cli.console import print_json, say, table, wants_json
from brasstag.surfaces.cli.figures import counted, dollars
from brasstag.surfaces.cli.options import HERE, Output, Project
from brasstag.surfaces.cli.pictures import TAIL
from brasstag.surfaces.cli.rooms import open_books

if TYPE_CHECKING:
    from brasstag.store.database import View
    from brasstag.store.tasks import Task


@dataclass(frozen=True, slots=True)
class Taken:
    """What turns took."""

    steps: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    cost: int = 0
    """Millionths of a dollar, of the turns whose price is known."""
    unpriced: int = 0
    """Turns whose price nobody knows."""

    def __add__(self, other: "Taken") -> "Taken":
        return Taken(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def as_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "steps": self.steps,
            "tokensIn": self.tokens_in,
            "tokensOut": self.tokens_out,
            "tokensCached": self.cached,
            "cost": self.cost / 1_000_000,
            "stepsWithoutPrice": self.unpriced,
        }

    @property
    def price(self) -> str:
        """What it cost, said plainly where that is not known."""
        if self.steps and self.unpriced == self.steps:
            return "not known"
        return f"{dollars(self.cost)} + not known" if self.unpriced else dollars(self.cost)


@dataclass(frozen=True, slots=True)
class Spending:
    """One turn of a task."""

    task: "Task"
    model: str
    taken: Taken


def cost(
    task: Annotated[
        str | None, typer.Argument(help="Only this run: its id, or the end of it.", autocompletion=run_ids)
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Say what runs have taken, by task, role and model."""
    from brasstag.store.tasks import get_task, read_tasks, tasks_of_tree

    with open_books(project) as vault:

        def look(view: "View") -> list[Spending]:
            chosen = read_tasks(view) if task is None else tasks_of_tree(view, get_task(view, task).tree)
            return list(_spendings(view, chosen))

        found = vault.books.read(look)
    by_task = _summed(found, lambda one: one.task.tree if task is None else one.task.id)
    by_role, by_model = _summed(found, lambda one: one.task.role), _summed(found, lambda one: one.model)
    total = sum((one.taken for one in found), Taken())
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


def _print_total(total: Taken) -> None:
    tokens = total.tokens_in + total.tokens_out
    say(f"Altogether {counted(total.steps, 'step')}, {tokens:,} tokens, {total.price}.", "bold")
    if total.unpriced:
        steps = counted(total.unpriced, "step")
        say(f"Nobody here knows the price of {steps}; your provider's bill says it.", "yellow")


def _spendings(view: "View", tasks: Iterable["Task"]) -> Iterator[Spending]:
    from brasstag.store.timeline import read_entries
    from brasstag.words.events import EntryKind
    from brasstag.words.turns import Usage

    for task in tasks:
        if task.kind == "desk" or not task.steps:
            continue
        for entry in read_entries(view, task.id):
            if entry.kind is not EntryKind.TURN:
                continue
            usage = Usage.from_json((entry.payload or {}).get("usage", {}))
            taken = Taken(
                1,
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_tokens,
                usage.cost or 0,
                int(usage.cost is None),
            )
            yield Spending(task, str((entry.payload or {}).get("model", "(redacted)")), taken)


def _summed(found: Iterable[Spending], name: Callable[[Spending], str]) -> dict[str, Taken]:
    sums: dict[str, Taken] = defaultdict(Taken)
    for one in found:
        sums[name(one)] += one.taken
    return dict(sums)


def _print_rows(heading: str, rows: dict[str, Taken]) -> None:
    table(
        ("steps", "in", "out", "cached", "cost", heading),
        [
            (
                f"{taken.steps:,}",
                f"{taken.tokens_in:,}",
                f"{taken.tokens_out:,}",
                f"{taken.cached:,}",
                taken.price,
                name,
            )
            for name, taken in rows.items()
        ],
        styles={5: "bold"},
    )
