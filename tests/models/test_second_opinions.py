"""ask_gpt and ask_claude, through a whole room."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from brasstag import ApprovalResponse, Approver, Done, Failed, Room, Waiting
from brasstag.models.pool import ModelPool
from brasstag.words.calls import Outcome
from brasstag.words.errors import Code
from tests.models.http_server import HttpServer, as_json, chat_text, claude, claude_text
from tests.runtimes import put_in

ADA = Approver("ada", "terminal")


@pytest.fixture
async def with_models(room: Room) -> AsyncIterator[Room]:
    pool = ModelPool()
    put_in(room, models=pool)
    yield room
    await pool.close()


async def asked(room: Room, name: str, **arguments: Any) -> Outcome:
    """Call a tool and approve it, as a person must: the prompt leaves the machine."""
    waiting = await room.call(name, arguments)
    assert isinstance(waiting, Waiting), waiting
    await room.decide(waiting.approval_id, ApprovalResponse(True), ADA)
    return await room.resume(waiting.approval_id)


async def test_claude_gives_an_opinion_and_says_what_it_took(
    with_models: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HttpServer(claude(claude_text("It is", " sound."))) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        outcome = await asked(with_models, "ask_claude", prompt="Is this plan sound?")
        sent = server.asked[0].body
    assert isinstance(outcome, Done), outcome
    assert outcome.value == {
        "answer": "It is sound.",
        "model": "anthropic:claude-sonnet-5-5",
        "usage": {"input_tokens": 150, "output_tokens": 30, "cached_tokens": 50, "cost": 505},
    }
    assert "Is this plan sound?" in str(sent["messages"])
    assert "tools" not in sent


async def test_gpt_may_be_asked_by_name(with_models: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpServer(chat_text("Yes.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        outcome = await asked(with_models, "ask_gpt", prompt="Is it?", model="gpt-5.5-pro")
        assert server.asked[0].body["model"] == "gpt-5.5-pro"
    assert isinstance(outcome, Done), outcome
    assert (outcome.value["answer"], outcome.value["model"]) == ("Yes.", "openai:gpt-5.5-pro")


@pytest.mark.parametrize(
    ("tool", "variable"), [("ask_gpt", "OPENAI_API_KEY"), ("ask_claude", "ANTHROPIC_API_KEY")]
)
async def test_without_a_key_it_says_which_one(with_models: Room, tool: str, variable: str) -> None:
    outcome = await asked(with_models, tool, prompt="Is it?")
    assert isinstance(outcome, Failed), outcome
    assert outcome.code is Code.MODEL_NOT_CONFIGURED
    assert variable in outcome.message


async def test_a_refusal_of_the_provider_is_a_coded_failure(
    with_models: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HttpServer(as_json({"error": {"message": "too rude"}}, 400)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        outcome = await asked(with_models, "ask_gpt", prompt="Is it?")
    assert isinstance(outcome, Failed), outcome
    assert (outcome.code, "too rude" in outcome.message) == (Code.MODEL_FAILED, True)


async def test_a_room_without_models_says_so(room: Room) -> None:
    outcome = await asked(room, "ask_gpt", prompt="Is it?")
    assert isinstance(outcome, Failed), outcome
    assert outcome.code is Code.MODEL_NOT_CONFIGURED


@pytest.mark.parametrize("model", ["x@http://evil.example/v1", "openai-compatible:x", "../x", "", "a b"])
async def test_a_model_is_a_name_and_never_an_address(with_models: Room, model: str) -> None:
    outcome = await with_models.call("ask_gpt", {"prompt": "Is it?", "model": model})
    assert isinstance(outcome, Failed), outcome
    assert outcome.code is Code.INVALID_ARGUMENTS
