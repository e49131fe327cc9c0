"""Which lines two versions of a text have both changed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.reading.compare import MOST_COMPARED_LINES, diff_texts, lines_both_changed

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


STEPS_OF_A_LINE = 200


@contextmanager
def no_more_steps_than(most: int) -> Iterator[None]:
    """Fail as soon as more functions were called than this, so that what would take minutes need not be waited for."""
    taken = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal taken
        taken += event in ("call", "c_call")
        if taken > most:
            raise AssertionError(f"more than {most} steps")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def every(period: int, mark: str, lines: list[str]) -> str:
    return "\n".join(mark + line if n % period == 0 else line for n, line in enumerate(lines))


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(lambda n: "}" if n % 3 else "", id="a few lines that stand again and again"),
        pytest.param(str, id="lines that stand once"),
        pytest.param(lambda n: f"line {n % 5_000}", id="lines that stand twice"),
    ],
)
@pytest.mark.parametrize("period", [2, 20])
def test_a_long_text_takes_steps_in_proportion_to_its_lines(line: Any, period: int) -> None:
    lines = [line(n) for n in range(MOST_COMPARED_LINES // 2)]
    base, theirs, ours = "\n".join(lines), every(period, "their ", lines), every(period, "our ", lines)
    with no_more_steps_than(STEPS_OF_A_LINE * MOST_COMPARED_LINES):
        spans = lines_both_changed(base, theirs, ours)
    assert spans
    assert spans[0][0] == 0


@given(TEXTS, TEXTS)
def test_what_one_who_changed_everything_meets_is_what_a_diff_shows(base: str, theirs: str) -> None:
    spans = lines_both_changed(f"{base}\n", f"{theirs}\n", "another")
    assert spans is not None
    shown = [line for line in diff_texts(f"{base}\n", f"{theirs}\n") if line.startswith("-")]
    assert sum(stop - start for start, stop in spans) == len(shown)


def test_what_is_too_long_is_not_compared() -> None:
    assert lines_both_changed("a\n" * MOST_COMPARED_LINES, "b", "c") is None
