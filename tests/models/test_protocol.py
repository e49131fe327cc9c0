"""The JSON-only protocol: what is a call, what is an answer, and what is neither."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brasstag.models.protocol import RefusedReply, read_reply, reply_schema, written_answer, written_call
from brasstag.words.messages import ToolUse
from brasstag.words.turns import Offer
from tests.models.support import READ

NONCE = "bcdfghjklm"
WORDS = st.text(st.characters(exclude_categories=["Cs"]))
ARGUMENTS = st.dictionaries(WORDS, WORDS | st.integers(-9, 9) | st.none() | st.lists(WORDS))
REPLIES = st.one_of(
    st.builds(written_answer, st.just(NONCE), WORDS),
    st.builds(written_call, st.just(NONCE), WORDS, ARGUMENTS),
)
ASKED = Offer(
    "ask_it", "Ask.", {"type": "object", "properties": {"default": {"type": "string", "maxLength": 9}}}
)


@given(WORDS, ARGUMENTS)
def test_what_is_in_the_form_comes_back_as_it_was_meant(tool: str, arguments: dict[str, Any]) -> None:
    assert read_reply(written_call(NONCE, tool, arguments), NONCE) == ToolUse("p0", tool, arguments)
    assert read_reply(written_answer(NONCE, tool), NONCE) == tool


@given(REPLIES, st.text(alphabet="bcdfghjklm", min_size=10, max_size=10))
def test_a_reply_with_another_nonce_is_never_used(reply: str, other: str) -> None:
    if other != NONCE:
        assert isinstance(read_reply(reply, other), RefusedReply)
        assert isinstance(read_reply(reply, other, cut_off=True), RefusedReply)


@given(REPLIES, WORDS.filter(str.strip))
def test_whatever_stands_around_the_object_keeps_it_from_being_used(reply: str, prose: str) -> None:
    for around in (f"{prose}{reply}", f"{reply}\n{prose}", f"{reply}{reply}"):
        assert isinstance(read_reply(around, NONCE), RefusedReply)


@given(st.text() | REPLIES.flatmap(lambda reply: st.integers(0, len(reply)).map(lambda end: reply[:end])))
def test_no_text_makes_it_fail(text: str) -> None:
    read_reply(text, NONCE)
    read_reply(text, NONCE, cut_off=True)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "it is empty"),
        ("[1]", "it is text, and no JSON object"),
        ({}, 'it has no "nonce"'),
        ({"nonce": None, "answer": "a"}, "its nonce null is wrong"),
        ({"nonce": NONCE}, 'it has neither a "tool" nor an "answer"'),
        ({"nonce": NONCE, "tool": "a", "arguments": {}, "answer": "b"}, "both a call and an answer"),
        ({"nonce": NONCE, "arguments": {}}, '"tool" is missing'),
        ({"nonce": NONCE, "tool": 1, "arguments": {}}, '"tool" is not a text'),
        ({"nonce": NONCE, "tool": "a", "arguments": "{}"}, '"arguments" is not an object'),
        ({"nonce": NONCE, "answer": ["a"]}, '"answer" is not a text'),
        ({"nonce": NONCE, "answer": "a", "thought": "b"}, 'it has "thought" beside the names of the form'),
        (f'{{"nonce": "{NONCE}", "answer": "a", "answer": "b"}}', "stands there twice"),
        (f'{{"nonce": "{NONCE}", "answer": "It was', "it cannot be read"),
    ],
)
def test_what_is_wrong_is_said_exactly(reply: Any, reason: str) -> None:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    refused = read_reply(text, NONCE)
    assert isinstance(refused, RefusedReply)
    assert reason in refused.reason


def test_an_object_that_is_only_written_badly_is_mended() -> None:
    assert read_reply(f"{{'nonce': '{NONCE}', 'answer': 'It\\'s',}}", NONCE) == "It's"


@given(WORDS, st.integers(0, 400))
def test_an_answer_that_was_cut_off_comes_out_as_far_as_it_was_written(answer: str, end: int) -> None:
    whole = written_answer(NONCE, answer)
    begun = whole[: whole.index('"answer": "') + len('"answer": "') + end]
    told = read_reply(begun, NONCE, cut_off=True)
    assert isinstance(told, str)
    assert answer.startswith(told.encode("utf-16", "ignore").decode("utf-16"))
    assert len(answer) - len(told) <= max(0, len(whole) - len(begun)) + 6


@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        ({"nonce": NONCE, "tool": "read_file", "arguments": {"path": "a"}}, True),
        ({"nonce": NONCE, "answer": "a"}, True),
        ({"nonce": NONCE, "tool": "ask_it", "arguments": {"default": "a" * 10}}, True),
        ({"tool": "read_file", "arguments": {"path": "a"}}, False),
        ({"nonce": "mlkjhgfdcb", "answer": "a"}, False),
        ({"nonce": NONCE, "tool": "read_file", "arguments": {"result": "a"}}, False),
        ({"nonce": NONCE, "tool": "rm", "arguments": {}}, False),
        ({"nonce": NONCE, "tool": "read_file", "arguments": {"path": "a"}, "answer": "b"}, False),
        ({}, False),
    ],
)
def test_the_schema_allows_calls_and_answers_with_the_nonce_and_nothing_else(reply: Any, fits: bool) -> None:
    assert jsonschema_rs.is_valid(reply_schema((READ, ASKED), NONCE), reply) is fits
