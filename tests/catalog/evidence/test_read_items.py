"""Evidence is read from lines and from lists; what cannot be read is named."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.evidence.items import LineRef, Quote, ScopeScan
from brasstag.catalog.evidence.read_items import MOST_LINES, read_items


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ('QUOTE a.md:3 "Call me" [tag_1]', Quote("a.md", 3, "Call me", "tag_1", 1)),
        ('QUOTE ./story bible/a.md:3 "Call me"', Quote("story bible/a.md", 3, "Call me", "", 1)),
        ("- **QUOTE** `a.md:3` “Call me” (tag_1).", Quote("a.md", 3, "Call me", "tag_1", 1)),
        ("2. QUOTE: a.md:L3 „Komm“ tag_1", Quote("a.md", 3, "Komm", "tag_1", 1)),
        ("> QUOTE a.md:3 「行かない」 [tag_1]", Quote("a.md", 3, "行かない", "tag_1", 1)),
        ('QUOTE a.md:3-4 "She said "no" twice" [tag_1]', Quote("a.md", 3, 'She said "no" twice', "tag_1", 1)),
        ('QUOTE a.md:3 "one\n\ntwo" [tag_1]', Quote("a.md", 3, "one\n\ntwo", "tag_1", 1)),
        ("LINE_REF a.md:10-14 [tag_1]", LineRef("a.md", 10, 14, "tag_1", 1)),
        ("LINE_REF `a.md:10`", LineRef("a.md", 10, 10, "", 1)),
        ("LINE_REF a b/c.md:10–14 tag_1", LineRef("a b/c.md", 10, 14, "tag_1", 1)),
        (
            "SCOPE_SCAN all scenes for Anna, nothing found [tag_1, tag_2]",
            ScopeScan("all scenes for Anna, nothing found [tag_1, tag_2]", ("tag_1", "tag_2"), 1),
        ),
    ],
)
def test_each_form_is_read_however_it_is_dressed(line: str, item: Any) -> None:
    read = read_items(line)
    assert (read.items, read.problems) == ([item], [])
    assert not "".join(read.prose)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("QUOTE the ship sails", "this QUOTE cannot be read"),
        ('QUOTE a.md "Call me"', "this QUOTE cannot be read"),
        ('QUOTE a.md:3 "Call me', "does not end with a closing mark"),
        ('QUOTE a.md:3 "Call me\nLINE_REF a.md:1', "does not end with a closing mark"),
        ('QUOTE a.md:3 "Call me" [tag_…]', "does not end with a closing mark, or with a tag"),
        ('QUOTE a.md:3 " "', "this QUOTE is empty"),
        ('QUOTE a.md:3 "Call me" [tag_1] so he is "Ishmael"', "there is more after the tag"),
        ("LINE_REF a.md", "this LINE_REF cannot be read"),
        ("LINE_REF a.md:14-10 [tag_1]", "ends in line 10, before it begins in line 14"),
        ("SCOPE_SCAN [tag_1]", "does not say what was searched"),
        ("SCOPE_SCAN all scenes, nothing found", "has no tag of a search"),
        ("NO_CLAIMS", "has no reason"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(line: str, says: str) -> None:
    (problem,) = read_items(f"First.\n{line}").problems
    assert (problem.id, problem.line) == ("BAD_FORM", 2)
    assert says in problem.says


def test_a_quote_does_not_swallow_a_whole_reply() -> None:
    long = "\n".join(['QUOTE a.md:3 "Call me', *["word"] * MOST_LINES, 'the end"'])
    read = read_items(long)
    assert (len(read.items), len(read.problems)) == (0, 1)


def test_an_object_carries_its_items_in_a_list_or_in_its_texts() -> None:
    read = read_items(
        {
            "summary": ["Fine.", {"more": 'QUOTE a.md:3 "Call me"'}],
            "evidence": [
                {"type": "QUOTE", "file": "a.md", "line": 1, "text": "one", "tag": "tag_1"},
                {"type": "LINE_REF", "file": "a.md", "line": "10-14"},
                {"type": "LINE_REF", "file": "a.md", "line": 10, "end_line": 11, "tag": "tag_1"},
                {"type": "SCOPE_SCAN", "text": "all scenes, nothing found", "tag": "tag_1"},
            ],
        }
    )
    assert read.problems == []
    assert read.items == [
        Quote("a.md", 1, "one", "tag_1", 0),
        LineRef("a.md", 10, 14, "", 0),
        LineRef("a.md", 10, 11, "tag_1", 0),
        ScopeScan("all scenes, nothing found tag_1", ("tag_1",), 0),
        Quote("a.md", 3, "Call me", "", 2),
    ]
    assert read_items({"no_claims": "only a question", "text": "Which?"}).no_claims == 0


@pytest.mark.parametrize(
    "evidence",
    [
        "a quote",
        [1],
        [{}],
        [{"type": "QUOTE", "file": "a.md", "line": "x", "text": "a"}],
        [{"type": "LINE_REF", "file": 1}],
    ],
)
def test_a_list_that_cannot_be_read_is_refused(evidence: Any) -> None:
    read = read_items({"evidence": evidence})
    assert [problem.id for problem in read.problems] == ["BAD_FORM"]
    assert "evidence" in read.problems[0].says


FORMS = st.sampled_from(
    ["QUOTE ", "LINE_REF ", "SCOPE_SCAN ", "NO_CLAIMS", 'a.md:3 "', "tag_1", "\n", '"', "“", ":9"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: (
        st.lists(inside)
        | st.dictionaries(st.sampled_from(["evidence", "type", "file", "line", "text"]), inside)
    ),
)


@given(st.lists(FORMS | st.text()).map("".join) | JSON)
def test_no_reply_makes_it_fail(reply: Any) -> None:
    read = read_items(reply)
    if isinstance(reply, str):
        assert len(read.prose) == len(reply.split("\n"))
