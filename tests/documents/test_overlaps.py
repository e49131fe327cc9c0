"""Which lines two versions of a text have both changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.overlaps import MOST_COMPARED_LINES, lines_both_changed

BASE = "a\nb\nc\nd"
TEXTS = st.lists(st.sampled_from("abcd"), max_size=8).map("\n".join)


@pytest.mark.parametrize(
    ("theirs", "ours", "spans"),
    [
        ("a\nX\nc\nd", "a\nb\nc\nY", []),
        ("a\nX\nc\nd", "a\nY\nc\nd", [(1, 2)]),
        ("a\nX\nX\nd", "a\nb\nY\nY", [(2, 3)]),
        ("a\nX\nb\nc\nd", "a\nY\nb\nc\nd", [(1, 1)]),
        ("a\nX\nb\nc\nd", "a\nb\nc\nd\nY", []),
        (BASE, "all\nother", []),
    ],
)
def test_lines_that_both_changed_are_found_and_no_others(
    theirs: str, ours: str, spans: list[tuple[int, int]]
) -> None:
    assert lines_both_changed(BASE, theirs, ours) == spans


@given(TEXTS, TEXTS, TEXTS)
def test_who_is_they_and_who_is_we_makes_no_difference(base: str, theirs: str, ours: str) -> None:
    one, other = lines_both_changed(base, theirs, ours), lines_both_changed(base, ours, theirs)
    assert one is not None
    assert other is not None
    assert sorted(one) == sorted(other)


@given(TEXTS, TEXTS)
def test_what_one_side_left_alone_is_no_overlap(base: str, other: str) -> None:
    assert lines_both_changed(base, base, other) == []


def test_what_would_take_minutes_is_not_compared() -> None:
    assert lines_both_changed("a\n" * MOST_COMPARED_LINES, "b", "c") is None
