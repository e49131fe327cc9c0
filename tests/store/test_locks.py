"""Locks are taken in one order, and whoever breaks it is told at once rather than found waiting one day."""

import threading
import time
from typing import Any

import pytest
from sqlalchemy import text

from brasstag.store.books import Books
from brasstag.store.database import Database, Transaction
from brasstag.store.ending import Decision
from brasstag.store.graph_words import NewTask
from brasstag.store.locks import Keyring, Lock
from brasstag.store.prepared import Prepared
from brasstag.store.tasks import hold_task
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


def test_the_rows_of_tasks_have_their_place_among_the_locks(books: Books) -> None:
    task = opened_desk(books)
    with (
        pytest.raises(AssertionError, match="DOCUMENTS is locked after TASKS"),
        books.database.write() as transaction,
    ):
        hold_task(transaction, task)
        transaction.lock(Lock.DOCUMENTS)


@on_postgres
def test_two_calls_of_a_task_that_annotate_do_not_wait_for_each_other(open_books: OpenBooks) -> None:
    books, others = open_books(), open_books()
    task = opened_desk(books)
    approval = ask(books, task)
    books.decide(approval, Decision(ApprovalState.APPROVED, by="me"), {})
    meeting = threading.Barrier(2)

    def come_second(transaction: Transaction) -> None:
        meeting.wait(30)
        transaction.lock(Lock.DOCUMENTS)

    def come_first(transaction: Transaction) -> None:
        transaction.lock(Lock.DOCUMENTS)
        meeting.wait(30)

    results = at_once(
        lambda: books.record(call_at(task), EntryKind.CALLED, {}, approval.id, come_second),
        lambda: others.record(call_at(task), EntryKind.CALLED, {}, None, come_first),
    )
    assert [type(result).__name__ for result in results] == ["Tag", "Tag"]


@on_postgres
def test_a_run_that_changes_hands_lets_its_tasks_end(open_books: OpenBooks) -> None:
    books, others = open_books(), open_books()
    parent, child = new_id("task"), new_id("task")
    for task, above in ((parent, ""), (child, parent)):
        books.graph.open_root(
            NewTask(task, "agent", "ada", "writer", "t", {"input": {}}, tree=parent, parent_id=above)
        )
    results: list[Any] = []
    with books.database.write() as transaction:
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
