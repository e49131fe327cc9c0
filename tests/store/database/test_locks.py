"""Locks are taken in one order, and whoever breaks it is told at once rather than found waiting one day."""

import threading
import time
from typing import Any

import pytest
from sqlalchemy import text

from brasstag.store.database.base import Database, Transaction
from brasstag.store.database.locks import Keyring, Lock
from brasstag.store.database.statements import Prepared
from brasstag.store.store import Store
from brasstag.store.tasks.end import Decision
from brasstag.store.tasks.rows import hold_task
from brasstag.store.tasks.types import NewTask
from brasstag.words.approvals import ApprovalState
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from tests.store.conftest import OpenBooks, call_at, on_postgres
from tests.store.test_at_once import ask, at_once, opened_desk


def test_locks_are_taken_in_their_order_and_each_is_waited_for_once() -> None:
    keys = Keyring()
    assert [keys.take(lock) for lock in Lock] == [True] * len(Lock)
    assert [keys.take(lock) for lock in Lock] == [False] * len(Lock)


@pytest.mark.parametrize("late", [lock for lock in Lock if lock is not max(Lock)])
def test_a_lock_that_comes_too_late_is_refused(database: Database, late: Lock) -> None:
    with (
        pytest.raises(AssertionError, match=f"{late.name} is locked after SEALS"),
        database.write() as transaction,
    ):
        transaction.lock(Lock.SEALS)
        transaction.lock(late)


def test_the_rows_of_tasks_have_their_place_among_the_locks(store: Store) -> None:
    task = opened_desk(store)
    with (
        pytest.raises(AssertionError, match="DOCUMENTS is locked after TASKS"),
        store.database.write() as transaction,
    ):
        hold_task(transaction, task)
        transaction.lock(Lock.DOCUMENTS)


@on_postgres
def test_two_calls_of_a_task_that_annotate_do_not_wait_for_each_other(open_store: OpenBooks) -> None:
    store, others = open_store(), open_store()
    task = opened_desk(store)
    approval = ask(store, task)
    store.decide(approval, Decision(ApprovalState.APPROVED, by="me"), {})
    meeting = threading.Barrier(2)

    def come_second(transaction: Transaction) -> None:
        meeting.wait(30)
        transaction.lock(Lock.DOCUMENTS)

    def come_first(transaction: Transaction) -> None:
        transaction.lock(Lock.DOCUMENTS)
        meeting.wait(30)

    results = at_once(
        lambda: store.record(call_at(task), EntryKind.CALLED, {}, approval.id, come_second),
        lambda: others.record(call_at(task), EntryKind.CALLED, {}, None, come_first),
    )
    assert [type(result).__name__ for result in results] == ["Tag", "Tag"]


@on_postgres
def test_a_run_that_changes_hands_lets_its_tasks_end(open_store: OpenBooks) -> None:
    store, others = open_store(), open_store()
    parent, child = new_id("task"), new_id("task")
    for task, above in ((parent, ""), (child, parent)):
        store.graph.open_root(
            NewTask(task, "agent", "ada", "writer", "t", {"input": {}}, tree=parent, parent_id=above)
        )
    results: list[Any] = []
    with store.database.write() as transaction:
        hold_task(transaction, child)
        requeue = threading.Thread(
            target=lambda: results.extend(at_once(lambda: others.graph.requeue(parent, "other")))
        )
        requeue.start()
        _wait_for_a_waiter(others.database)
        hold_task(transaction, parent)
    requeue.join(30)
    assert results == [None]


def _wait_for_a_waiter(database: Database) -> None:
    end = time.monotonic() + 30
    waiting = Prepared(text("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
    while not database.look(waiting):
        assert time.monotonic() < end, "nobody waits for the row of the child"
        time.sleep(0.01)
