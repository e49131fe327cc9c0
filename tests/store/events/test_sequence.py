"""The sequence of events: a watcher that has read one event never misses an earlier one."""

import threading

import pytest

from brasstag.store.database.base import Database
from brasstag.store.events.sequence import (
    START,
    Event,
    EventId,
    announce,
    events_since,
    forget_old_events,
    is_kept,
    newest_event,
)
from brasstag.store.store import Store
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.turns import Usage
from tests.store.conftest import OpenDatabase, call_at, on_postgres
from tests.store.test_alone import held_task, turn
from tests.store.test_at_once import opened_desk


def say(database: Database, number: int) -> None:
    with database.write() as transaction:
        announce(transaction, "documents", "now", payload={"number": number})


def read(database: Database, after: EventId = START) -> list[Event]:
    with database.read() as view:
        return list(events_since(view, after))


def numbers(database: Database, after: EventId = START) -> list[int]:
    return [event.payload["number"] for event in read(database, after)]


def test_events_come_in_order_after_the_one_that_was_read(database: Database) -> None:
    for number in range(5):
        say(database, number)
    assert numbers(database) == [0, 1, 2, 3, 4]
    third = read(database)[2]
    assert (third.topic, third.at) == ("documents", "now")
    assert numbers(database, third.id) == [3, 4]


def test_an_event_of_a_commit_that_failed_was_never_there(database: Database) -> None:
    say(database, 1)
    with pytest.raises(ValueError, match="JSON"), database.write() as transaction:
        announce(transaction, "documents", "now", payload={"number": 2})
        announce(transaction, "documents", "now", payload={"number": float("nan")})
    say(database, 3)
    assert numbers(database) == [1, 3]


def test_every_entry_is_an_event_with_the_whole_entry(store: Store) -> None:
    held = held_task(store)
    desk = opened_desk(store)
    store.graph.record_turn(held, turn(), Usage(1, 2, 0, 0))
    store.record(call_at(desk), EntryKind.CALLED, {"tool": "read_file"})
    entries = {(entry.task_id, entry.seq): entry for entry in store.entries()}
    told = [event.entry for event in read(store.database) if event.entry]
    assert {(entry.task_id, entry.seq): entry for entry in told} == entries
    assert len(told) == len(entries) == 5


def test_a_task_that_gets_another_status_without_an_entry_is_an_event(store: Store) -> None:
    held = held_task(store)
    before = read(store.database)[-1].id
    assert store.graph.block(held, 1)
    assert [(event.topic, event.subject) for event in read(store.database, before)] == [("task", held.id)]


def test_only_the_oldest_are_forgotten_and_who_needs_them_is_told(database: Database) -> None:
    for number in range(6):
        say(database, number)
    ids = [event.id for event in read(database)]
    with database.write() as transaction:
        forget_old_events(transaction, most=2)
    assert numbers(database) == [4, 5]
    with database.read() as view:
        assert [is_kept(view, one) for one in (START, *ids)] == [False, False, False, False, True, True, True]
        assert newest_event(view) == ids[-1]
        assert not is_kept(view, EventId(ids[-1].writer, ids[-1].seq + 1)), "no room gave this out"
    with database.write() as transaction:
        forget_old_events(transaction, most=1)
    with database.read() as view:
        assert [is_kept(view, one) for one in ids[3:]] == [False, True, True]


def test_a_watcher_misses_nothing_while_others_write_at_once(open_database: OpenDatabase) -> None:
    def write(first: int) -> None:
        database = open_database()
        for number in range(first, first + 20):
            say(database, number)

    writers = [threading.Thread(target=write, args=(start,)) for start in (0, 100, 200)]
    watcher = open_database()
    for writer in writers:
        writer.start()
    got: list[int] = []
    last = START
    while len(got) < 60:
        for event in read(watcher, last):
            got.append(event.payload["number"])
            last = event.id
    for writer in writers:
        writer.join()
    assert sorted(got) == [*range(20), *range(100, 120), *range(200, 220)]


@on_postgres
def test_an_event_of_a_transaction_that_is_still_open_is_waited_for(open_database: OpenDatabase) -> None:
    early, late, watcher = open_database(), open_database(), open_database()
    say(early, 0)
    first = read(watcher)[0].id
    with early.write() as transaction:
        announce(transaction, "documents", "now", payload={"number": 1})
        say(late, 2)
        assert numbers(watcher, first) == [], "the first of them has not been committed"
    assert numbers(watcher, first) == [1, 2]


@pytest.mark.parametrize("text", ["", "1", "-1-2", "1-2-3", "1-²", "1-x", "1- 2", "9" * 19 + "-1", "1-2\n"])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ToolError) as refused:
        EventId.parse(text)
    assert refused.value.code is Code.INVALID_ARGUMENTS


def test_an_id_is_one_word_and_can_be_read_again() -> None:
    assert EventId.parse(str(EventId(12, 34))) == EventId(12, 34)
