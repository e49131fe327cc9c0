"""Several writers at once: on Postgres they really are, on SQLite they queue; what is written down is the same."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from brasstag.store.store import Store
from brasstag.store.tasks.approvals import list_approvals
from brasstag.store.tasks.end import Decision
from brasstag.store.tasks.ledger import open_claims
from brasstag.store.tasks.rows import get_task, read_tasks
from brasstag.store.tasks.types import Ending, Message, NewTask
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.errors import Code, LeaseHeld, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.previews import ABSENT, Change, Preview, file_state
from tests.store.conftest import OpenBooks, call_at, open_desk
from tests.store.maintenance.test_verify import check

THREADS = 4
NEW = file_state("b" * 64)
_SAID = {"input": {"actor": "a", "role": "r", "request": "t"}}


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Begin every act at the same moment; returns what each returned or raised."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        barrier.wait(30)
        try:
            return act()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(acts)) as threads:
        return list(threads.map(run, acts))


def opened_desk(store: Store) -> str:
    task = open_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {"result": 0})
    return task


def ask(store: Store, task: str) -> Approval:
    approval = Approval(
        id=new_id("apr"), call_id=new_id("call"), task_id=task, tool="write_file", tool_version="v", arguments={},
        actor="a", role="operator", reason="r", rule="r", preview=Preview(), digest="d", state=ApprovalState.OPEN,
        requested_at="2026-01-01T00:00:00.000000Z",
    )  # fmt: skip
    store.ask(approval, {"approval": approval.id, "tool": "write_file"})
    return approval


def deny(store: Store, approval: Approval) -> Callable[[], Any]:
    said = {"approval": approval.id, "state": "denied", "by": "ada", "note": ""}
    return lambda: store.decide(approval, Decision(ApprovalState.DENIED, "ada"), said)


def kinds(store: Store, task: str) -> list[EntryKind]:
    return [entry.kind for entry in store.read(lambda view: list(read_entries(view, task)))]


def test_tasks_opened_at_once_are_all_sealed_on_one_chain(open_store: OpenBooks) -> None:
    one, other = open_store(), open_store()

    def open_some(store: Store) -> None:
        for _ in range(10):
            store.close_task(opened_desk(store), "done", {})

    assert at_once(*[lambda store=store: open_some(store) for store in (one, other) * 2]) == [None] * 4
    report = check(one)
    assert report.ok, report.findings
    assert (report.tasks, report.checkpoints) == (40, 80)


def test_of_claims_that_overlap_one_is_taken(open_store: OpenBooks) -> None:
    one, other = open_store(), open_store()
    tasks = [opened_desk(one), opened_desk(other)]
    for number in range(10):
        paths = (f"d{number}", f"d{number}/a.md")

        def claim(store: Store, task: str, path: str) -> Callable[[], Any]:
            return lambda: store.claim(call_at(task, "w"), (Change(path, ABSENT, NEW),), None, {})

        first, second = at_once(claim(one, tasks[0], paths[0]), claim(other, tasks[1], paths[1]))
        assert isinstance(first, LeaseHeld) != isinstance(second, LeaseHeld), (first, second)
    assert len(one.read(lambda view: list(open_claims(view)))) == 10


def test_an_approval_is_decided_once(store: Store) -> None:
    for _ in range(5):
        approval = ask(store, opened_desk(store))
        results = at_once(*[deny(store, approval)] * THREADS)
        refused = [result for result in results if isinstance(result, ToolError)]
        assert [error.code for error in refused] == [Code.APPROVAL_CLOSED] * (THREADS - 1), results
    assert check(store).ok


def test_decisions_beside_the_end_of_their_task_hold_nobody_up(store: Store) -> None:
    """Both take the task first, so neither waits for what the other holds."""
    for _ in range(5):
        task = opened_desk(store)
        approvals = [ask(store, task) for _ in range(THREADS)]
        close = lambda task=task: store.close_task(task, "cancelled", {}, withdraw="ada")  # noqa: E731
        *decided, closed = at_once(*[deny(store, approval) for approval in approvals], close)
        assert isinstance(closed, list), closed
        for result in decided:
            assert not isinstance(result, Exception) or isinstance(result, ToolError), result
        states = {approval.state for approval in store.read(list_approvals)}
        assert states <= {ApprovalState.DENIED, ApprovalState.VOID}
        assert kinds(store, task).count(EntryKind.CLOSED) == 1
    assert check(store).ok


def test_an_idle_desk_is_closed_once(store: Store) -> None:
    for _ in range(5):
        task = opened_desk(store)
        approval = ask(store, task)
        store.close_task(task, "done", {})
        deny(store, approval)()
        assert at_once(*[lambda task=task: store.close_if_idle(task)] * THREADS) == [None] * THREADS
        assert kinds(store, task).count(EntryKind.CLOSED) == 1
    assert check(store).ok


def test_a_question_is_answered_once(store: Store) -> None:
    for _ in range(5):
        asker = _root(store)
        question = NewTask(new_id("task"), "question", "a", "person", "?", _SAID, parent_id=asker, tree=asker)
        store.graph.open_root(question)
        told = Message(asker, EntryKind.ANSWERED, "call_a", {"result": "yes", "outcome": "done"})
        ending = Ending("done", {"type": "handoff", "result": "yes"}, messages=[told])
        results = at_once(*[lambda q=question, e=ending: store.graph.answer(q.id, e)] * THREADS)
        refused = [result for result in results if isinstance(result, ToolError)]
        assert [error.code for error in refused] == [Code.TASK_CLOSED] * (THREADS - 1), results
        assert kinds(store, asker).count(EntryKind.ANSWERED) == 1


def test_a_child_that_ends_beside_the_stop_of_everything_ends_once(store: Store) -> None:
    for _ in range(8):
        root = _root(store)
        said = _SAID | {"parent": {"task": root, "call": ""}, "tree": root}
        child = NewTask(new_id("task"), "agent", "a", "r", "t", said, parent_id=root, tree=root)
        store.graph.open_root(child)
        held = store.graph.take(child.id, 1)
        assert held is not None
        told = Message(root, EntryKind.RETURNED, "call_a", {"result": 1, "outcome": "done"})
        ending = Ending("done", {"type": "handoff", "result": 1}, messages=[told])
        at_once(
            lambda held=held, ending=ending: store.graph.finish(held, ending),
            lambda root=root: store.graph.cancel(root, {"type": "root", "result": None}, "ada"),
        )
        assert [kinds(store, task).count(EntryKind.CLOSED) for task in (root, child.id)] == [1, 1]
        assert store.read(lambda view, root=root: get_task(view, root)).status == "cancelled"
    assert check(store).ok


def test_a_ready_task_is_taken_once(open_store: OpenBooks) -> None:
    opened = [open_store() for _ in range(THREADS)]
    for _ in range(5):
        task = _root(opened[0])
        held = at_once(*[lambda store=store, task=task: store.graph.take(task, 1) for store in opened])
        assert len([one for one in held if one is not None]) == 1
    assert {task.epoch for task in opened[0].read(read_tasks)} == {1}


def _root(store: Store) -> str:
    task = NewTask(new_id("task"), "agent", "a", "r", "t", _SAID)
    store.graph.open_root(task)
    return task.id


@pytest.mark.parametrize("times", [30])
def test_threads_append_to_one_timeline_without_a_gap(store: Store, times: int) -> None:
    task = opened_desk(store)

    def append() -> None:
        for number in range(times):
            store.record(call_at(task), EntryKind.CALLED, {"result": number})

    assert at_once(*[append] * THREADS) == [None] * THREADS
    report = check(store)
    assert report.ok, report.findings
    assert report.entries == 2 + THREADS * times
