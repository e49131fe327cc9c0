"""Matching piece by piece: the same lines are found wherever the pieces end, and the clock is looked at in between."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.tools.search.lines import LARGEST_PIECE, SMALLEST_PIECE, Matching
from brasstag.tools.search.query import LARGEST_PROGRAM, compiled
from brasstag.words.errors import Code, ToolError


def found(query: str, data: bytes, regex: bool = True) -> list[tuple[int, int]]:
    matching = Matching(compiled(query, regex, case_sensitive=True), 0, 1_000, 50)
    matching.look_into("x", data)
    return [(match["line"], match["column"]) for match in matching.matches]


@given(
    st.lists(st.sampled_from(["", "a", "ab", "b" * 300, "x" * (LARGEST_PIECE - 1), "needle"]), max_size=12)
)
def test_lines_are_found_wherever_pieces_end(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    expected = [(number, 1) for number, line in enumerate(lines, 1) if line in ("a", "needle")]
    assert found("^(?:a|needle)$", data) == expected


@pytest.mark.parametrize("before", [0, LARGEST_PIECE - 3, LARGEST_PIECE, 3 * LARGEST_PIECE + 7])
@pytest.mark.parametrize("regex", [True, False])
def test_a_match_in_a_line_longer_than_a_piece_is_found(before: int, regex: bool) -> None:
    assert found("needle", b"one\n" + b"x" * before + b"needle" + b"y" * LARGEST_PIECE, regex) == [
        (2, before + 1)
    ]


def test_no_line_begins_or_ends_where_a_piece_does() -> None:
    assert found("x$", b"x" * (2 * LARGEST_PIECE) + b"y") == []
    assert found("^x", b"y" + b"x" * (2 * LARGEST_PIECE)) == []
    assert found(r"\bx", b"y" + b"x" * (2 * LARGEST_PIECE)) == []


def test_a_line_is_shown_once_however_many_matches_it_has() -> None:
    assert found("a|$", b"ba\naa\n\nb") == [(1, 2), (2, 1), (3, 1), (4, 2)]


def test_groups_cost_nothing() -> None:
    assert compiled("(" * 900 + ")" * 900, True, True).programsize < 10


@pytest.mark.parametrize(
    "query", [r"(?:\pL{1,20}\s?){1,10}z", ".{1000}.{1000}", "|".join(f"a.{{{n}}}b" for n in range(60))]
)
def test_an_expression_that_grows_too_large_is_refused(query: str) -> None:
    with pytest.raises(ToolError, match="repeat less") as refused:
        compiled(query, True, True)
    assert refused.value.code is Code.INVALID_ARGUMENTS


@pytest.mark.parametrize("case_sensitive", [True, False])
def test_plain_text_is_never_too_large(case_sensitive: bool) -> None:
    assert compiled("k" * LARGEST_PROGRAM, False, case_sensitive).search(b"k" * LARGEST_PROGRAM) is not None


class Counted:
    """An expression that keeps how many bytes it is asked about at a time."""

    def __init__(self, query: str) -> None:
        self.inner = compiled(query, True, True)
        self.options, self.programsize = self.inner.options, self.inner.programsize
        self.pieces: list[int] = []

    def search(self, data: bytes, start: int, end: int) -> object:
        """Search as RE2 does."""
        self.pieces.append(end - start)
        return self.inner.search(data, start, end)


@pytest.mark.parametrize(("query", "largest"), [("needle", LARGEST_PIECE), ("a.{900}c", SMALLEST_PIECE)])
@pytest.mark.parametrize("line", [b"x" * 80 + b"\n", b"x"])
def test_the_larger_an_expression_the_smaller_the_pieces(query: str, largest: int, line: bytes) -> None:
    expression = Counted(query)
    Matching(expression, 0, 1, 1).look_into("x", line * (1_000_000 // len(line)))
    assert max(expression.pieces) <= largest
    assert sum(expression.pieces) <= 2_100_000


def test_nothing_is_searched_once_time_is_up() -> None:
    expression = Counted("x")
    assert Matching(expression, 0, 1, 1, time.monotonic()).look_into("x", b"x")
    assert expression.pieces == []
