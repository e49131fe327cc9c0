"""What must be written down together is written down together."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import func, select

from brasstag.store.contents.versions import OUTSIDE, history
from brasstag.store.database.schema import entries, leases, tasks, versions
from brasstag.store.maintenance.forget import forget
from brasstag.store.store import Store
from brasstag.store.tasks.ledger import changes_of, open_claims, overlaps
from brasstag.store.tasks.memories import Memory, add_memory, all_memories
from brasstag.store.tasks.rows import read_tasks
from brasstag.store.tasks.writer import Desk
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.errors import LeaseHeld, StoreError, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.previews import ABSENT, DIRECTORY, Change, file_state
from tests.store.conftest import OpenBooks, call_at, on_sqlite, open_desk
from tests.store.maintenance.test_verify import check

OLD, NEW = file_state("a" * 64), file_state("b" * 64)


def count(store: Store, table: object) -> int:
    return int(store.read(lambda c: c.execute(select(func.count()).select_from(table)).scalar_one()))


def test_a_desk_without_calls_leaves_no_trace(store: Store) -> None:
    task = open_desk(store)
    store.close_task(task, "done", {})
    assert count(store, tasks) == 0


def test_a_desk_is_opened_together_with_its_first_call(store: Store) -> None:
    task = open_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {"result": 1})
    kinds = store.read(lambda c: [entry.kind for entry in read_entries(c, task)])
    assert kinds == [EntryKind.OPENED, EntryKind.CALLED]


def test_a_first_call_that_cannot_be_written_leaves_the_desk_unopened_and_usable(store: Store) -> None:
    task = open_desk(store)
    with pytest.raises(ValueError, match="JSON"):
        store.record(call_at(task), EntryKind.CALLED, {"result": float("nan")})
    assert count(store, tasks) == 0
    store.record(call_at(task), EntryKind.CALLED, {"result": 1})
    assert check(store).ok


def test_memories_are_forgotten_together_or_not_at_all(store: Store) -> None:
    with store.database.write() as transaction:
        for name in ("one", "two"):
            memory = Memory(f"mem_{name}", "editor", "", name, "task", f"call_{name}", store.now())
            add_memory(transaction, memory, store.sealer.key)
    desk = Desk(new_id("task"), "ada", "operator", "forget")
    with pytest.raises(ToolError, match="three"):
        forget(store, ["mem_one", "mem_three"], "ada", desk)
    assert [memory.content for memory in store.read(all_memories)] == ["one", "two"]
    assert count(store, tasks) == 0
    assert [memory.content for memory in forget(store, ["mem_one", "mem_one"], "ada", desk)] == ["one"]
    assert [memory.content for memory in store.read(all_memories)] == ["two"]


def test_a_claim_holds_its_paths_until_it_settles(store: Store) -> None:
    task = open_desk(store)
    first, second = call_at(task, "write_file"), call_at(task, "write_file")
    change = Change("d/a.md", ABSENT, NEW)
    claimed = store.claim(first, (change,), None, {})
    with pytest.raises(LeaseHeld):
        store.claim(second, (Change("d", DIRECTORY, ABSENT),), None, {})
    assert store.read(lambda c: changes_of(c, first.id)) == (change,)
    store.settle(claimed, {}, (change,), "operator", "write_file")
    assert count(store, leases) == 0
    store.claim(second, (Change("d/a.md", NEW, ABSENT),), None, {})


def test_a_claim_refused_for_its_lease_leaves_nothing_behind(store: Store) -> None:
    task = open_desk(store)
    store.claim(call_at(task, "write_file"), (Change("a.md", ABSENT, NEW),), None, {})
    before = count(store, entries)
    with pytest.raises(LeaseHeld):
        store.claim(call_at(task, "write_file"), (Change("a.md", ABSENT, OLD),), None, {})
    assert count(store, entries) == before
    assert len(store.read(lambda c: list(open_claims(c)))) == 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("a", "a", True), ("a", "a/b", True), ("a/b/c", "a", True), ("a", "ab", False), ("a/b", "a/c", False)],
)
def test_paths_overlap_when_one_holds_the_other(one: str, other: str, expected: bool) -> None:
    assert overlaps(one, other) is overlaps(other, one) is expected


def test_a_claim_taken_over_can_no_longer_be_settled_by_the_dead(open_store: OpenBooks) -> None:
    dead, living = open_store(), open_store()
    task = open_desk(dead)
    change = Change("a.md", ABSENT, NEW)
    said = {"tool": "write_file", "role": "operator", "preview": {"changes": [change.as_json()]}}
    claimed = dead.claim(call_at(task, "write_file"), (change,), None, said)
    ours = living.take_over(claimed)
    assert ours is not None
    assert living.take_over(claimed) is None
    with pytest.raises(StoreError, match="taken over"):
        dead.settle(claimed, {}, (change,), "operator", "write_file")
    living.settle(ours, {"changes": [change.as_json()]}, (change,), "operator", "write_file")
    assert [v.call_id for v in living.read(lambda c: history(c, "a.md"))] == [claimed.call_id]
    assert check(living).ok


def test_a_state_nobody_recorded_becomes_a_version_made_outside(store: Store) -> None:
    task = open_desk(store)
    change = Change("a.md", OLD, NEW, size=2, before_size=1)
    store.settle(store.claim(call_at(task, "w"), (change,), None, {}), {}, (change,), "editor", "edit_file")
    found = store.read(lambda c: history(c, "a.md"))
    assert [(v.version, v.state, v.by) for v in found] == [(1, OLD, OUTSIDE), (2, NEW, "editor")]


def test_a_move_is_a_version_at_both_ends(store: Store) -> None:
    task = open_desk(store)
    change = Change("b.md", ABSENT, NEW, source="a.md")
    store.settle(store.claim(call_at(task, "m"), (change,), None, {}), {}, (change,), "editor", "move_file")
    assert [v.state for v in store.read(lambda c: history(c, "a.md"))] == [NEW, ABSENT]
    assert [v.state for v in store.read(lambda c: history(c, "b.md"))] == [NEW]
    assert count(store, versions) == 3


def test_two_openings_append_to_one_chain_without_a_gap(open_store: OpenBooks) -> None:
    one, other = open_store(), open_store()
    task = open_desk(one)
    one.record(call_at(task), EntryKind.CALLED, {"result": 0})
    errors: list[BaseException] = []

    def append(store: Store) -> None:
        try:
            for number in range(60):
                store.record(call_at(task), EntryKind.CALLED, {"result": number})
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=append, args=(store,)) for store in (one, other, one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    report = check(one)
    assert report.ok
    assert report.entries == 2 + 4 * 60


def test_a_rolled_back_append_does_not_break_the_chain(store: Store) -> None:
    task = open_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {"result": 0})
    with pytest.raises(RuntimeError), store.database.write() as transaction:
        store.timeline.append(transaction, task, EntryKind.CALLED, "", {"result": "lost"})
        raise RuntimeError
    store.record(call_at(task), EntryKind.CALLED, {"result": 1})
    assert check(store).ok


@on_sqlite
def test_a_damaged_database_is_said_plainly(open_store: OpenBooks, tmp_path: Path) -> None:
    open_store().database.close()
    (tmp_path / "state" / "state.db").write_bytes(b"not a database at all" * 100)
    for leftover in (tmp_path / "state").glob("state.db-*"):
        leftover.unlink()
    with pytest.raises(StoreError, match="damaged"):
        open_store()


def test_a_task_can_end_only_once(store: Store) -> None:
    task = open_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {"result": 0})
    store.close_task(task, "done", {})
    with pytest.raises(Exception, match="already ended"):
        store.close_task(task, "cancelled", {})
    assert [t.status for t in store.read(read_tasks)] == ["done"]
