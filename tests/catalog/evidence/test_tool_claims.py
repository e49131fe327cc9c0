"""Who says that a tool was used has to show the tag of the call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.catalog.evidence.tool_claims import claimed_tool_use

TOOLS = ("read_file", "search_code", "recall")


@pytest.mark.parametrize(
    "claim",
    [
        "I searched the manuscripts for Anna.",
        "I've also searched everything.",
        "We have carefully read scene_02.md.",
        "First I read the file, then I thought.",
        "I looked into the story bible.",
        "We’ve checked the outline twice.",
        "A full-text search for Anna found nothing.",
        "search_code found three places.",
        "`search_code` returned nothing.",
        "I ran `search_code` on it.",
        'read_file(path="a.md")',
        "recall(tag)",
        '{"tool": "read_file", "arguments": {}}',
        "```\nsearch_code('Anna')\n```",
        '> {"name": "search_code"}',
    ],
)
def test_a_claim_without_a_tag_is_found(claim: str) -> None:
    assert claimed_tool_use(claim, TOOLS)


@pytest.mark.parametrize(
    "text",
    [
        "I searched the manuscripts for Anna [tag_1].",
        "I did not search the manuscripts.",
        "I have not read the file.",
        "The editor should call `read_file` and `search_code` next.",
        "Mend it with edit_file.",
        'She says “I searched the attic” in line 3, and "I read the file" in line 4.',
        "> I searched the attic and read the file.",
        "```\nI searched the attic.\n```",
        "I used a semicolon.",
        "I recall (dimly) that it rained.",
        "Anna read the document aloud.",
        "",
    ],
)
def test_what_claims_nothing_is_left_alone(text: str) -> None:
    assert claimed_tool_use(text, TOOLS) == []


def test_each_line_answers_for_itself() -> None:
    text = "Fine.\nI searched it [tag_1].\nI read the outline."
    assert [(one.line, one.words) for one in claimed_tool_use(text, TOOLS)] == [(3, "I read the outline")]


def test_without_tools_only_sentences_are_claims() -> None:
    assert claimed_tool_use("read_file(x)", ()) == []
    assert claimed_tool_use("I searched it.", ())


@given(st.text(), st.lists(st.text(alphabet="abc_().*", min_size=1), max_size=3))
def test_no_text_makes_it_fail(text: str, tools: list[str]) -> None:
    for claim in claimed_tool_use(text, tools):
        assert 1 <= claim.line <= text.count("\n") + 1
