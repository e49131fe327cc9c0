"""Loading: as much as fits, all of it in the end, and never more than was asked for."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.documents.blocks.pieces import BlockPieces, PieceOffset, Pieces, TextLines, cut, length, seams
from brasstag.documents.reading.load import FIRST, Part, Share, part_of
from brasstag.words.blocks import Block, Item
from brasstag.words.errors import Code, ToolError

words = st.text(alphabet="ab \n", max_size=30)
cells = st.text(alphabet="xy ", max_size=8)
blocks = st.one_of(
    st.builds(Block, st.sampled_from(["heading", "paragraph", "code", "quote"]), text=words),
    st.builds(Block, st.just("page_break")),
    st.builds(Block, st.just("list"), items=st.lists(st.builds(Item, words), max_size=4).map(tuple)),
    st.builds(
        Block,
        st.just("table"),
        header=st.just(("h", "i")),
        rows=st.lists(st.tuples(cells, cells), max_size=6).map(tuple),
    ),
)


def at_most(most: int) -> Share:
    """Let so many characters pass."""
    return lambda text: len(text) / most


def parts(pieces: Pieces, share_of: Share) -> Iterator[tuple[PieceOffset, Part]]:
    """Read on as an agent does: by what each part says of the next."""
    first, offset = FIRST[pieces.unit], 0
    while True:
        part = part_of(pieces, first if len(pieces) else None, None, offset, share_of)
        yield PieceOffset(first - FIRST[pieces.unit], offset), part
        if part.next is None or part.next_offset is None:
            return
        assert (part.next, part.next_offset) > (first, offset)
        first, offset = part.next, part.next_offset


@given(st.text(alphabet="ab \n\r\f\u2028😀", max_size=200), st.integers(1, 40))
def test_reading_a_text_on_gives_every_character_once(text: str, most: int) -> None:
    share_of = at_most(most)
    found = [part for _, part in parts(TextLines.of(text), share_of)]
    assert "".join(part.shown.value for part in found) == text
    assert all(share_of(part.shown.text) <= 1 for part in found)


@given(st.lists(blocks, max_size=6), st.sampled_from(["text", "markdown", "json"]), st.integers(200, 400))
def test_reading_blocks_on_gives_every_row_entry_and_character_once(
    given_blocks: list[Block], form: str, most: int
) -> None:
    pieces = BlockPieces(given_blocks, form)  # type: ignore[arg-type]
    share_of = at_most(most)
    found = list(parts(pieces, share_of))
    assert all(share_of(part.shown.text) <= 1 for _, part in found)
    spots = [*(spot for spot, _ in found), PieceOffset(len(given_blocks))]
    told = [
        block
        for start, stop in pairwise(spots)
        for block in BlockPieces(given_blocks, "json").shown(start, stop).value
    ]
    assert _joined([Block.from_json(one) for one in told], spots, given_blocks) == given_blocks


def _joined(told: list[Block], spots: list[PieceOffset], whole: list[Block]) -> list[Block]:
    """Put parts of blocks together again."""
    inside = {
        spot.piece: [one.offset for one in spots if one.piece == spot.piece and one.offset] for spot in spots
    }
    joined, rest = [], iter(told)
    for number, block in enumerate(whole):
        made = next(rest)
        for offset in inside.get(number, []):
            made = _put_together(made, next(rest), is_seam=offset in seams(block))
        joined.append(made)
    assert next(rest, None) is None
    return joined


def _put_together(one: Block, other: Block, *, is_seam: bool) -> Block:
    if one.kind == "table":
        assert one.header == other.header
        rows, more = list(one.rows), list(other.rows)
        if not is_seam:
            last, following = rows.pop(), more.pop(0)
            rows.append(tuple(a + b for a, b in zip(last, following, strict=True)))
        return replace(one, rows=(*rows, *more))
    if one.kind == "list":
        items, others = list(one.items), list(other.items)
        if not is_seam:
            items.append(Item(items.pop().text + others.pop(0).text))
        return replace(one, items=(*items, *others))
    return replace(one, text=one.text + other.text)


@given(blocks, st.data())
def test_two_parts_of_a_block_are_the_whole_of_it(block: Block, data: st.DataObject) -> None:
    whole = length(block)
    if whole < 2:
        return
    place = data.draw(st.integers(1, whole - 1))
    halves = cut(block, 0, place), cut(block, place, whole)
    assert _put_together(*halves, is_seam=place in seams(block)) == block


def test_a_long_table_is_cut_between_rows_and_every_part_has_the_header() -> None:
    rows = tuple((str(number), f"name {number}") for number in range(100))
    sheet = [Block("heading", text="Big", level=2), Block("table", header=("id", "who"), rows=rows)]
    found = [part for _, part in parts(BlockPieces(sheet, "markdown"), at_most(300))]
    head = "| id | who |\n| --- | --- |\n"
    assert found[0].shown.value.startswith(f"## Big\n\n{head}| 0 | name 0 |")
    assert all(part.shown.value.startswith(head) for part in found[1:])
    told = [line for part in found for line in part.shown.value.split("\n") if "name " in line]
    assert told == [f"| {number} | name {number} |" for number in range(100)]
    assert found[0].notes == ("of block 1, this has rows 1 to 16 of its 100",)
    assert all(len(part.shown.text) > 200 for part in found[:-1])


def test_words_are_not_cut_where_that_can_be_helped() -> None:
    first, second, *_ = [part.shown.value for _, part in parts(TextLines.of("walnuts " * 20), at_most(30))]
    assert (first, second) == ("walnuts walnuts walnuts ", "walnuts walnuts walnuts ")


def test_lines_are_only_cut_where_one_alone_is_too_long() -> None:
    found = [part.shown.value for _, part in parts(TextLines.of("one two three\n" * 3), at_most(25))]
    assert found == ["one two three\n"] * 3


def test_lines_end_at_line_feeds_and_nowhere_else() -> None:
    for text, lines in {
        "": [],
        "a": ["a"],
        "\n": ["\n"],
        "a\rb\fc\u2028d": ["a\rb\fc\u2028d"],
        "a\r\nb\n": ["a\r\n", "b\n"],
        "\n\nb": ["\n", "\n", "b"],
    }.items():
        pieces = TextLines.of(text)
        assert [pieces.words(piece) for piece in range(len(pieces))] == lines
        assert [pieces.length(piece) for piece in range(len(pieces))] == [*map(len, lines)]


def test_what_does_not_even_begin_to_fit_says_how_much_would() -> None:
    with pytest.raises(ToolError, match="larger max_tokens") as refused:
        part_of(BlockPieces([Block("code", text="x")], "markdown"), None, None, 0, at_most(4))
    assert refused.value.code is Code.TOO_LARGE
    assert "about 2.2 times as much as is allowed" in refused.value.message


def test_what_takes_a_little_too_much_is_not_told_as_once_as_much() -> None:
    with pytest.raises(ToolError, match="it takes a little more than is allowed: give a larger"):
        part_of(BlockPieces([Block("code", text="x")], "markdown"), None, None, 0, lambda _text: 1.04)


@pytest.mark.parametrize(("first", "last", "content"), [(1, 2, "a\nb\n"), (2, None, "b\nc"), (3, 9, "c")])
def test_a_range_is_exactly_that(first: int, last: int | None, content: str) -> None:
    assert part_of(TextLines.of("a\nb\nc"), first, last).shown.value == content


@pytest.mark.parametrize(
    ("first", "last", "offset"), [(4, None, 0), (3, 2, 0), (9, 9, 0), (1, 1, 2), (3, 3, 1)]
)
def test_a_range_that_is_none_is_refused(first: int, last: int | None, offset: int) -> None:
    with pytest.raises(ToolError) as refused:
        part_of(TextLines.of("a\nb\nc"), first, last, offset)
    assert refused.value.code is Code.INVALID_ARGUMENTS


def test_of_nothing_there_is_one_empty_part() -> None:
    part = part_of(TextLines.of(""), None, None, 0, at_most(5))
    assert (part.shown.value, part.total, part.next, part.next_offset) == ("", 0, None, None)
