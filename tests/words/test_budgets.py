"""Limits that could not be held are no limits."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.words.budgets import Budget, TaskLimits
from brasstag.words.canonical import LARGEST_INTEGER
from brasstag.words.errors import Code, ToolError

AMOUNTS = ("max_dollars", "max_seconds")
COUNTS = ("max_steps", "max_tokens", "max_depth", "max_children")


@pytest.mark.parametrize("limit", COUNTS)
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "9", math.nan, LARGEST_INTEGER + 1])
def test_a_count_that_is_none_is_refused(limit: str, value: Any) -> None:
    with pytest.raises(ToolError, match=rf"^{limit} is .* Write a whole number above zero") as caught:
        Budget(**{limit: value})
    assert (caught.value.code, caught.value.details) == (Code.INVALID_ARGUMENTS, {"limit": limit})


@pytest.mark.parametrize("value", [0, 0.0, -0.5, math.nan, math.inf, -math.inf, 1e300, True, "9"])
@pytest.mark.parametrize("limit", AMOUNTS)
def test_seconds_and_dollars_that_cannot_be_counted_are_refused(limit: str, value: Any) -> None:
    with pytest.raises(ToolError, match=rf"^{limit} is .* Write a number above zero") as caught:
        Budget(**{limit: value})
    assert caught.value.code is Code.INVALID_ARGUMENTS


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("limit", [*COUNTS, *AMOUNTS])
def test_a_number_too_long_to_be_written_is_refused_as_well(limit: str, sign: int) -> None:
    with pytest.raises(ToolError, match=limit):
        Budget(**{limit: sign * 10**5000})


def test_the_smallest_and_the_largest_limits_are_limits() -> None:
    for value in (1, LARGEST_INTEGER):
        limits = Budget(**dict.fromkeys(COUNTS, value))  # type: ignore[arg-type]
        assert Budget.from_json(limits.as_json()) == limits
    assert Budget(max_seconds=1e-9).max_seconds == 1e-9


@pytest.mark.parametrize(("dollars", "stored"), [(5, 5_000_000), (0.1, 100_000), (1e-9, 1), (2.5, 2_500_000)])
def test_dollars_are_given_and_millionths_of_them_are_written_down(dollars: float, stored: int) -> None:
    limits = Budget(max_dollars=dollars)
    assert (limits.max_cost, limits.as_json()) == (stored, {"max_cost": stored})
    assert Budget.from_json({"max_cost": stored}).as_json() == {"max_cost": stored}
    assert TaskLimits().extended(limits).run.max_cost == stored


@given(st.integers(min_value=1, max_value=10**15))
def test_what_was_written_down_is_read_as_what_it_was(stored: int) -> None:
    assert Budget.from_json({"max_cost": stored}).max_cost == stored


def test_what_is_given_takes_the_place_of_what_was() -> None:
    limits = TaskLimits(Budget(max_steps=5, max_children=2), Budget(max_depth=3))
    extended = limits.extended(Budget(max_steps=9))
    assert extended == TaskLimits(Budget(max_steps=9, max_children=2), Budget(max_steps=9, max_depth=3))
    assert TaskLimits.from_text(extended.as_text()) == extended
