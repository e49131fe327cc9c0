"""Mutants: what would be wrong with the engine if one of its promises were left out. Worker processes wear them, by name."""

import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from brasstag.engine.calls.admit import Admitted
from brasstag.engine.in_flight import Deadline
from brasstag.engine.recovery import crashed
from brasstag.engine.runtime import Runtime
from brasstag.store.database.base import Transaction
from brasstag.store.tasks.end import Endings
from brasstag.store.tasks.graph import Graph
from brasstag.store.tasks.ledger import Claimed
from brasstag.store.tasks.rows import Task, status_of
from brasstag.store.tasks.types import Ending, Message
from brasstag.store.timeline import timeline
from brasstag.store.timeline.lines import EntryLine
from brasstag.words.calls import Call, Settled, Tag

Put = Callable[[object, str, object], None]


def mutate(name: str) -> None:
    """Break this process's engine in the way of that name; an empty one leaves it whole."""
    if name:
        MUTANTS[name](setattr)


def _no_fence(put: Put) -> None:
    """Whoever held a task once may write to it for ever."""
    line_of = timeline.line_of

    def unfenced(*said: Any) -> EntryLine:
        *what, _epoch, _spent = said
        return line_of(*what, 0, {})

    put(timeline, "line_of", unfenced)
    put(timeline, "NEEDS_OPEN_TASK", frozenset())


def _late_enqueue(put: Put) -> None:
    """A task is woken by a commit of its own, after the one it is woken for; this worker does not live to make it."""

    def wake(_endings: Endings, transaction: Transaction, task_id: str) -> None:
        if status_of(transaction.connection, task_id) == "blocked":
            transaction.after_commit.append(lambda: _get(signal.SIGKILL))

    put(Endings, "wake", wake)


def _blind_rerun(put: Put) -> None:
    """Whatever was cut short is simply run again."""

    def run_again(runtime: Runtime, claim: Claimed, payload: dict[str, Any], watch: Deadline) -> Settled:
        about = (payload["input"], payload["actor"], payload["role"], claim.task_id)
        tool = runtime.registry.get(claim.tool)
        assert tool is not None
        return crashed._run_again(runtime, Admitted(Call(claim.call_id, claim.tool, *about), tool), watch)

    put(crashed, "_finish_outside", run_again)


def _parent_before_child(put: Put) -> None:
    """The parent is told before its child is closed, and between the two this worker is stopped."""
    finish = Graph._finish

    def turned_round(graph: Graph, transaction: Transaction, task: Task, ending: Ending, epoch: int) -> Tag:
        if ending.messages:
            graph._tell(transaction, ending.messages)
            _get(signal.SIGSTOP)
        return finish(graph, transaction, task, replace(ending, messages=()), epoch)

    put(Graph, "_finish", turned_round)


def _child_before_parent(put: Put) -> None:
    """No mutant, but what the one above is compared with: the order is right, and between the two it is stopped."""
    tell = Graph._tell

    def stopped(graph: Graph, transaction: Transaction, messages: Sequence[Message]) -> None:
        if messages:
            _get(signal.SIGSTOP)
        tell(graph, transaction, messages)

    put(Graph, "_tell", stopped)


def _get(number: int) -> None:
    signal.pthread_kill(threading.get_ident(), number)


MUTANTS: dict[str, Callable[[Put], None]] = {
    "no_fence": _no_fence,
    "late_enqueue": _late_enqueue,
    "blind_rerun": _blind_rerun,
    "parent_before_child": _parent_before_child,
    "child_before_parent": _child_before_parent,
}
