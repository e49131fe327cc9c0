"""Loading: as much as fits, all of it in the end, and never more than was asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.loading import FIRST, Pieces, Unit, part_of
from brasstag.words.errors import Code, ToolError

units = st.sampled_from(["line", "block"])
texts = st.lists(st.text(alphabet="ab ", max_size=12), max_size=12)


def words(text: str) -> int:
    return len(text.split())


@given(units, texts, st.integers(1, 20))
def test_reading_on_gives_everything_once_and_no_part_is_too_long(
    unit: Unit, given_texts: list[str], most: int
) -> None:
    pieces = Pieces(unit, given_texts, "\n")
    seen: list[str] = []
    at: int | None = FIRST[unit]
    while at is not None:
        part = part_of(pieces, at if given_texts else None, None, most, words)
        assert part.tokens <= most
        if part.is_cut:
            assert given_texts[part.first - FIRST[unit]].startswith(part.content)
        else:
            assert part.content == "\n".join(
                given_texts[part.first - FIRST[unit] : part.last - FIRST[unit] + 1]
            )
        seen += given_texts[part.first - FIRST[unit] : part.last - FIRST[unit] + 1]
        assert part.next is None or part.next > at
        at = part.next
    assert seen == given_texts


@pytest.mark.parametrize(("first", "last", "content"), [(1, 2, "a\nb"), (2, None, "b\nc"), (3, 9, "c")])
def test_a_range_is_exactly_that(first: int, last: int | None, content: str) -> None:
    part = part_of(Pieces("line", ["a", "b", "c"], "\n"), first, last, None, words)
    assert part.content == content


@pytest.mark.parametrize(("first", "last"), [(4, None), (3, 2), (9, 9)])
def test_a_range_that_is_none_is_refused_with_how_long_it_is(first: int, last: int | None) -> None:
    with pytest.raises(ToolError) as refused:
        part_of(Pieces("line", ["a", "b", "c"], "\n"), first, last, None, words)
    assert refused.value.code is Code.INVALID_ARGUMENTS


def test_of_nothing_there_is_one_empty_part() -> None:
    part = part_of(Pieces("line", []), None, None, 5, words)
    assert (part.content, part.total, part.next) == ("", 0, None)
