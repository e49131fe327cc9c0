"""A reply counts only if each item of evidence in it holds, and it has one or claims nothing."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brasstag.catalog.evidence.check_reply import MOST_PROBLEMS, check_reply
from brasstag.catalog.evidence.contract import contract, refusal
from brasstag.catalog.evidence.items import EvidenceProblem
from brasstag.catalog.evidence.quote_text import folded
from tests.catalog.evidence.facts import ABSENT, BEGUN, FAILED, HITS, NOTE, READ, REMOVED, SEARCH, Facts

SCENE = "Call me Ishmael.\nSome years ago\nI went to sea.\n\nCall me Ishmael."
FACTS = Facts({"a.md": SCENE}, {"a.md": "Call me Ahab."}, {"b.md": {7: "The whale is white."}})


def faults(reply: Any, facts: Facts = FACTS) -> list[str]:
    return [problem.id.value for problem in check_reply(reply, facts)]


@pytest.mark.parametrize(
    "reply",
    [
        f'He has a name.\nQUOTE a.md:1 "Call me Ishmael." [{READ}]',
        f"QUOTE a.md:2 “Some years ago\nI went to sea” [{READ}]",
        'QUOTE a.md:1 "Call me Ahab."',
        f"LINE_REF a.md:1-4 [{READ}]",
        f"SCOPE_SCAN all scenes for Anna with search_code, nothing found [{SEARCH}]",
        f"SCOPE_SCAN c.md is not there [{ABSENT}]",
        f'I searched it [{SEARCH}].\nQUOTE b.md:7 "whale is white" [{SEARCH}]',
        "NO_CLAIMS: I only ask.\nWhich ending do you like?",
        {
            "result": "Fine.",
            "evidence": [{"type": "QUOTE", "file": "a.md", "line": 3, "text": "to sea", "tag": READ}],
        },
        {"no_claims": "nothing was asked", "result": "Ready."},
    ],
)
def test_a_reply_whose_evidence_holds_counts(reply: Any) -> None:
    assert check_reply(reply, FACTS) == []


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("All is well.", "NO_EVIDENCE"),
        ("", "NO_EVIDENCE"),
        ({"status": "done"}, "NO_EVIDENCE"),
        ({"status": "done", "evidence": []}, "NO_EVIDENCE"),
        ('QUOTE a.md:1 "Call me Ahab."' + f" [{READ}]", "NOT_IN_LINE"),
        ('QUOTE a.md:1 "Call me Ishmael."', "NOT_IN_LINE"),
        (f'QUOTE a.md:9 "Call me" [{READ}]', "NO_SUCH_LINE"),
        (f'QUOTE a.md:0 "Call me" [{READ}]', "NO_SUCH_LINE"),
        (f"LINE_REF a.md:4-6 [{READ}]", "NO_SUCH_LINE"),
        (f'QUOTE c.md:1 "Call me" [{READ}]', "NOT_SEEN"),
        (f'QUOTE b.md:8 "whale" [{SEARCH}]', "NOT_SEEN"),
        (f"LINE_REF b.md:7-8 [{SEARCH}]", "NOT_SEEN"),
        ('QUOTE a.md:1 "Call me Ishmael." [tag_none]', "UNKNOWN_TAG"),
        (f'QUOTE a.md:1 "Call me Ishmael." [{REMOVED}]', "TAG_REMOVED"),
        (f'QUOTE a.md:1 "Call me Ishmael." [{ABSENT}]', "TAG_PROVES_NOTHING"),
        (f'QUOTE a.md:1 "Call me Ishmael." [{BEGUN}]', "TAG_PROVES_NOTHING"),
        (f"SCOPE_SCAN all scenes, nothing found [{FAILED}]", "TAG_PROVES_NOTHING"),
        (f"SCOPE_SCAN all scenes, nothing found [{NOTE}]", "TAG_PROVES_NOTHING"),
        (f"SCOPE_SCAN all scenes, nothing found [{SEARCH}, {HITS}]", "TAG_PROVES_NOTHING"),
        ("SCOPE_SCAN all scenes, nothing found [tag_none]", "UNKNOWN_TAG"),
        ("SCOPE_SCAN all scenes, nothing found", "BAD_FORM"),
        (f"As tag_none shows.\nLINE_REF a.md:1 [{READ}]", "UNKNOWN_TAG"),
        (f"search_code found it.\nLINE_REF a.md:1 [{READ}]", "NO_RECEIPT"),
        (f"NO_CLAIMS: nothing.\nLINE_REF a.md:1 [{READ}]", "CLAIMS_AFTER_ALL"),
        ("NO_CLAIMS: nothing.\nSee a.md:14.", "CLAIMS_AFTER_ALL"),
        ("NO_CLAIMS: but see a.md:14", "CLAIMS_AFTER_ALL"),
        ("NO_CLAIMS: nothing.\nIt says “I went to sea some years ago”.", "CLAIMS_AFTER_ALL"),
        (f"NO_CLAIMS: nothing.\nSee {READ}.", "CLAIMS_AFTER_ALL"),
        ("NO_CLAIMS: I only read the file.", "NO_RECEIPT"),
        ({"no_claims": "I only read the file."}, "NO_RECEIPT"),
        ({"evidence": [{"type": "LINE_REF", "file": "a.md", "line": 1, "tag": "none"}]}, "UNKNOWN_TAG"),
    ],
)
def test_a_reply_that_fails_says_by_what(reply: Any, fault: str) -> None:
    assert faults(reply) == [fault]


def test_a_misplaced_quote_is_told_where_it_stands() -> None:
    (problem,) = check_reply(f'So:\nQUOTE a.md:2 "I went to sea." [{READ}]', FACTS)
    assert (problem.line, problem.says) == (2, "a.md:2 does not hold this text; line 3 does")
    (problem,) = check_reply(f'QUOTE a.md:2 "Call me Ishmael." [{READ}]', FACTS)
    assert problem.says == "a.md:2 does not hold this text; lines 1 and 5 do"


def test_every_problem_is_told_in_the_order_of_the_lines_and_not_without_end() -> None:
    wrong = [f'QUOTE a.md:{number} "Moby" [{READ}]' for number in range(1, 4)]
    assert [problem.line for problem in check_reply("\n".join(wrong), FACTS)] == [1, 2, 3]
    assert len(check_reply("\n".join(wrong * 20), FACTS)) == MOST_PROBLEMS


def test_a_problem_survives_its_stored_form_and_is_told_to_the_agent() -> None:
    (problem,) = check_reply("All is well.", FACTS)
    assert EvidenceProblem.from_json(problem.as_json()) == problem
    assert str(problem) in refusal([problem], 1, 3)
    assert "After 3 such replies" in contract(3)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1)


@given(TEXT, st.data())
def test_a_line_of_any_file_can_be_quoted_in_an_object(text: str, data: st.DataObject) -> None:
    lines = text.split("\n")
    number = data.draw(st.integers(1, len(lines)))
    assume(folded(lines[number - 1]))
    item = {"type": "QUOTE", "file": "x.md", "line": number, "text": lines[number - 1], "tag": READ}
    assert check_reply({"evidence": [item]}, Facts({"x.md": text})) == []


@given(
    st.lists(
        st.sampled_from(["QUOTE a.md:1 ", '"Call me"', f"[{READ}]", "LINE_REF ", "\n", "NO_CLAIMS: ", "x"])
    ),
    TEXT,
)
def test_no_reply_makes_the_check_fail(pieces: list[str], text: str) -> None:
    check_reply("".join(pieces) + text, FACTS)
