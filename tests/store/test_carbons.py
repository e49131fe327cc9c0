"""Whoever follows a task sees what this process adds to it, once it is on disk, without reading."""

from typing import Any

import pytest

from brasstag.store.books import Books
from brasstag.store.timeline import entries_since
from brasstag.words.events import EntryKind
from tests.store.conftest import OpenBooks, call_at, open_desk


def opened_desk(books: Books) -> str:
    task = open_desk(books)
    books.record(call_at(task), EntryKind.CALLED, {"result": 0})
    return task


def test_a_carbon_has_what_a_reader_will_find(books: Books) -> None:
    task = opened_desk(books)
    carbon = books.timeline.carbons.follow(task)
    said: dict[str, Any] = {"result": (1, {"b": 2.0, "a": None})}
    books.record(call_at(task), EntryKind.CALLED, said)
    books.close_task(task, "done", {})
    assert carbon.take() == books.read(lambda view: entries_since(view, task, 2))
    assert carbon.take() == []


def test_what_is_rolled_back_leaves_no_carbon(books: Books) -> None:
    task = opened_desk(books)
    carbon = books.timeline.carbons.follow(task)
    with pytest.raises(ZeroDivisionError), books.database.write() as transaction:
        books.timeline.append(transaction, task, EntryKind.CALLED, "", {})
        raise ZeroDivisionError
    assert carbon.take() == []
    books.record(call_at(task), EntryKind.CALLED, {})
    assert [entry.seq for entry in carbon.take()] == [2]


def test_what_another_process_adds_leaves_a_gap(open_books: OpenBooks) -> None:
    ours, theirs = open_books(), open_books()
    task = opened_desk(ours)
    carbon = ours.timeline.carbons.follow(task)
    theirs.record(call_at(task), EntryKind.CALLED, {})
    ours.record(call_at(task), EntryKind.CALLED, {})
    assert [entry.seq for entry in carbon.take()] == [3]


def test_only_the_newest_follower_of_a_task_is_told(books: Books) -> None:
    task = opened_desk(books)
    older, newer = (books.timeline.carbons.follow(task) for _ in range(2))
    books.record(call_at(task), EntryKind.CALLED, {})
    assert older.take() == []
    assert len(newer.take()) == 1


def test_a_carbon_nobody_holds_is_not_kept(books: Books) -> None:
    task = opened_desk(books)
    carbon = books.timeline.carbons.follow(task)
    assert books.timeline.carbons.of(task) is carbon
    del carbon
    assert books.timeline.carbons.of(task) is None
