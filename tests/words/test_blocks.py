"""Blocks written as JSON are the same blocks when they are read, and nothing else is read as blocks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.words.blocks import DEEPEST_NESTED, FIELDS, FORM, KINDS, Block, Blocks, Item, NotBlocks, Place

TEXTS = st.text(max_size=20)
COUNTS = st.integers(0, 10**6)
LEVELS = st.integers(0, DEEPEST_NESTED)
PLACES = st.builds(Place, COUNTS, COUNTS, COUNTS, TEXTS, COUNTS, COUNTS)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "level": LEVELS,
    "items": st.lists(st.builds(Item, TEXTS, LEVELS, st.none() | COUNTS, PLACES), max_size=3).map(tuple),
    "header": st.lists(TEXTS, max_size=3).map(tuple),
    "rows": st.lists(st.lists(TEXTS, max_size=3).map(tuple), max_size=3).map(tuple),
    "language": TEXTS,
    "target": TEXTS,
    "media_type": TEXTS,
    "width": COUNTS,
    "height": COUNTS,
    "size_bytes": COUNTS,
}


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    kind = draw(st.sampled_from(KINDS))
    at = draw(PLACES)
    return Block(kind, at, **{name: draw(VALUES[name]) for name in FIELDS[kind]})


@given(st.lists(blocks(), max_size=5), st.lists(TEXTS, max_size=2), st.booleans())
def test_what_was_written_is_read_again(found: list[Block], notes: list[str], truncated: bool) -> None:
    document = Blocks(tuple(found), tuple(notes), truncated)
    assert Blocks.from_json(json.loads(json.dumps(document.as_json()))) == document


def test_every_kind_says_which_fields_it_has() -> None:
    assert set(FIELDS) == set(KINDS)
    assert set(VALUES) == {name for names in FIELDS.values() for name in names}


def test_fields_that_say_nothing_are_not_written() -> None:
    assert Block("paragraph", text="a").as_json() == {"kind": "paragraph", "text": "a"}
    assert Block("rule", Place(line=3)).as_json() == {"kind": "rule", "at": {"line": 3}}


GOOD: dict[str, Any] = {"form": 1, "blocks": [], "notes": [], "truncated": False}


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        {},
        {**GOOD, "form": 2},
        {**GOOD, "more": 1},
        {**GOOD, "truncated": 1},
        {**GOOD, "notes": "a"},
        {**GOOD, "notes": [1]},
        {**GOOD, "blocks": {}},
        {**GOOD, "blocks": [[]]},
        {**GOOD, "blocks": [{"kind": "song"}]},
        {**GOOD, "blocks": [{"kind": []}]},
        {**GOOD, "blocks": [{"text": "a"}]},
        {**GOOD, "blocks": [{"kind": "paragraph", "text": 1}]},
        {**GOOD, "blocks": [{"kind": "paragraph", "level": 1}]},
        {**GOOD, "blocks": [{"kind": "heading", "level": -1}]},
        {**GOOD, "blocks": [{"kind": "heading", "level": True}]},
        {**GOOD, "blocks": [{"kind": "rule", "at": {"column": 1}}]},
        {**GOOD, "blocks": [{"kind": "rule", "at": {"line": "1"}}]},
        {**GOOD, "blocks": [{"kind": "rule", "at": {"sheet": 1}}]},
        {**GOOD, "blocks": [{"kind": "table", "rows": [["a", 1]]}]},
        {**GOOD, "blocks": [{"kind": "table", "rows": ["ab"]}]},
        {**GOOD, "blocks": [{"kind": "table", "header": "ab"}]},
        {**GOOD, "blocks": [{"kind": "list", "items": [{"level": 1}]}]},
        {**GOOD, "blocks": [{"kind": "list", "items": [{"text": "a", "number": "1"}]}]},
        {**GOOD, "blocks": [{"kind": "list", "items": [{"text": "a", "at": {"line": -1}}]}]},
    ],
)
def test_anything_else_is_refused(stored: Any) -> None:
    with pytest.raises(NotBlocks):
        Blocks.from_json(stored)


def test_what_claims_to_lie_deeper_than_can_be_borne_is_read_as_lying_there() -> None:
    stored = {"form": FORM, "notes": [], "truncated": False}
    stored["blocks"] = [{"kind": "list", "items": [{"text": "a", "level": 10**6}]}]
    (block,) = Blocks.from_json(stored).blocks
    assert block.items[0].level == DEEPEST_NESTED
