"""What a task may still use of its own limits and of those of its run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from brasstag.engine.worker.journal import Journal
from brasstag.store.store import Store
from brasstag.store.tasks.rows import Spendings, Task
from brasstag.words.budgets import Budget, Spent, dollars
from brasstag.words.errors import Code, ToolError


def _seconds(number: float) -> str:
    return f"{number:,.3f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class _Measure:
    """One of the things a budget counts, and how it is shown to people."""

    limit: str
    used: str
    unit: str
    """Of the bare numbers."""
    shown: Callable[[Any], str]
    said: str
    """What follows the numbers as they are shown."""


_TIME = _Measure("max_seconds", "seconds", "seconds", _seconds, " seconds of work")
_MEASURES = (
    _Measure("max_steps", "steps", "turns", "{:,}".format, " turns"),
    _Measure("max_tokens", "tokens", "tokens", "{:,}".format, " tokens"),
    _Measure("max_cost", "cost", "millionths of a dollar", dollars, ""),
    _TIME,
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left to a task; None where nothing limits it."""

    seconds: float | None
    tokens: int | None
    most_steps: int = 0
    """Of the whole run; 0 where nothing limits them."""
    crowded: bool = False
    """Whether tasks of the run that are held now could take more steps than it has left."""


def allowance(store: Store, journal: Journal) -> Allowance:
    """Return what is left for the next turn; raise ToolError where a limit is reached."""
    used, own, run = _look(store, journal)
    task = journal.held.task
    for error in _reached(task, own, used.own):
        raise error
    for error in _reached(task, run, used.run, of_run=True):
        raise error
    tokens = [
        limit.max_tokens - spent.tokens
        for limit, spent in ((own, used.own), (run, used.run))
        if limit.max_tokens is not None
    ]
    # Each held task may be in a turn already, so none of them begins a turn that might exceed the limit.
    crowded = run.max_steps is not None and used.run.steps + used.running > run.max_steps
    return Allowance(_least_seconds(used, own, run), min(tokens, default=None), run.max_steps or 0, crowded)


def is_timed(journal: Journal) -> bool:
    """Say whether the time of a task, or of its run, is limited."""
    limits = journal.limits
    return limits.own.max_seconds is not None or limits.run.max_seconds is not None


def seconds_left(store: Store, journal: Journal) -> float | None:
    """Return how many seconds the calls of a task may take, or None where nothing limits them."""
    return _least_seconds(*_look(store, journal))


def out_of_time(task: Task, when: str, unwritten: float = 0.0) -> ToolError:
    """Return the error of a task whose time, or whose run's, is over; ``unwritten`` are seconds no entry tells of yet."""
    return ToolError(
        Code.BUDGET_EXCEEDED,
        f"the time this task of {task.role} or its run may work ran out {when}; {_more(task, _TIME)}",
        {"limit": "max_seconds", "seconds": unwritten},
    )


def _look(store: Store, journal: Journal) -> tuple[Spendings, Budget, Budget]:
    used = store.spendings(journal.held.id)
    if used.entries != journal.state.seen:
        # Another writer added entries, too: an answer its model gave in another task, for example.
        journal.refresh()
    return used, journal.limits.own, journal.limits.run


def _least_seconds(used: Spendings, own: Budget, run: Budget) -> float | None:
    left = [
        limit.max_seconds - spent.seconds
        for limit, spent in ((own, used.own), (run, used.run))
        if limit.max_seconds is not None
    ]
    return min(left, default=None)


def _reached(task: Task, budget: Budget, spent: Spent, *, of_run: bool = False) -> Iterator[ToolError]:
    whose = "this run" if of_run else f"this task of {task.role}"
    for one in _MEASURES:
        most, used = getattr(budget, one.limit), getattr(spent, one.used)
        if most is not None and used >= most:
            said = f"{one.shown(used)} of its {one.shown(most)}{one.said}"
            yield ToolError(
                Code.BUDGET_EXCEEDED,
                f"{whose} has used {said}; {_more(task, one, of_run=of_run)}",
                {"limit": one.limit, "most": most, "used": used, "unit": one.unit},
            )


def _more(task: Task, measure: _Measure, *, of_run: bool = False) -> str:
    """Say how a person allows more; a task below the root has told its parent that it ended, so it does not go on."""
    limit = measure.limit
    if not task.depth:
        return f"a person may extend it, with a higher {limit}"
    if of_run:
        return f"a person may extend it, with a higher {limit}: its root goes on, and may ask for this anew"
    return (
        f"it may be asked for anew. {limit} in [roles.{task.role}.budget] of brasstag.toml says how far each task of "
        f"{task.role} goes"
    )
