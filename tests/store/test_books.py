"""What must be written down together is written down together."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select

from brasstag.store.books import Books
from brasstag.store.ledger import changes_of, open_claims, overlaps
from brasstag.store.schema import entries, leases, tasks, versions
from brasstag.store.tasks import read_tasks
from brasstag.store.timeline import read_entries
from brasstag.store.versions import OUTSIDE, history
from brasstag.words.errors import LeaseHeld, StoreError
from brasstag.words.events import EntryKind
from brasstag.words.previews import ABSENT, DIRECTORY, Change, file_state
from tests.store.conftest import OpenBooks, call_at, on_sqlite, open_desk
from tests.store.test_verify import check

OLD, NEW = file_state("a" * 64), file_state("b" * 64)


def count(books: Books, table: object) -> int:
    return int(books.read(lambda c: c.execute(select(func.count()).select_from(table)).scalar_one()))


def test_a_desk_without_calls_leaves_no_trace(books: Books) -> None:
    task = open_desk(books)
    books.close_task(task, "done", {})
    assert count(books, tasks) == 0


def test_a_desk_is_opened_together_with_its_first_call(books: Books) -> None:
    task = open_desk(books)
    books.record(call_at(task), EntryKind.CALLED, {"result": 1})
    kinds = books.read(lambda c: [entry.kind for entry in read_entries(c, task)])
    assert kinds == [EntryKind.OPENED, EntryKind.CALLED]


def test_a_first_call_that_cannot_be_written_leaves_the_desk_unopened_and_usable(books: Books) -> None:
    task = open_desk(books)
    with pytest.raises(ValueError, match="JSON"):
        books.record(call_at(task), EntryKind.CALLED, {"result": float("nan")})
    assert count(books, tasks) == 0
    books.record(call_at(task), EntryKind.CALLED, {"result": 1})
    assert check(books).ok


def test_a_claim_holds_its_paths_until_it_settles(books: Books) -> None:
    task = open_desk(books)
    first, second = call_at(task, "write_file"), call_at(task, "write_file")
    change = Change("d/a.md", ABSENT, NEW)
    claimed = books.claim(first, (change,), None, {})
    with pytest.raises(LeaseHeld):
        books.claim(second, (Change("d", DIRECTORY, ABSENT),), None, {})
    assert books.read(lambda c: changes_of(c, first.id)) == (change,)
    books.settle(claimed, {}, (change,), "operator", "write_file")
    assert count(books, leases) == 0
    books.claim(second, (Change("d/a.md", NEW, ABSENT),), None, {})


def test_a_claim_refused_for_its_lease_leaves_nothing_behind(books: Books) -> None:
    task = open_desk(books)
    books.claim(call_at(task, "write_file"), (Change("a.md", ABSENT, NEW),), None, {})
    before = count(books, entries)
    with pytest.raises(LeaseHeld):
        books.claim(call_at(task, "write_file"), (Change("a.md", ABSENT, OLD),), None, {})
    assert count(books, entries) == before
    assert len(books.read(lambda c: list(open_claims(c)))) == 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("a", "a", True), ("a", "a/b", True), ("a/b/c", "a", True), ("a", "ab", False), ("a/b", "a/c", False)],
)
def test_paths_overlap_when_one_holds_the_other(one: str, other: str, expected: bool) -> None:
    assert overlaps(one, other) is overlaps(other, one) is expected


def test_a_claim_taken_over_can_no_longer_be_settled_by_the_dead(open_books: OpenBooks) -> None:
    dead, living = open_books(), open_books()
    task = open_desk(dead)
    change = Change("a.md", ABSENT, NEW)
    said = {"tool": "write_file", "preview": {"changes": [change.as_json()]}}
    claimed = dead.claim(call_at(task, "write_file"), (change,), None, said)
    ours = living.take_over(claimed)
    assert ours is not None
    assert living.take_over(claimed) is None
    with pytest.raises(StoreError, match="taken over"):
        dead.settle(claimed, {}, (change,), "operator", "write_file")
    living.settle(ours, {"changes": [change.as_json()]}, (change,), "operator", "write_file")
    assert [v.call_id for v in living.read(lambda c: history(c, "a.md"))] == [claimed.call_id]
    assert check(living).ok


def test_a_state_nobody_recorded_becomes_a_version_made_outside(books: Books) -> None:
    task = open_desk(books)
    change = Change("a.md", OLD, NEW, size=2, before_size=1)
    books.settle(books.claim(call_at(task, "w"), (change,), None, {}), {}, (change,), "editor", "edit_file")
    found = books.read(lambda c: history(c, "a.md"))
    assert [(v.version, v.state, v.by) for v in found] == [(1, OLD, OUTSIDE), (2, NEW, "editor")]


def test_a_move_is_a_version_at_both_ends(books: Books) -> None:
    task = open_desk(books)
    change = Change("b.md", ABSENT, NEW, source="a.md")
    books.settle(books.claim(call_at(task, "m"), (change,), None, {}), {}, (change,), "editor", "move_file")
    assert [v.state for v in books.read(lambda c: history(c, "a.md"))] == [NEW, ABSENT]
    assert [v.state for v in books.read(lambda c: history(c, "b.md"))] == [NEW]
    assert count(books, versions) == 3


def test_two_openings_append_to_one_chain_without_a_gap(open_books: OpenBooks) -> None:
    one, other = open_books(), open_books()
    task = open_desk(one)
    one.record(call_at(task), EntryKind.CALLED, {"result": 0})
    errors: list[BaseException] = []

    def append(books: Books) -> None:
        try:
            for number in range(60):
                books.record(call_at(task), EntryKind.CALLED, {"result": number})
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=append, args=(books,)) for books in (one, other, one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    report = check(one)
    assert report.ok
    assert report.entries == 2 + 4 * 60


def test_a_rolled_back_append_does_not_break_the_chain(books: Books) -> None:
    task = open_desk(books)
    books.record(call_at(task), EntryKind.CALLED, {"result": 0})
    with pytest.raises(RuntimeError), books.database.write() as transaction:
        books.timeline.append(transaction, task, EntryKind.CALLED, "", {"result": "lost"})
        raise RuntimeError
    books.record(call_at(task), EntryKind.CALLED, {"result": 1})
    assert check(books).ok


@on_sqlite
def test_a_damaged_database_is_said_plainly(open_books: OpenBooks, tmp_path: Path) -> None:
    open_books().database.close()
    (tmp_path / "state" / "state.db").write_bytes(b"not a database at all" * 100)
    for leftover in (tmp_path / "state").glob("state.db-*"):
        leftover.unlink()
    with pytest.raises(StoreError, match="damaged"):
        open_books()


def test_a_task_can_end_only_once(books: Books) -> None:
    task = open_desk(books)
    books.record(call_at(task), EntryKind.CALLED, {"result": 0})
    books.close_task(task, "done", {})
    with pytest.raises(Exception, match="already ended"):
        books.close_task(task, "cancelled", {})
    assert [t.status for t in books.read(read_tasks)] == ["done"]
