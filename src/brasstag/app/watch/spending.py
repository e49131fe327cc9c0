"""What tasks have used: steps, tokens and money, from the turns on their timelines."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from brasstag.store.database.base import View
from brasstag.store.tasks.rows import Task, get_task, read_tasks, tasks_of_tree
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.budgets import MICRO, dollars
from brasstag.words.events import EntryKind
from brasstag.words.turns import Usage


@dataclass(frozen=True, slots=True)
class UsedByTurns:
    """What turns took."""

    steps: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    cost: int = 0
    """Millionths of a dollar, of the turns whose price is known."""
    unpriced: int = 0
    """How many turns have an unknown price."""

    def __add__(self, other: "UsedByTurns") -> "UsedByTurns":
        return UsedByTurns(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.tokens_in + self.tokens_out

    def as_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "steps": self.steps,
            "tokensIn": self.tokens_in,
            "tokensOut": self.tokens_out,
            "tokensCached": self.cached,
            "cost": self.dollars,
            "stepsWithoutPrice": self.unpriced,
        }

    @property
    def dollars(self) -> float | None:
        """What the turns with a known price cost; None where there are turns, and no price is known."""
        return None if self.steps and self.unpriced == self.steps else self.cost / MICRO

    @property
    def price(self) -> str:
        """What it cost, in words where that is not known."""
        if self.dollars is None:
            return "not known"
        return f"{dollars(self.cost)} + not known" if self.unpriced else dollars(self.cost)


@dataclass(frozen=True, slots=True)
class Spending:
    """One turn of a task."""

    task: Task
    model: str
    taken: UsedByTurns


def spendings_of_run(view: View, name: str | None = None) -> Iterator[Spending]:
    """Yield what each turn took of the run that a task belongs to, or of all runs."""
    tasks = read_tasks(view) if name is None else tasks_of_tree(view, get_task(view, name).tree)
    return spendings(view, tasks)


def spendings(view: View, tasks: Iterable[Task]) -> Iterator[Spending]:
    """Yield what each turn of some tasks took."""
    for task in tasks:
        if task.is_desk or not task.steps:
            continue
        for entry in read_entries(view, task.id):
            if entry.kind is not EntryKind.TURN:
                continue
            usage = Usage.from_json((entry.payload or {}).get("usage", {}))
            taken = UsedByTurns(
                1,
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_tokens,
                usage.cost or 0,
                int(usage.cost is None),
            )
            yield Spending(task, str((entry.payload or {}).get("model", "(redacted)")), taken)


def taken_by(view: View, tasks: Iterable[Task]) -> UsedByTurns:
    """Return what some tasks took together."""
    return sum((one.taken for one in spendings(view, tasks)), UsedByTurns())
