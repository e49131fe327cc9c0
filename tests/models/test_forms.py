"""Messages in the forms of OpenAI and Anthropic, and their answers as turns."""

import base64
import json
from typing import Any

import pytest

from brasstag.models.forms import anthropic_messages, openai_messages, turn_of
from brasstag.words.errors import ToolError
from brasstag.words.messages import Assistant, Image, Message, Result, System, Text, Thinking, ToolUse, User

PICTURE = Image("chart.png", "image/png", "digest")
KEPT = {"digest": b"pixels"}
PIXELS = base64.b64encode(b"pixels").decode()

TALK: tuple[Message, ...] = (
    System("You are boss."),
    User((Text("Look at this."), PICTURE)),
    Assistant(
        "I look.",
        (ToolUse("c0_0", "read_file", {"path": "ä.md"}), ToolUse("c0_1", "view", "{broken")),
        (Thinking("hm", json.dumps({"signature": "sig"}), "anthropic"), Thinking("other", "x", "openai")),
    ),
    Result("c0_0", "read_file", (Text("words"),)),
    Result("c0_1", "view", (Text("no"), PICTURE), is_error=True),
    User((Text("A document changed."),)),
    Assistant(""),
    User((Text("Go on."),)),
)


def fetch(digest: str) -> bytes:
    return KEPT[digest]


def test_openai_gets_results_right_after_their_calls_and_pictures_after_them() -> None:
    found = openai_messages(TALK, fetch)
    assert [one["role"] for one in found] == [
        *("system", "user", "assistant", "tool", "tool", "user", "user", "user")
    ]
    assert found[1]["content"][1] == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{PIXELS}"},
    }
    first, second = found[2]["tool_calls"]
    assert json.loads(first["function"]["arguments"]) == {"path": "ä.md"}
    assert second["function"]["arguments"] == "{broken"
    assert found[3] == {"role": "tool", "tool_call_id": "c0_0", "content": "words"}
    assert found[4]["content"] == "no\n\n[shown below: chart.png]"
    assert found[5]["content"][0]["type"] == "image_url"
    assert [one["content"] for one in found[6:]] == ["A document changed.", "Go on."]


def test_anthropic_gets_turns_that_alternate_with_results_first() -> None:
    found = anthropic_messages(TALK, fetch)
    assert found["system"] == "You are boss."
    assert [one["role"] for one in found["messages"]] == ["user", "assistant", "user"]
    asked, turn, told = (one["content"] for one in found["messages"])
    assert asked[1]["source"] == {"type": "base64", "media_type": "image/png", "data": PIXELS}
    assert [part["type"] for part in turn] == ["thinking", "text", "tool_use", "tool_use"]
    assert turn[0] == {"type": "thinking", "thinking": "hm", "signature": "sig"}
    assert turn[3]["input"] == {"unreadable": "{broken"}
    assert [part["type"] for part in told] == ["tool_result", "tool_result", "text", "text"]
    assert (told[1]["is_error"], told[1]["content"][1]["type"]) == (True, "image")


def test_a_picture_that_is_gone_is_named() -> None:
    (_, user) = openai_messages([System("x"), User((Image("a.png", "image/png", "none"),))], fetch)
    assert "a.png is a picture (image/png); its bytes are no longer kept" in user["content"]


def test_an_answer_of_openai_is_read_whole_or_by_its_message() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a"}'}}]
    message = {"role": "assistant", "content": "Reading.", "tool_calls": calls}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    whole = turn_of(
        {"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}
    )
    assert (whole.text, whole.stop, whole.model, whole.usage.tokens) == ("Reading.", "calls", "m", 10)
    assert whole.calls == (ToolUse("", "read_file", {"path": "a"}),)
    assert turn_of(message).calls == whole.calls
    cut = turn_of({"choices": [{"message": {"content": None}, "finish_reason": "length"}]})
    assert (cut.text, cut.stop) == ("", "length")


def test_an_answer_of_anthropic_keeps_its_thoughts() -> None:
    class Client:
        """As the objects of both clients do."""

        def model_dump(self) -> dict[str, Any]:
            return {
                "model": "claude",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {"type": "text", "text": "Reading."},
                    {"type": "tool_use", "id": "1", "name": "read_file", "input": {"path": "a"}},
                ],
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 4},
            }

    turn = turn_of(Client())
    assert (turn.text, turn.stop, turn.usage.tokens, turn.usage.cached_tokens) == ("Reading.", "calls", 11, 4)
    said = anthropic_messages([Assistant(turn.text, turn.calls, turn.thinking)], fetch)["messages"][0]
    assert said["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "sig"}


def test_a_text_is_a_last_word() -> None:
    assert (turn_of("Done.").text, turn_of("Done.").stop) == ("Done.", "end_turn")


def test_a_message_of_openai_may_have_its_content_in_parts() -> None:
    """Some servers that speak OpenAI's protocol send a list where it has a text."""
    call = {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.md"}'}}
    parts = {"role": "assistant", "content": [{"type": "text", "text": "I look."}], "tool_calls": [call]}
    for answer in (parts, {"choices": [{"message": parts, "finish_reason": "tool_calls"}]}):
        turn = turn_of(answer)
        assert (turn.text, turn.stop) == ("I look.", "calls")
        assert [(one.tool, one.arguments) for one in turn.calls] == [("read_file", {"path": "a.md"})]


def test_what_a_model_refuses_is_what_it_says() -> None:
    turn = turn_of({"role": "assistant", "content": None, "refusal": "I will not."})
    assert (turn.text, turn.stop) == ("I will not.", "refused")


@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_a_message_that_no_model_wrote_is_not_its_answer(role: str) -> None:
    for answer in (
        {"role": role, "content": "Done."},
        {"role": role, "content": [{"type": "text", "text": "Done."}]},
        {"choices": [{"message": {"role": role, "content": "Done."}}]},
    ):
        with pytest.raises(ToolError, match="this is no answer of a model"):
            turn_of(answer)


@pytest.mark.parametrize("stop", ["max_tokens", "pause_turn", "model_context_window_exceeded"])
def test_an_answer_of_anthropic_that_goes_on_is_not_its_last_word(stop: str) -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "So far"}], "stop_reason": stop}
    assert turn_of(answer).stop == "length"


def test_a_call_that_was_cut_off_before_its_arguments_has_none() -> None:
    call = {"function": {"name": "list_files", "arguments": ""}}
    cut_off = {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "length"}]}
    assert [one.arguments for one in turn_of(cut_off).calls] == [""]


def test_numbers_that_no_answer_can_have_used_do_not_break_the_count() -> None:
    assert turn_of({"content": "Hm.", "usage": {"prompt_tokens": 10**400}}).usage.input_tokens < 2**31
