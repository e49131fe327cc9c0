"""Whoever follows a task sees what this process adds to it, once it is on disk, without reading."""

from typing import Any

import pytest

from brasstag.store.store import Store
from brasstag.store.timeline.timeline import entries_since
from brasstag.words.events import EntryKind
from tests.store.conftest import OpenBooks, call_at, open_desk


def opened_desk(store: Store) -> str:
    task = open_desk(store)
    store.record(call_at(task), EntryKind.CALLED, {"result": 0})
    return task


def test_a_feed_has_what_a_reader_will_find(store: Store) -> None:
    task = opened_desk(store)
    feed = store.timeline.feeds.follow(task)
    said: dict[str, Any] = {"result": (1, {"b": 2.0, "a": None})}
    store.record(call_at(task), EntryKind.CALLED, said)
    store.close_task(task, "done", {})
    assert feed.take() == store.read(lambda view: entries_since(view, task, 2))
    assert feed.take() == []


def test_what_is_rolled_back_is_in_no_feed(store: Store) -> None:
    task = opened_desk(store)
    feed = store.timeline.feeds.follow(task)
    with pytest.raises(ZeroDivisionError), store.database.write() as transaction:
        store.timeline.append(transaction, task, EntryKind.CALLED, "", {})
        raise ZeroDivisionError
    assert feed.take() == []
    store.record(call_at(task), EntryKind.CALLED, {})
    assert [entry.seq for entry in feed.take()] == [2]


def test_what_another_process_adds_leaves_a_gap(open_store: OpenBooks) -> None:
    ours, theirs = open_store(), open_store()
    task = opened_desk(ours)
    feed = ours.timeline.feeds.follow(task)
    theirs.record(call_at(task), EntryKind.CALLED, {})
    ours.record(call_at(task), EntryKind.CALLED, {})
    assert [entry.seq for entry in feed.take()] == [3]


def test_only_the_newest_follower_of_a_task_is_told(store: Store) -> None:
    task = opened_desk(store)
    older, newer = (store.timeline.feeds.follow(task) for _ in range(2))
    store.record(call_at(task), EntryKind.CALLED, {})
    assert older.take() == []
    assert len(newer.take()) == 1


def test_a_feed_nobody_holds_is_not_kept(store: Store) -> None:
    task = opened_desk(store)
    feed = store.timeline.feeds.follow(task)
    assert store.timeline.feeds.of(task) is feed
    del feed
    assert store.timeline.feeds.of(task) is None
