"""Versions: every state of every path, numbered without gaps, followed through moves."""

from collections.abc import Iterable

from sqlalchemy import select

from brasstag.store.contents.versions import (
    OUTSIDE,
    Author,
    Version,
    add_versions,
    history,
    insert_versions,
    lineage,
    moved_to,
    past,
)
from brasstag.store.database.schema import touched
from brasstag.store.store import Store
from brasstag.words.previews import ABSENT, Change, file_state
from tests.store.conftest import open_desk

ONE, TWO, THREE = (file_state(letter * 64) for letter in "abc")


def record(store: Store, *changes: Change, by: str = "editor") -> None:
    with store.database.write() as transaction:
        add_versions(transaction, changes, Author(by, "task_1", "call_1", "write_file", store.now()))


def told(found: list[Version]) -> list[tuple[str, int, str, str]]:
    return [(one.path, one.version, one.state, one.by) for one in found]


def test_a_state_that_was_there_before_is_written_down_as_made_outside(store: Store) -> None:
    record(store, Change("a", ONE, TWO))
    found = store.read(lambda view: history(view, "a"))
    assert told(found) == [("a", 1, ONE, OUTSIDE), ("a", 2, TWO, "editor")]
    assert [one.task_id for one in found] == ["", "task_1"]


def test_history_follows_a_move_and_another_one(store: Store) -> None:
    record(store, Change("a", ABSENT, ONE))
    record(store, Change("a", ONE, TWO))
    record(store, Change("b", ABSENT, TWO, source="a"))
    record(store, Change("c", ABSENT, TWO, source="b"))
    record(store, Change("c", TWO, THREE))
    found = store.read(lambda view: lineage(view, "c"))
    assert told(found) == [
        ("a", 1, ONE, "editor"),
        ("a", 2, TWO, "editor"),
        ("b", 1, TWO, "editor"),
        ("c", 1, TWO, "editor"),
        ("c", 2, THREE, "editor"),
    ]


def test_what_took_the_old_place_later_is_no_part_of_the_history(store: Store) -> None:
    record(store, Change("a", ABSENT, ONE))
    record(store, Change("b", ABSENT, ONE, source="a"))
    record(store, Change("a", ABSENT, THREE))
    assert [one.state for one in store.read(lambda view: lineage(view, "b"))] == [ONE, ONE]
    assert told(store.read(lambda view: history(view, "a")))[-1] == ("a", 3, THREE, "editor")


def test_one_call_moves_a_file_away_and_another_into_its_place(store: Store) -> None:
    record(store, Change("a", ABSENT, ONE), Change("c", ABSENT, TWO))
    record(store, Change("b", ABSENT, ONE, source="a"), Change("a", ABSENT, TWO, source="c"))
    assert [one.state for one in store.read(lambda view: history(view, "a"))] == [ONE, ABSENT, TWO]
    assert [one.state for one in store.read(lambda view: lineage(view, "b"))] == [ONE, ONE]
    assert [one.path for one in store.read(lambda view: lineage(view, "a"))] == ["c", "a"]


def test_a_file_that_went_and_came_back_has_an_end(store: Store) -> None:
    record(store, Change("a", ABSENT, ONE))
    record(store, Change("b", ABSENT, ONE, source="a"))
    record(store, Change("a", ABSENT, ONE, source="b"))
    assert told(store.read(lambda view: lineage(view, "a")))[-1] == ("a", 3, ONE, "editor")


def test_what_a_call_changes_waits_to_be_looked_at(store: Store) -> None:
    open_desk(store)
    record(store, Change("b", ABSENT, ONE, source="a"))
    paths = store.read(lambda view: set(view.execute(select(touched.c.path)).scalars()))
    assert paths == {"a", "b"}


def numbered(found: Iterable[Version]) -> list[tuple[str, int]]:
    return [(one.path, one.version) for one in found]


def test_the_line_goes_on_through_a_move_away_and_back(store: Store) -> None:
    record(store, Change("n", ABSENT, ONE))
    record(store, Change("n", ONE, TWO))
    record(store, Change("n2", ABSENT, TWO, source="n"))
    record(store, Change("n", ABSENT, TWO, source="n2"))
    record(store, Change("n", TWO, THREE))
    found = store.read(lambda view: past(view, "n"))
    assert numbered(found.line) == [("n", 1), ("n", 2), ("n2", 1), ("n", 4), ("n", 5)]
    assert numbered(found.others) == [("n", 3)]


def test_what_a_path_held_before_something_was_moved_there_is_not_lost(store: Store) -> None:
    record(store, Change("f", ABSENT, ONE), Change("x", ABSENT, TWO))
    record(store, Change("f", ONE, TWO, source="x"))
    found = store.read(lambda view: past(view, "f"))
    assert numbered(found.line) == [("x", 1), ("f", 2)]
    assert told([*found.others]) == [("f", 1, ONE, "editor")]


def test_the_past_of_one_version_ends_with_it(store: Store) -> None:
    record(store, Change("a", ABSENT, ONE), Change("x", ABSENT, TWO))
    record(store, Change("a", ONE, TWO, source="x"))
    record(store, Change("a", TWO, THREE))
    found = store.read(lambda view: past(view, "a", 1))
    assert (numbered(found.line), found.others) == ([("a", 1)], ())
    assert numbered(store.read(lambda view: past(view, "a", 2)).line) == [("x", 1), ("a", 2)]


def test_moves_in_a_circle_are_followed_once(store: Store) -> None:
    rows = [
        Version("a", 1, ONE, None, 0, "editor", "", "", store.now(), source="b", source_version=1),
        Version("b", 1, ONE, None, 0, "editor", "", "", store.now(), source="a", source_version=1),
    ]
    with store.database.write() as transaction:
        insert_versions(transaction, rows)
    assert numbered(store.read(lambda view: lineage(view, "a"))) == [("b", 1), ("a", 1)]


def test_a_version_that_says_something_left_tells_where_it_went(store: Store) -> None:
    record(store, Change("a", ABSENT, ONE), Change("gone", ABSENT, TWO))
    record(store, Change("b", ABSENT, ONE, source="a"), Change("gone", TWO, ABSENT))
    found = store.read(lambda view: [*history(view, "a"), *history(view, "gone")])
    assert store.read(lambda view: moved_to(view, found)) == {("a", 2): "b"}
