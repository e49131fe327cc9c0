"""An entry that nothing else has to go with is a commit of its own; it keeps every promise of a longer one."""

import pytest

from brasstag.store.database.schema import checkpoints
from brasstag.store.store import Store
from brasstag.store.tasks.types import Held, NewTask
from brasstag.store.timeline.timeline import SEAL_EVERY, entries_since
from brasstag.words.errors import Fenced, StoreLost
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.turns import Usage
from tests.postgres import Server
from tests.store.conftest import OpenBooks, call_at, on_postgres
from tests.store.maintenance.test_verify import check
from tests.store.test_at_once import at_once, opened_desk


def held_task(store: Store) -> Held:
    said = {"input": {"actor": "a", "role": "clerk", "request": "a task"}, "result": None}
    task = NewTask(new_id("task"), "agent", "a", "clerk", "a task", said)
    store.graph.open_root(task)
    held = store.graph.take(task.id, 1)
    assert held is not None
    return held


def numbers(store: Store, task: str) -> list[int]:
    return [entry.seq for entry in store.read(lambda view: entries_since(view, task, 0))]


def test_calls_written_by_two_processes_at_once_are_one_chain(open_store: OpenBooks) -> None:
    ours, theirs = open_store(), open_store()
    task = opened_desk(ours)
    acts = [
        lambda store=store: store.record(call_at(task), EntryKind.CALLED, {}) for store in (ours, theirs) * 4
    ]
    assert not [one for one in at_once(*acts) if isinstance(one, Exception)]
    assert numbers(ours, task) == list(range(10))
    assert check(ours).ok


def test_a_worker_that_lost_its_task_writes_neither_a_turn_nor_what_it_took(open_store: OpenBooks) -> None:
    ours, theirs = open_store(), open_store()
    held = held_task(ours)
    ours.graph.record_turn(held, turn(), Usage(1, 2, 0, 0))
    assert theirs.graph.reclaim(held.task)
    taken = theirs.graph.take(held.id, 2)
    assert taken is not None
    with pytest.raises(Fenced):
        ours.graph.record_turn(held, turn(), Usage(1, 2, 0, 0))
    theirs.graph.record_turn(taken, turn(), Usage(1, 2, 0, 0))
    used = ours.spendings(held.id)
    assert (used.own.steps, used.own.tokens, used.entries) == (2, 6, 3)
    assert check(ours).ok


def test_a_long_task_is_sealed_on_its_way(store: Store) -> None:
    task = opened_desk(store)
    before = seals_of(store, task)
    for _ in range(SEAL_EVERY):
        store.record(call_at(task), EntryKind.CALLED, {})
    assert seals_of(store, task) == [*before, SEAL_EVERY - 1]
    assert check(store).ok


@on_postgres
def test_a_connection_that_died_in_the_pool_is_not_written_to(store: Store, postgres: Server) -> None:
    task = opened_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {})
    postgres.restart(immediate=True)
    store.record(call_at(task), EntryKind.CALLED, {})
    assert numbers(store, task) == [0, 1, 2, 3]
    assert check(store).ok


@on_postgres
def test_a_server_that_is_away_is_told_and_nothing_is_written_twice(store: Store, postgres: Server) -> None:
    task = opened_desk(store)
    postgres.stop(immediate=True)
    try:
        with pytest.raises(StoreLost, match="Check that the server runs"):
            store.record(call_at(task), EntryKind.CALLED, {})
    finally:
        postgres.start()
    store.record(call_at(task), EntryKind.CALLED, {})
    assert numbers(store, task) == [0, 1, 2]
    assert check(store).ok


def turn() -> dict[str, object]:
    return {"type": "turn", "turn": 0, "calls": [], "usage": Usage(1, 2, 0, 0).as_json()}


def seals_of(store: Store, task: str) -> list[int]:
    query = checkpoints.select().where(checkpoints.c.task_id == task).order_by(checkpoints.c.seq)
    return store.read(lambda view: [row.task_seq for row in view.execute(query)])
