"""Tasks at rest. A desk is the task without a model that owns the calls of one CLI call, library room or connection."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, insert, select, update

from brasstag.store.database import Transaction
from brasstag.store.prepared import Prepared
from brasstag.store.schema import tasks
from brasstag.store.seals import Key, head_signature
from brasstag.store.timeline import ENDED_STATUSES, START
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import SHORTEST_TAIL

Status = Literal["ready", "running", "blocked", "done", "failed", "cancelled"]
TaskKind = Literal["desk", "agent", "question"]
ENDED = frozenset(ENDED_STATUSES)
_COLUMNS = tuple(column.name for column in tasks.columns)

_insert = Prepared(insert(tasks).values({column.name: bindparam(column.name) for column in tasks.columns}))


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
    """The task a person began it all with."""
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


def get_task(connection: Connection, name: str) -> Task:
    """Return the task with this id, or with the only id that ends so."""
    row = connection.execute(select(tasks).where(tasks.c.id == name)).one_or_none()
    if row is None and len(name) >= SHORTEST_TAIL:
        found = connection.execute(
            select(tasks).where(tasks.c.id.endswith(name, autoescape=True)).limit(2)
        ).all()
        row = found[0] if len(found) == 1 else None
    if row is None:
        raise ToolError(
            Code.INVALID_ARGUMENTS, f"there is no task {name}; `brasstag timeline show` names them"
        )
    return Task(**row._mapping)
