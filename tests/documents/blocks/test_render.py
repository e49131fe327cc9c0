"""Blocks as Markdown, text and JSON: nothing is lost on the way there and back."""

import io
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brasstag.documents.blocks.render import as_json, as_markdown, as_text, text_of
from brasstag.documents.converters.convert import convert
from brasstag.words.blocks import Block, Blocks, Item
from tests.documents.converters.test_converters import bare

PIECES = [
    "# ", "## ", "- ", "* ", "+ ", "1. ", "2) ", "> ", "```", "~~~", "\n", "\n\n", "    ", "\t", "a", "b c",
    "word", "*", "**", "_", "__", "`", "[", "](x)", "![alt](y)", "|", "|---|---|", "---", "===", "<b>",
    "<!-- c -->", "&amp;", "&nbsp;", "&#13;", "\\", "+++", "é", "漢字", " ", "http://x.y", "<http://z.w>",
    "#", "1", "0.", ":-", "~~", "\x0b", "\r", "  \n", "<div>\n", "!", "]", "(", ")", "🙂", "\xa0", "\ufeff",
    "[a]: http://b\n", "999999999. ",
]  # fmt: skip


def read(text: str) -> Blocks:
    data = text.encode(errors="replace")
    return Blocks.from_json(convert(io.BytesIO(data), len(data), "text/markdown"))


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=60))
@example("\\+++\n\nfoo\n\n\\+++\n")
@example("- <div>\n\n1. _ &\n- +++_\n_")
def test_markdown_read_and_written_is_the_same_when_it_is_read_again(text: str) -> None:
    once = read(text)
    assert bare(read(as_markdown(once))) == bare(once)


BLOCKS = Blocks(
    (
        Block("heading", text="1. Title # with | signs #", level=2),
        Block("paragraph", text="# no heading\n- no *list*"),
        Block("list", items=(Item("a\nb"), Item("deep", 1), Item("three", 1, 3))),
        Block("list", items=(Item("another"),)),
        Block("table", header=("a|b", ""), rows=(("x", "\\|"),)),
        Block("table", rows=(("1", "2"),)),
        Block("code", text="```\nfenced\n```", language="md"),
        Block("quote", text="one\ntwo", level=2),
        Block("image", text="a ] cat", target="a cat>.png"),
        Block("rule"),
    )
)


def test_every_kind_survives_markdown() -> None:
    again = bare(read(as_markdown(BLOCKS)))
    expected = bare(BLOCKS)
    expected[8]["target"] = "a%20cat%3E.png"
    assert again == expected


def test_text_says_where_each_block_begins() -> None:
    text, starts = text_of(BLOCKS)
    assert len(starts) == len(BLOCKS.blocks)
    assert text == as_text(BLOCKS)
    assert text[starts[1] :].startswith("# no heading\n- no *list*\n\n")
    assert text[starts[2] :].startswith("- a\nb\n  - deep\n  3. three\n\n- another")
    assert text[starts[4] :].startswith("a|b\t\nx\t\\|\n\n1\t2")


@given(st.lists(st.sampled_from(BLOCKS.blocks), max_size=8))
def test_a_block_stands_in_the_text_where_it_is_said_to(blocks: list[Block]) -> None:
    document = Blocks(tuple(blocks))
    text, starts = text_of(document)
    for block, start in zip(blocks, starts, strict=True):
        alone = as_text(Blocks((block,)))
        assert text[start : start + len(alone)] == alone
    assert starts == sorted(starts)


def test_json_is_what_blocks_are_read_from() -> None:
    assert Blocks.from_json(json.loads(as_json(BLOCKS))) == BLOCKS


@pytest.mark.parametrize("blocks", [(), (Block("page_break"),), (Block("table"),)])
def test_what_says_nothing_is_no_text(blocks: Any) -> None:
    document = Blocks(blocks)
    assert as_text(document) == ""
    assert as_markdown(document).strip() == ""


def test_pictures_and_files_are_described() -> None:
    picture = Block("image", media_type="image/png", width=4, height=3, size_bytes=90)
    file = Block("reference", media_type="audio/mpeg", size_bytes=7)
    assert as_text(Blocks((picture, file))) == "image/png, 4 x 3 pixels, 90 bytes\n\naudio/mpeg, 7 bytes"
    assert as_markdown(Blocks((file,))) == "(audio/mpeg, 7 bytes)\n"
