"""Several writers at once: on Postgres they really are, on SQLite they queue; what is written down is the same."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from brasstag.store.approvals import list_approvals
from brasstag.store.books import Books
from brasstag.store.ending import Decision
from brasstag.store.graph_words import Ending, Message, NewTask
from brasstag.store.ledger import open_claims
from brasstag.store.tasks import get_task, read_tasks
from brasstag.store.timeline import read_entries
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.errors import Code, LeaseHeld, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.previews import ABSENT, Change, Preview, file_state
from tests.store.conftest import OpenBooks, call_at, open_desk
from tests.store.test_verify import check

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


def opened_desk(books: Books) -> str:
    task = open_desk(books)
    books.record(call_at(task), EntryKind.CALLED, {"result": 0})
    return task


def ask(books: Books, task: str) -> Approval:
    approval = Approval(
        id=new_id("apr"), call_id=new_id("call"), task_id=task, tool="write_file", tool_version="v", arguments={},
        actor="a", role="operator", reason="r", rule="r", preview=Preview(), digest="d", state=ApprovalState.OPEN,
        requested_at="2026-01-01T00:00:00.000000Z",
    )  # fmt: skip
    books.ask(approval, {"approval": approval.id, "tool": "write_file"})
    return approval


def deny(books: Books, approval: Approval) -> Callable[[], Any]:
    said = {"approval": approval.id, "state": "denied", "by": "ada", "note": ""}
    return lambda: books.decide(approval, Decision(ApprovalState.DENIED, "ada"), said)


def kinds(books: Books, task: str) -> list[EntryKind]:
    return [entry.kind for entry in books.read(lambda view: list(read_entries(view, task)))]


def test_tasks_opened_at_once_are_all_sealed_on_one_chain(open_books: OpenBooks) -> None:
    one, other = open_books(), open_books()

    def open_some(books: Books) -> None:
        for _ in range(10):
            books.close_task(opened_desk(books), "done", {})

    assert at_once(*[lambda books=books: open_some(books) for books in (one, other) * 2]) == [None] * 4
    report = check(one)
    assert report.ok, report.findings
    assert (report.tasks, report.checkpoints) == (40, 80)


def test_of_claims_that_overlap_one_is_taken(open_books: OpenBooks) -> None:
    one, other = open_books(), open_books()
    tasks = [opened_desk(one), opened_desk(other)]
    for number in range(10):
        paths = (f"d{number}", f"d{number}/a.md")

        def claim(books: Books, task: str, path: str) -> Callable[[], Any]:
            return lambda: books.claim(call_at(task, "w"), (Change(path, ABSENT, NEW),), None, {})

        first, second = at_once(claim(one, tasks[0], paths[0]), claim(other, tasks[1], paths[1]))
        assert isinstance(first, LeaseHeld) != isinstance(second, LeaseHeld), (first, second)
    assert len(one.read(lambda view: list(open_claims(view)))) == 10


def test_an_approval_is_decided_once(books: Books) -> None:
    for _ in range(5):
        approval = ask(books, opened_desk(books))
        results = at_once(*[deny(books, approval)] * THREADS)
        refused = [result for result in results if isinstance(result, ToolError)]
        assert [error.code for error in refused] == [Code.APPROVAL_CLOSED] * (THREADS - 1), results
    assert check(books).ok


def test_decisions_beside_the_end_of_their_task_hold_nobody_up(books: Books) -> None:
    """Both take the task first, so neither waits for what the other holds."""
    for _ in range(5):
        task = opened_desk(books)
        approvals = [ask(books, task) for _ in range(THREADS)]
        close = lambda task=task: books.close_task(task, "cancelled", {}, withdraw="ada")  # noqa: E731
        *decided, closed = at_once(*[deny(books, approval) for approval in approvals], close)
        assert isinstance(closed, list), closed
        for result in decided:
            assert not isinstance(result, Exception) or isinstance(result, ToolError), result
        states = {approval.state for approval in books.read(list_approvals)}
        assert states <= {ApprovalState.DENIED, ApprovalState.VOID}
        assert kinds(books, task).count(EntryKind.CLOSED) == 1
    assert check(books).ok


def test_an_idle_desk_is_closed_once(books: Books) -> None:
    for _ in range(5):
        task = opened_desk(books)
        approval = ask(books, task)
        books.close_task(task, "done", {})
        deny(books, approval)()
        assert at_once(*[lambda task=task: books.close_if_idle(task)] * THREADS) == [None] * THREADS
        assert kinds(books, task).count(EntryKind.CLOSED) == 1
    assert check(books).ok


def test_a_question_is_answered_once(books: Books) -> None:
    for _ in range(5):
        asker = _root(books)
        question = NewTask(new_id("task"), "question", "a", "person", "?", _SAID, parent_id=asker, tree=asker)
        books.graph.open_root(question)
        told = Message(asker, EntryKind.ANSWERED, "call_a", {"result": "yes", "outcome": "done"})
        ending = Ending("done", {"type": "handoff", "result": "yes"}, messages=[told])
        results = at_once(*[lambda q=question, e=ending: books.graph.answer(q.id, e)] * THREADS)
        refused = [result for result in results if isinstance(result, ToolError)]
        assert [error.code for error in refused] == [Code.TASK_CLOSED] * (THREADS - 1), results
        assert kinds(books, asker).count(EntryKind.ANSWERED) == 1


def test_a_child_that_ends_beside_the_stop_of_everything_ends_once(books: Books) -> None:
    for _ in range(8):
        root = _root(books)
        said = _SAID | {"parent": {"task": root, "call": ""}, "tree": root}
        child = NewTask(new_id("task"), "agent", "a", "r", "t", said, parent_id=root, tree=root)
        books.graph.open_root(child)
        held = books.graph.take(child.id, 1)
        assert held is not None
        told = Message(root, EntryKind.RETURNED, "call_a", {"result": 1, "outcome": "done"})
        ending = Ending("done", {"type": "handoff", "result": 1}, messages=[told])
        at_once(
            lambda held=held, ending=ending: books.graph.finish(held, ending),
            lambda root=root: books.graph.cancel(root, {"type": "root", "result": None}, "ada"),
        )
        assert [kinds(books, task).count(EntryKind.CLOSED) for task in (root, child.id)] == [1, 1]
        assert books.read(lambda view, root=root: get_task(view, root)).status == "cancelled"
    assert check(books).ok


def test_a_ready_task_is_taken_once(open_books: OpenBooks) -> None:
    opened = [open_books() for _ in range(THREADS)]
    for _ in range(5):
        task = _root(opened[0])
        held = at_once(*[lambda books=books, task=task: books.graph.take(task, 1) for books in opened])
        assert len([one for one in held if one is not None]) == 1
    assert {task.epoch for task in opened[0].read(read_tasks)} == {1}


def _root(books: Books) -> str:
    task = NewTask(new_id("task"), "agent", "a", "r", "t", _SAID)
    books.graph.open_root(task)
    return task.id


@pytest.mark.parametrize("times", [30])
def test_threads_append_to_one_timeline_without_a_gap(books: Books, times: int) -> None:
    task = opened_desk(books)

    def append() -> None:
        for number in range(times):
            books.record(call_at(task), EntryKind.CALLED, {"result": number})

    assert at_once(*[append] * THREADS) == [None] * THREADS
    report = check(books)
    assert report.ok, report.findings
    assert report.entries == 2 + THREADS * times
