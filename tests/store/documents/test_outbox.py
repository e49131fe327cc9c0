"""The outbox: whoever has heard one event never misses an earlier one."""

import threading

import pytest

from brasstag.store.database.base import Database
from brasstag.store.documents.outbox import announce, events_since, forget_old_events, newest_event
from tests.store.conftest import OpenDatabase


def say(database: Database, number: int) -> None:
    with database.write() as transaction:
        announce(transaction, "documents", {"number": number}, "now")


def heard(database: Database, after: int = 0) -> list[int]:
    with database.read() as view:
        return [event.payload["number"] for event in events_since(view, after)]


def test_events_come_in_order_after_the_one_that_was_heard(database: Database) -> None:
    for number in range(5):
        say(database, number)
    assert heard(database) == [0, 1, 2, 3, 4]
    with database.read() as view:
        third = events_since(view, 0)[2]
        assert (third.topic, third.at) == ("documents", "now")
    assert heard(database, third.seq) == [3, 4]


def test_an_event_of_a_commit_that_failed_was_never_there(database: Database) -> None:
    say(database, 1)
    with pytest.raises(ValueError, match="JSON"), database.write() as transaction:
        announce(transaction, "documents", {"number": 2}, "now")
        announce(transaction, "documents", {"number": float("nan")}, "now")
    say(database, 3)
    assert heard(database) == [1, 3]


def test_only_the_oldest_are_forgotten(database: Database) -> None:
    for number in range(6):
        say(database, number)
    with database.write() as transaction:
        forget_old_events(transaction, most=2)
    assert heard(database) == [4, 5]
    with database.read() as view:
        assert newest_event(view) >= 6


def test_a_listener_misses_nothing_while_others_write_at_once(open_database: OpenDatabase) -> None:
    def write(first: int) -> None:
        database = open_database()
        for number in range(first, first + 20):
            say(database, number)

    writers = [threading.Thread(target=write, args=(start,)) for start in (0, 100, 200)]
    listener = open_database()
    for writer in writers:
        writer.start()
    got: list[int] = []
    last = 0
    while len(got) < 60:
        with listener.read() as view:
            for event in events_since(view, last):
                got.append(event.payload["number"])
                last = event.seq
    for writer in writers:
        writer.join()
    assert sorted(got) == [*range(20), *range(100, 120), *range(200, 220)]
