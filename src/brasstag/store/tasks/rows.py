"""Rows of tasks. A desk is the task without a model that owns the calls of one command, Room or connection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, insert, select, update

from brasstag.store.database.base import Transaction
from brasstag.store.database.lookup import rows_named
from brasstag.store.database.schema import tasks
from brasstag.store.database.statements import Prepared
from brasstag.store.tasks.hints import OUTSIDE
from brasstag.store.timeline.lines import START
from brasstag.store.timeline.seals import Key, head_signature
from brasstag.store.timeline.timeline import ENDED_STATUSES
from brasstag.words.budgets import Spent
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import not_one

Status = Literal["ready", "running", "blocked", "done", "failed", "cancelled"]
TaskKind = Literal["desk", "agent", "question"]
ENDED = frozenset(ENDED_STATUSES)
_COLUMNS = tuple(column.name for column in tasks.columns)

_insert = Prepared(insert(tasks).values({column.name: bindparam(column.name) for column in tasks.columns}))

_by_id = Prepared(select(tasks).where(tasks.c.id == bindparam("task")))
_hold = Prepared(select(tasks).where(tasks.c.id == bindparam("task")).with_for_update())
_tree = tasks.alias("whole")
SPENDINGS = Prepared(
    select(
        tasks.c.steps,
        tasks.c.tokens,
        tasks.c.cost,
        tasks.c.milliseconds,
        tasks.c.next_seq,
        *(
            select(func.sum(_tree.c[name])).where(_tree.c.tree == tasks.c.tree).scalar_subquery()
            for name in ("steps", "tokens", "cost", "milliseconds")
        ),
        select(func.count())
        .where(_tree.c.tree == tasks.c.tree, _tree.c.status == "running")
        .scalar_subquery(),
    ).where(tasks.c.id == bindparam("task"))
)


@dataclass(frozen=True, slots=True)
class Spendings:
    """What a task and its whole run have used."""

    own: Spent
    run: Spent
    entries: int
    """How many entries the task has."""
    running: int
    """How many tasks of the run are held, this one among them: each may be in a turn that is not counted yet."""


@dataclass(frozen=True, slots=True)
class Task:
    """A node of the graph, as its row says."""

    id: str
    kind: TaskKind
    actor: str
    role: str
    status: Status
    boot: str
    next_seq: int
    head: str
    signature: str
    opened_at: str
    closed_at: str | None = None
    parent_id: str = ""
    parent_call: str = ""
    tree: str = ""
    """The task with which a person began the run."""
    queue: str = ""
    """Which process works on it; a worker works on all queues, also on tasks that no process began itself."""
    depth: int = 0
    title: str = ""
    """The beginning of what it was asked to do."""
    wake: int = 0
    woken_at: str = ""
    epoch: int = 0
    attempts: int = 0
    steps: int = 0
    tokens: int = 0
    cost: int = 0
    milliseconds: int = 0
    children: int = 0
    budget: str = "{}"
    """JSON: ``own`` limits, and those of its ``run``; at the root as extended last."""

    @property
    def is_desk(self) -> bool:
        """Whether it has no model: its own process makes its calls, no worker takes it, and no hint wakes it."""
        return self.kind == "desk"

    @property
    def is_outside(self) -> bool:
        """Whether a program outside takes its turns: no worker takes it, and no hint wakes it."""
        return self.queue == OUTSIDE

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens in it, unless a person resumes it."""
        return self.status in ENDED


def insert_task(
    transaction: Transaction,
    key: Key,
    task_id: str,
    *,
    kind: TaskKind,
    actor: str,
    role: str,
    status: Status,
    boot: str,
    at: str,
    **more: Any,
) -> None:
    """Write a task down, at the start of its chain; ``more`` are its other columns, by name."""
    signature = head_signature(key, task_id, START.next_seq, START.head)
    task = Task(task_id, kind, actor, role, status, boot, START.next_seq, START.head, signature, at, **more)
    transaction.run(_insert, **{name: getattr(task, name) for name in _COLUMNS})


def set_status(transaction: Transaction, task_id: str, status: Status, closed_at: str | None = None) -> None:
    """Say where a task stands now."""
    values = {"status": status} | ({"closed_at": closed_at} if closed_at else {})
    transaction.execute(update(tasks).where(tasks.c.id == task_id).values(values))


def read_tasks(connection: Connection, statuses: tuple[Status, ...] = ()) -> list[Task]:
    """Return tasks with these statuses, or all, oldest first."""
    query = select(tasks).order_by(tasks.c.opened_at, tasks.c.id)
    if statuses:
        query = query.where(tasks.c.status.in_(statuses))
    return [Task(**row._mapping) for row in connection.execute(query)]


def find_task(connection: Connection, task_id: str) -> Task | None:
    """Return the task with exactly this id, or None: a desk that has not made a call yet is in no table."""
    rows = _by_id.rows(connection, task=task_id)
    return Task(*rows[0]) if rows else None


def hold_task(transaction: Transaction, task_id: str) -> Task:
    """Return a task, whose row no other transaction changes until this one ends."""
    transaction.touch_tasks()
    row = transaction.run(_hold, task=task_id).fetchone()
    if row is None:
        raise _not_found(task_id)
    return Task(*row)


def status_of(connection: Connection, task_id: str) -> Status | None:
    """Return where a task stands, or None for a desk that is in no table yet."""
    found: Status | None = connection.execute(
        select(tasks.c.status).where(tasks.c.id == task_id)
    ).scalar_one_or_none()
    return found


def live_children(connection: Connection, parent_id: str) -> list[Task]:
    """Return the tasks a task opened that have not ended."""
    query = select(tasks).where(tasks.c.parent_id == parent_id, tasks.c.status.not_in(ENDED_STATUSES))
    return [Task(**row._mapping) for row in connection.execute(query.order_by(tasks.c.id))]


def tasks_of_tree(connection: Connection, tree: str) -> list[Task]:
    """Return every task of a run, oldest first."""
    query = select(tasks).where(tasks.c.tree == tree).order_by(tasks.c.id)
    return [Task(**row._mapping) for row in connection.execute(query)]


def tasks_below(connection: Connection, top: Task) -> list[Task]:
    """Return a task and all below it; parents come before their children."""
    names = {top.id}
    found = [top]
    for task in tasks_of_tree(connection, top.tree):
        if task.parent_id in names and task.id not in names:
            names.add(task.id)
            found.append(task)
    return found


def spendings_of(rows: list[Any]) -> Spendings:
    """Read what SPENDINGS found: what a task, and the run it belongs to, have used so far."""
    steps, tokens, cost, milliseconds, entries, *whole, running = rows[0]
    own = Spent(steps, tokens, cost, milliseconds / 1000)
    run = Spent(int(whole[0]), int(whole[1]), int(whole[2]), int(whole[3]) / 1000)
    return Spendings(own, run, entries, running)


def long_ready(connection: Connection, before: str) -> list[Task]:
    """Return tasks that have been ready since before a moment, and that no worker has taken."""
    query = select(tasks).where(tasks.c.status == "ready", tasks.c.woken_at < before)
    return [Task(**row._mapping) for row in connection.execute(query.order_by(tasks.c.id))]


def held_tasks(connection: Connection, task_ids: Sequence[str]) -> dict[str, tuple[Status, int]]:
    """Return the status and epoch of tasks, by id."""
    query = select(tasks.c.id, tasks.c.status, tasks.c.epoch).where(tasks.c.id.in_(task_ids))
    return {row.id: (row.status, row.epoch) for row in connection.execute(query)}


def orphans(connection: Connection) -> list[str]:
    """Return live tasks whose parent, an agent, has ended."""
    parent = tasks.alias("parent")
    query = (
        select(tasks.c.id)
        .join(parent, parent.c.id == tasks.c.parent_id)
        .where(
            tasks.c.status.not_in(ENDED_STATUSES),
            parent.c.status.in_(ENDED_STATUSES),
            parent.c.kind != "desk",
        )
    )
    return list(connection.execute(query.order_by(tasks.c.id)).scalars())


def get_task(connection: Connection, name: str) -> Task:
    """Return the task with this id, or with the only id that ends so."""
    found = rows_named(connection, tasks.c.id, name)
    if len(found) != 1:
        raise _not_found(name, several=len(found) > 1)
    return Task(**found[0]._mapping)


def _not_found(name: str, *, several: bool = False) -> ToolError:
    return ToolError(
        Code.TASK_NOT_FOUND, not_one("task", name, several=several), hint="`brasstag tasks` lists them"
    )
