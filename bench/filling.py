"""Tasks that wait for people, opened by the thousand: through the real graph, but many in one commit."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crews import open_room
from sqlalchemy import Connection

from brasstag import Room
from brasstag.engine.graph.open import TaskRequest, question_task, root_task
from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.statements import Guarded, Prepared
from brasstag.store.tasks.graph import Graph
from brasstag.store.tasks.hints import NoHints
from brasstag.store.timeline.seals import Witness
from brasstag.words.calls import Call
from brasstag.words.events import EntryKind
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Usage

QUESTION = "May I?"
TOGETHER = 250
"""Tasks in one commit."""


@dataclass(frozen=True)
class Filled:
    """The tasks, each with its question, and how long it took to open them."""

    questions: list[tuple[str, str]]
    seconds: float


class _Together:
    """A database as it looks from inside one of its transactions."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        yield self._transaction

    @contextmanager
    def read(self) -> Iterator[Connection]:
        yield self._transaction.connection

    def look(self, statement: Prepared, **values: Any) -> list[Any]:
        return statement.rows(self._transaction.connection, **values)

    def add(self, statement: Guarded, **values: Any) -> bool:
        return self._transaction.run_guarded(statement, **values)


def fill_project(project: Path, url: str, tasks: int) -> Filled:
    """Fill a project's room; for a process of its own, as several of these in one would wait for each other."""
    return asyncio.run(_fill_project(project, url, tasks))


async def _fill_project(project: Path, url: str, tasks: int) -> Filled:
    async with open_room(project, url) as room:
        started = time.perf_counter()
        return Filled(fill(room, tasks), time.perf_counter() - started)


def fill(room: Room, tasks: int) -> list[tuple[str, str]]:
    """Open so many tasks that each wait for a person; return each with its question."""
    store, remember = room.store, room.store.sealer._remember
    database, heard, desks = store.database, store.jobs, store._desks
    sealed: list[Witness] = []
    # Nobody serves them meanwhile, so hints would only pile up; and of all the seals only the last is remembered.
    desks.jobs, store.sealer._remember = NoHints(), sealed.append  # type: ignore[method-assign]
    found: list[tuple[str, str]] = []
    try:
        for first in range(0, tasks, TOGETHER):
            with database.write() as transaction:
                _look_from(room, _Together(transaction))  # type: ignore[arg-type]
                found += [_open(room, number) for number in range(first, min(first + TOGETHER, tasks))]
    finally:
        desks.jobs, store.sealer._remember = heard, remember  # type: ignore[method-assign]
        _look_from(room, database)
    remember(sealed[-1])
    return found


def _look_from(room: Room, database: Database) -> None:
    store = room.store
    store.database = store._desks.database = database
    store.graph = Graph(store._desks, store.ledger, store.endings)


def _open(room: Room, number: int) -> tuple[str, str]:
    """Do what an engine does with a run whose model asks a question in its first turn."""
    runtime, store, graph = room._runtime, room.store, room.store.graph
    asked = TaskRequest(f"Order {number}", "clerk", "bench")
    task = store.read(lambda view: root_task(runtime, view, asked))
    graph.open_root(task)
    held = graph.take(task.id, 1)
    assert held is not None
    use = ToolUse("c0_0", "ask_master", {"question": QUESTION})
    said = {"type": "turn", "turn": 0, "model": "", "text": "", "thinking": [], "calls": [use.as_json()]}
    said |= {"usage": Usage().as_json(), "stop": "calls", "seconds": 0.0, "note": ""}
    graph.record_turn(held, said, Usage())
    call = Call(f"{task.id}:0.0", use.tool, use.arguments, "agent:clerk", "clerk", task.id, epoch=held.epoch)
    node = store.read(lambda view: question_task(runtime, view, call, QUESTION, ()))
    about = {"type": "ask_master", "tool": use.tool, "input": use.arguments, "actor": call.actor}
    about |= {"role": call.role, "result": f"→ asked a person ({node.id})", "child": node.id, "to": node.role}
    graph.open_child(call, EntryKind.QUESTIONED, about, node, None)
    assert graph.block(held, 3)
    return task.id, node.id
