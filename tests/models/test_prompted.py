"""Tools for models that do not call them: through a real server, and once through a real model."""

import json
from typing import Any

import jsonschema_rs
import pytest

from brasstag.models.address import destination
from brasstag.models.failures import Transient
from brasstag.models.prompted import PromptedModel, reply_schema
from brasstag.models.provider.provider import ProviderModel
from brasstag.words.messages import Assistant, Result, System, Text, ToolUse, User
from brasstag.words.turns import Offer
from tests.models.http_server import HttpServer, chat_text
from tests.models.support import READ, asking, compatible, turn_of
from tests.real_model import Served

HANDOFF = Offer(
    "handoff",
    "Finish the task.",
    {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
        "additionalProperties": False,
    },
)


async def replying(text: str) -> Any:
    async with HttpServer(chat_text(*text)) as server, compatible(server.url) as model:
        turn, heard = await turn_of(PromptedModel(model))
    return turn, heard


async def test_a_call_comes_out_of_plain_text() -> None:
    turn, heard = await replying('{"tool": "read_file", "arguments": {"path": "notes.md"}}')
    assert [(call.tool, call.arguments) for call in turn.calls] == [("read_file", {"path": "notes.md"})]
    assert (turn.text, turn.stop, turn.model, heard) == ("", "calls", "prompted+openai-compatible:m", [])


async def test_an_answer_comes_out_as_text() -> None:
    turn, heard = await replying('{"answer": "Three words."}')
    assert (turn.text, turn.stop, turn.calls, heard) == ("Three words.", "end_turn", (), ["Three words."])


async def test_a_call_that_was_cut_off_comes_out_as_far_as_it_was_written() -> None:
    begun = '{"path": "a.md", "content": "It was a dark and'
    reply = chat_text(f'{{"tool": "write_file", "arguments": {begun}', finish="length")
    async with HttpServer(reply) as server, compatible(server.url) as model:
        turn, _ = await turn_of(PromptedModel(model))
    assert turn.stop == "length"
    assert [(call.tool, call.arguments) for call in turn.calls] == [("write_file", begun)]


async def test_a_model_that_just_talks_has_answered() -> None:
    turn, _ = await replying("There are three words.")
    assert (turn.text, turn.calls) == ("There are three words.", ())


async def test_a_reply_in_a_markdown_fence_is_read() -> None:
    turn, _ = await replying('```json\n{"tool": "read_file", "arguments": {"path": "a"}}\n```')
    assert turn.calls[0].arguments == {"path": "a"}


@pytest.mark.parametrize(
    "reply",
    ['{"tool": "read_file", "arguments": {"path": "no', '{"tool": "read_file"}', '{"result": 1}', "{}"],
)
async def test_a_reply_that_is_neither_is_worth_another_try(reply: str) -> None:
    with pytest.raises(Transient):
        await replying(reply)


async def test_the_server_is_asked_for_one_schema_and_never_for_tools() -> None:
    async with HttpServer(chat_text('{"answer": "ok"}')) as server, compatible(server.url) as model:
        await turn_of(PromptedModel(model), asking(offers=(READ, HANDOFF)))
        sent = server.asked[0].body
    assert not {"tools", "tool_choice"} & sent.keys()
    assert sent["response_format"]["json_schema"]["schema"] == reply_schema((READ, HANDOFF))
    system = sent["messages"][0]["content"]
    assert system.startswith("You are terse.")
    assert "read_file: Read a file." in system
    assert "handoff: Finish the task." in system


async def test_calls_and_results_are_retold_in_words() -> None:
    history = (
        System("You are terse."),
        User((Text("Look."),)),
        Assistant("Looking.", (ToolUse("c0_0", "read_file", {"path": "a.md"}),)),
        Result("c0_0", "read_file", (Text("no such file"),), is_error=True),
    )
    async with HttpServer(chat_text('{"answer": "ok"}')) as server, compatible(server.url) as model:
        await turn_of(PromptedModel(model), asking(*history))
        sent = server.asked[0].body["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    said, reply = sent[2]["content"].split("\n")
    assert (said, json.loads(reply)) == ("Looking.", {"tool": "read_file", "arguments": {"path": "a.md"}})
    assert "read_file failed:" in str(sent[3]["content"])


async def test_without_tools_it_is_just_the_model() -> None:
    async with HttpServer(chat_text("Hello", " there")) as server, compatible(server.url) as model:
        turn, heard = await turn_of(PromptedModel(model), asking(offers=()))
        assert "response_format" not in server.asked[0].body
    assert (turn.text, heard) == ("Hello there", ["Hello", " there"])


@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        ({"tool": "read_file", "arguments": {"path": "a"}}, True),
        ({"tool": "handoff", "arguments": {"result": "a"}}, True),
        ({"answer": "a"}, True),
        ({"tool": "read_file", "arguments": {"result": "a"}}, False),
        ({"tool": "rm", "arguments": {}}, False),
        ({"tool": "read_file", "arguments": {"path": "a"}, "answer": "b"}, False),
        ({}, False),
    ],
)
def test_the_schema_allows_calls_and_answers_and_nothing_else(reply: Any, fits: bool) -> None:
    assert jsonschema_rs.is_valid(reply_schema((READ, HANDOFF)), reply) is fits


async def test_a_real_model_replies_in_the_form(real_model: Served) -> None:
    to = destination(real_model.address, {"OPENAI_COMPATIBLE_API_KEY": real_model.key})
    model = ProviderModel(to)
    request = asking(offers=(READ, HANDOFF), max_tokens=120)
    turn, _ = await turn_of(PromptedModel(model), request)
    await model.close()
    assert turn.usage.input_tokens > 50
    assert turn.usage.output_tokens > 0
    if turn.calls:
        schemas = {offer.name: offer.schema for offer in request.offers}
        assert jsonschema_rs.is_valid(schemas[turn.calls[0].tool], turn.calls[0].arguments)
    else:
        assert turn.text


async def test_a_real_model_streams_text(real_model: Served) -> None:
    to = destination(real_model.address, {"OPENAI_COMPATIBLE_API_KEY": real_model.key})
    model = ProviderModel(to)
    turn, heard = await turn_of(model, asking(offers=(), max_tokens=12))
    await model.close()
    assert "".join(heard) == turn.text
    assert len(heard) > 1
    assert turn.usage.output_tokens <= 12
