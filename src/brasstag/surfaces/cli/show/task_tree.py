"""Tasks as a tree: who works for whom, how far each is, and what it waits for."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from brasstag.surfaces.cli.terminal.numbers import counted
from brasstag.surfaces.visible import one_line
from brasstag.words.budgets import dollars

if TYPE_CHECKING:
    from rich.text import Text

    from brasstag.app import Overview
    from brasstag.store import Task

SIGNS: Mapping[str, tuple[str, str]] = {
    "ready": ("○", "cyan"),
    "running": ("●", "cyan"),
    "blocked": ("◌", "yellow"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("■", "dim"),
}
TAIL = 8
"""How much of an id names a task to a person."""
_NARROWEST = 12
_NOTHING: Mapping[str, str] = {}


def picture(
    overview: "Overview", width: int | None, doing: Mapping[str, str] = _NOTHING, *, hints: bool = False
) -> Iterator["Text"]:
    """Yield the tasks as a tree, each on one line that fits into ``width``, if there is one.

    ``hints`` says how people answer what waits.
    """
    for root in overview.roots():
        yield from _branch(overview, root, ("", ""), width, doing, hints)


def spent(task: "Task") -> str:
    """Say what a task, or a run, has taken."""
    said = [counted(task.steps, "step"), f"{_short(task.tokens)} tokens"] if task.steps else []
    return " · ".join([*said, dollars(task.cost)] if task.cost else said)


def _branch(
    overview: "Overview",
    task: "Task",
    edges: tuple[str, str],
    width: int | None,
    doing: Mapping[str, str],
    hints: bool,
) -> Iterator["Text"]:
    first, rest = edges
    yield _row(overview, task, first, width, doing)
    below = overview.below(task)
    if hints:
        yield from _hints(overview, task, f"{rest}{'│ ' if below else '  '}", width)
    for child in below:
        is_last = child is below[-1]
        edges = (f"{rest}{'└─ ' if is_last else '├─ '}", f"{rest}{'   ' if is_last else '│  '}")
        yield from _branch(overview, child, edges, width, doing, hints)


def _row(
    overview: "Overview", task: "Task", edge: str, width: int | None, doing: Mapping[str, str]
) -> "Text":
    from rich.cells import cell_len
    from rich.text import Text

    sign, style = SIGNS["blocked" if task.id in overview.left else task.status]
    who = f"{task.role} answers" if task.kind == "question" and task.role != "person" else task.role
    row = Text.assemble(
        (edge, "dim"), (f"{sign} ", style), (one_line(who), "bold"), (f"  {task.id[-TAIL:]}  ", "dim")
    )
    numbers = spent(task)
    said = Text(one_line(_said(overview, task, doing)), style="dim" if task.has_ended else "")
    if width is None:
        return row.append_text(said).append(f"  {numbers}" if numbers else "", "dim")
    room = width - row.cell_len - (cell_len(numbers) + 2 if numbers else 0)
    if room < _NARROWEST:
        numbers, room = "", width - row.cell_len
    said.truncate(max(room, 1), overflow="ellipsis")
    row.append_text(said)
    if numbers:
        row.append(" " * (room - said.cell_len + 2))
        row.append(numbers, "dim")
    row.truncate(width, overflow="ellipsis")
    return row


def _said(overview: "Overview", task: "Task", doing: Mapping[str, str]) -> str:
    about = task.actor if task.is_desk else task.title
    waits = ", ".join(overview.waits_for(task))
    if waits:
        return f"waits for {waits}: {about}" if task.kind == "question" else f"waits for {waits}"
    if task.id in overview.left:
        return f"no process works on it: {about}"
    if task.status == "running" and not task.is_desk:
        return f"uses {doing[task.id]}" if doing.get(task.id) else f"thinks: {about}"
    if task.status in ("failed", "cancelled"):
        return f"{task.status}: {about}"
    return about


def _hints(overview: "Overview", task: "Task", edge: str, width: int | None) -> Iterator["Text"]:
    from rich.text import Text

    said = [f"brasstag approvals approve {one.id[-TAIL:]}" for one in overview.approvals_of(task)]
    if task in overview.questions:
        said.append(f"brasstag answer {task.id[-TAIL:]} 'YOUR ANSWER'")
    if task.id in overview.left:
        said.append(f"brasstag resume {task.tree[-TAIL:]}")
    for command in said:
        hint = Text.assemble((f"{edge}   ", "dim"), (command, "yellow"))
        if width is not None:
            hint.truncate(width, overflow="ellipsis")
        yield hint


def _short(number: int) -> str:
    return f"{number:,}" if number < 10_000 else f"{number / 1000:,.0f}k"
