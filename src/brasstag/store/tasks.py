"""Tasks at rest. A desk is the task without a model that owns the calls of one CLI call, library room or connection."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, insert, select, update

from brasstag.store.database import Transaction
from brasstag.store.schema import tasks
from brasstag.store.seals import Key, head_signature
from brasstag.store.timeline import ENDED_STATUSES, START
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import SHORTEST_TAIL

Status = Literal["ready", "running", "blocked", "done", "failed", "cancelled"]
ENDED = frozenset(ENDED_STATUSES)

_insert = insert(tasks).values({column.name: bindparam(column.name) for column in tasks.columns})


@dataclass(frozen=True, slots=True)
class Task:
    """A node of the graph, as its row says."""

    id: str
    kind: str
    actor: str
    role: str
    status: Status
    boot: str
    next_seq: int
    head: str
    signature: str
    opened_at: str
    closed_at: str | None = None


def insert_task(
    transaction: Transaction, key: Key, task_id: str, kind: str, actor: str, role: str, boot: str, at: str
) -> None:
    """Write a task down, at the start of its chain."""
    transaction.execute(
        _insert,
        {
            "id": task_id,
            "kind": kind,
            "actor": actor,
            "role": role,
            "status": "running",
            "boot": boot,
            "next_seq": START.next_seq,
            "head": START.head,
            "signature": head_signature(key, task_id, START.next_seq, START.head),
            "opened_at": at,
            "closed_at": None,
        },
    )


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
