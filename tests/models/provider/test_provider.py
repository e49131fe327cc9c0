"""Providers, over real sockets: what they are sent, what is made of their answers, and how they fail."""

import asyncio
import base64
import json
import subprocess
import sys
from typing import Any

import pytest

from brasstag.models.address import destination
from brasstag.models.failures import Transient
from brasstag.models.provider.provider import ProviderModel
from brasstag.models.retry import RetryingModel
from brasstag.words.errors import Code
from brasstag.words.messages import Assistant, Image, Result, System, Text, Thinking, ToolUse, User
from brasstag.words.turns import ModelError, Usage
from tests.models.http_server import (
    HANGING,
    HttpServer,
    Reply,
    as_json,
    chat_calls,
    chat_text,
    claude,
    claude_call,
    claude_text,
    claude_thought,
)
from tests.models.support import READ, anthropic, asking, compatible, turn_of

PICTURE = b"\x89PNG\r\n\x1a\n picture"
HISTORY = (
    System("You are terse."),
    User((Text("Look at this."), Image("chart.png", "image/png", "d1"))),
    Assistant(
        "Reading.",
        (ToolUse("c0_0", "read_file", {"path": "a.md"}), ToolUse("c0_1", "read_file", '{"path": ')),
        (
            Thinking("hm", '{"signature": "signed-by-claude"}', "anthropic"),
            Thinking("unsigned", "", "anthropic"),
        ),
    ),
    Result("c0_0", "read_file", (Text("alpha"),)),
    Result("c0_1", "read_file", (Text("the arguments cannot be read"),), is_error=True),
    User((Text("Go on."),)),
)


@pytest.fixture
def claude_key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    return "sk-ant-very-secret"


def point_claude_at(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)


class TestWhatIsSent:
    async def test_our_messages_and_offers_reach_a_server_of_openais_protocol(self) -> None:
        async with HttpServer(chat_text("ok")) as server, compatible(server.url) as model:
            await turn_of(model, asking(*HISTORY, max_tokens=77))
            sent = server.asked[0].body
        assert [message["role"] for message in sent["messages"]] == [
            *("system", "user", "assistant", "tool", "tool", "user")
        ]
        assert sent["messages"][0]["content"] == "You are terse."
        first, second = sent["messages"][2]["tool_calls"]
        assert (first["id"], json.loads(first["function"]["arguments"])) == ("c0_0", {"path": "a.md"})
        assert '{"path": ' in json.loads(second["function"]["arguments"]).values()
        assert [(m["tool_call_id"], m["content"]) for m in sent["messages"] if m["role"] == "tool"] == [
            ("c0_0", "alpha"),
            ("c0_1", '{"error":"the arguments cannot be read"}'),
        ]
        assert sent["tools"][0]["function"] == {
            "name": "read_file",
            "description": "Read a file.",
            "parameters": READ.schema,
        }
        assert sent["max_tokens"] == 77
        assert sent["messages"][-1]["content"] == "Go on."
        assert "tool_choice" not in sent or sent["tool_choice"] == "auto"

    @pytest.mark.parametrize(
        ("context", "most"), [("", None), ("?context=8000", None), ("?context=100000", 16_384)]
    )
    async def test_how_much_a_turn_may_write_is_left_to_a_server_whose_window_is_small_or_unknown(
        self, context: str, most: int | None
    ) -> None:
        async with HttpServer(chat_text("ok")) as server:
            model = ProviderModel(destination(f"openai-compatible:m@{server.url}/v1{context}", {}))
            await turn_of(model)
            await model.close()
            sent = server.asked[0].body
        assert sent.get("max_tokens") == most

    async def test_a_turn_that_said_nothing_is_not_sent_back(self) -> None:
        history = (*HISTORY[:1], User((Text("One."),)), Assistant(""), User((Text("Two."),)))
        async with HttpServer(chat_text("ok")) as server, compatible(server.url) as model:
            await turn_of(model, asking(*history))
            sent = server.asked[0].body["messages"]
        assert "assistant" not in [message["role"] for message in sent]
        assert "One." in str(sent)
        assert "Two." in str(sent)

    async def test_our_key_for_openai_is_never_sent_to_another_server(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-secret")
        async with HttpServer(chat_text("ok")) as server, compatible(server.url) as model:
            await turn_of(model)
            assert "sk-openai-secret" not in str(server.asked[0].headers)

    async def test_pictures_go_to_models_that_see_and_are_named_to_the_others(self) -> None:
        fetched: list[str] = []

        def fetch(digest: str) -> bytes:
            fetched.append(digest)
            return PICTURE

        async with HttpServer(chat_text("ok")) as server:
            async with compatible(server.url, "qwen3-vl", fetch=fetch) as seeing:
                await turn_of(seeing, asking(*HISTORY[:2]))
            async with compatible(server.url, "qwen3", fetch=fetch) as blind:
                await turn_of(blind, asking(*HISTORY[:2]))
            shown, told = (asked.body["messages"][1]["content"] for asked in server.asked)
        assert base64.b64encode(PICTURE).decode() in shown[1]["image_url"]["url"]
        assert "chart.png" in str(told)
        assert "cannot see" in str(told)
        assert fetched == ["d1"]

    async def test_a_picture_whose_bytes_are_gone_is_told_of_in_words(self) -> None:
        async with HttpServer(chat_text("ok")) as server, compatible(server.url, "qwen3-vl") as model:
            await turn_of(model, asking(*HISTORY[:2]))
            assert "no longer kept" in str(server.asked[0].body)

    async def test_thoughts_go_back_only_to_whoever_signed_them(
        self, monkeypatch: pytest.MonkeyPatch, claude_key: str
    ) -> None:
        async with HttpServer(claude(claude_text("ok")), chat_text("ok")) as server:
            point_claude_at(server, monkeypatch)
            async with anthropic(fetch=lambda _: PICTURE) as model:
                await turn_of(model, asking(*HISTORY))
            async with compatible(server.url) as other:
                await turn_of(other, asking(*HISTORY))
            to_claude, to_other = (asked.body for asked in server.asked)
        blocks = to_claude["messages"][1]["content"]
        assert blocks[0] == {"type": "thinking", "thinking": "hm", "signature": "signed-by-claude"}
        assert "unsigned" not in str(to_claude)
        assert "signed-by-claude" not in str(to_other)
        assert "'hm'" not in str(to_other)

    async def test_results_and_their_failures_reach_anthropic_as_such(
        self, monkeypatch: pytest.MonkeyPatch, claude_key: str
    ) -> None:
        async with HttpServer(claude(claude_text("ok"))) as server:
            point_claude_at(server, monkeypatch)
            async with anthropic(fetch=lambda _: PICTURE) as model:
                await turn_of(model, asking(*HISTORY))
            sent = server.asked[0].body
        assert sent["max_tokens"] == 16_384
        results = [block for block in sent["messages"][2]["content"] if block["type"] == "tool_result"]
        assert [(block["tool_use_id"], block["is_error"]) for block in results] == [
            ("c0_0", False),
            ("c0_1", True),
        ]
        assert claude_key in str(server.asked[0].headers)

    async def test_the_form_of_an_answer_is_asked_for_as_a_schema(self) -> None:
        schema = {
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
            "additionalProperties": False,
        }
        async with HttpServer(chat_text("{}")) as server, compatible(server.url) as model:
            await turn_of(model, asking(offers=(), schema=schema))
            form = server.asked[0].body["response_format"]
        assert form["type"] == "json_schema"
        assert form["json_schema"]["schema"] == schema


class TestWhatIsMadeOfAnswers:
    async def test_text_is_streamed_piece_by_piece_and_returned_whole(self) -> None:
        async with (
            HttpServer(chat_text("Three ", "short ", "words.")) as server,
            compatible(server.url) as model,
        ):
            turn, heard = await turn_of(model)
        assert heard == ["Three ", "short ", "words."]
        assert (turn.text, turn.stop, turn.calls) == ("Three short words.", "end_turn", ())
        assert turn.usage == Usage(12, 5, 4, None)
        assert turn.model == "openai-compatible:m"

    async def test_calls_come_with_their_arguments_as_objects(self) -> None:
        reply = chat_calls(("read_file", '{"path": "ä.md", "start_line": 2}'), ("read_file", ""))
        async with HttpServer(reply) as server, compatible(server.url) as model:
            turn, _ = await turn_of(model)
        assert turn.stop == "calls"
        assert [(call.tool, call.arguments) for call in turn.calls] == [
            ("read_file", {"path": "ä.md", "start_line": 2}),
            ("read_file", {}),
        ]

    @pytest.mark.parametrize(
        "arguments",
        ['{"path": "a.md"', "{'path': 'a.md'}", '["a.md"]', '{"n": NaN}', '{"a": 1, "a": 2}', '"text"'],
    )
    async def test_arguments_that_are_no_json_object_stay_the_text_they_were(self, arguments: str) -> None:
        reply = chat_calls(("read_file", arguments))
        async with HttpServer(reply) as server, compatible(server.url) as model:
            turn, _ = await turn_of(model)
        assert turn.calls[0].arguments == arguments

    async def test_arguments_cut_off_before_they_began_are_not_taken_for_none(self) -> None:
        reply = chat_calls(("delete_everything", ""), finish="length")
        async with HttpServer(reply) as server, compatible(server.url) as model:
            turn, _ = await turn_of(model)
        assert (turn.stop, turn.calls[0].arguments) == ("length", "")

    @pytest.mark.parametrize(("finish", "stop"), [("length", "length"), ("content_filter", "refused")])
    async def test_why_an_answer_stopped_is_kept(self, finish: str, stop: str) -> None:
        async with HttpServer(chat_text("cut", finish=finish)) as server, compatible(server.url) as model:
            turn, _ = await turn_of(model)
        assert turn.stop == stop

    async def test_a_server_that_does_not_count_gets_its_tokens_estimated(self) -> None:
        reply = chat_text("four words of text", usage=False)
        async with HttpServer(reply) as server, compatible(server.url) as model:
            turn, _ = await turn_of(model)
        assert turn.usage.input_tokens > 10
        assert turn.usage.output_tokens > 3
        assert "estimated" in turn.note

    async def test_half_of_a_surrogate_pair_does_not_get_through(self) -> None:
        async with HttpServer(chat_text("a\ud83d")) as server, compatible(server.url) as model:
            turn, heard = await turn_of(model)
        assert turn.text == "a?"
        assert "".join(heard) == "a?"

    async def test_claude_thinks_calls_and_costs(
        self, monkeypatch: pytest.MonkeyPatch, claude_key: str
    ) -> None:
        reply = claude(
            claude_thought("let me see", "signed"),
            claude_text("Reading", " it."),
            claude_call("read_file", '{"pa', 'th": "a.md"}'),
            stop="tool_use",
        )
        async with HttpServer(reply) as server:
            point_claude_at(server, monkeypatch)
            async with anthropic() as model:
                turn, heard = await turn_of(model)
                again = asking(
                    *HISTORY[:1], User((Text("x"),)), Assistant(turn.text, (), turn.thinking), HISTORY[-1]
                )
                await turn_of(model, again)
            sent_back = server.asked[1].body["messages"][1]["content"][0]
        assert heard == ["Reading", " it."]
        assert [(call.tool, call.arguments) for call in turn.calls] == [("read_file", {"path": "a.md"})]
        assert (turn.thinking[0].text, turn.thinking[0].provider) == ("let me see", "anthropic")
        assert sent_back == {"type": "thinking", "thinking": "let me see", "signature": "signed"}
        assert (turn.usage.input_tokens, turn.usage.output_tokens, turn.usage.cached_tokens) == (150, 30, 50)
        # 100 fresh tokens at $2, 50 cached at $0.10 and 30 written at $10 a million.
        assert turn.usage.cost == 200 + 5 + 300


class TestOpenAIItself:
    async def test_the_newer_protocol_is_spoken_and_nothing_is_stored_there(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with HttpServer(_responses("Hello ", "there")) as server:
            monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
            monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
            model = ProviderModel(destination("openai-responses:gpt-5", {}))
            turn, heard = await turn_of(model)
            await model.close()
            asked = server.asked[0]
        assert asked.path == "/v1/responses"
        assert asked.body["store"] is False
        assert asked.body["max_output_tokens"] == 16_384
        assert (heard, turn.text, turn.stop) == (["Hello ", "there"], "Hello there", "end_turn")
        assert turn.usage == Usage(
            10, 4, 0, round(10 * 1.25 + 4 * 10)
        )  # dollars a million tokens are microdollars


def _responses(*pieces: str) -> Reply:
    def one(kind: str, **more: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': 0, **more})}\n\n"

    response: dict[str, Any] = {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    message = {"id": "i1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    whole = {**part, "text": "".join(pieces)}
    done = {**message, "status": "completed", "content": [whole]}
    usage = {
        "input_tokens": 10,
        "output_tokens": 4,
        "total_tokens": 14,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    place = {"item_id": "i1", "output_index": 0, "content_index": 0}
    return Reply(
        [
            one("response.created", response=response),
            one("response.output_item.added", output_index=0, item=message),
            one("response.content_part.added", **place, part=part),
            *(one("response.output_text.delta", **place, delta=piece, logprobs=[]) for piece in pieces),
            one("response.output_text.done", **place, text=whole["text"], logprobs=[]),
            one("response.content_part.done", **place, part=whole),
            one("response.output_item.done", output_index=0, item=done),
            one(
                "response.completed",
                response={**response, "status": "completed", "output": [done], "usage": usage},
            ),
        ]
    )


CUT = Reply(chat_text("Half an").pieces[:2], breaks=True)
ENDED_EARLY = Reply([*chat_text("Half an").pieces[:2], "data: [DONE]\n\n"])
NOT_JSON = Reply([*chat_text("Half an").pieces[:2], "data: {not json\n\n", "data: [DONE]\n\n"])
ERROR_INSIDE = Reply([*chat_text("Half an").pieces[:2], 'data: {"error": {"message": "overloaded"}}\n\n'])


class TestFailures:
    @pytest.mark.parametrize(
        "reply",
        [
            as_json({"error": {"message": "slow down"}}, 429, retry_after="7"),
            as_json({"error": {"message": "it broke"}}, 500),
            as_json({"error": {"message": "later"}}, 503),
            Reply(["<html>bad gateway</html>"], 502, kind="text/html"),
            CUT,
            ENDED_EARLY,
            NOT_JSON,
            ERROR_INSIDE,
            Reply([]),
        ],
        ids=["429", "500", "503", "html", "cut", "ended early", "not json", "error inside", "empty"],
    )
    async def test_what_may_pass_is_worth_another_try(self, reply: Reply) -> None:
        async with HttpServer(reply) as server, compatible(server.url) as model:
            with pytest.raises(Transient) as raised:
                await turn_of(model)
            assert len(server.asked) == 1, "the provider's library tried again by itself"
        assert raised.value.code is Code.MODEL_FAILED
        assert raised.value.message

    async def test_an_answer_of_claude_that_ends_early_is_worth_another_try(
        self, monkeypatch: pytest.MonkeyPatch, claude_key: str
    ) -> None:
        async with HttpServer(Reply(claude(claude_text("Half", " an")).pieces[:3])) as server:
            point_claude_at(server, monkeypatch)
            async with anthropic() as model:
                with pytest.raises(Transient, match="broke off"):
                    await turn_of(model)

    async def test_a_server_says_how_long_to_wait(self) -> None:
        reply = as_json({"error": {"message": "slow down"}}, 429, retry_after="7")
        async with HttpServer(reply) as server, compatible(server.url) as model:
            with pytest.raises(Transient, match="slow down") as raised:
                await turn_of(model)
        assert raised.value.retry_after == 7

    @pytest.mark.parametrize(
        "reply", [HANGING, Reply(chat_text("Half an").pieces[:2], hangs=True)], ids=["silent", "half"]
    )
    async def test_a_server_that_hangs_is_given_up(self, reply: Reply) -> None:
        async with HttpServer(reply) as server, compatible(server.url, silence=0.2) as model:
            with pytest.raises(Transient, match="in time"):
                await turn_of(model)

    async def test_a_drip_that_never_ends_is_given_up(self) -> None:
        drip = Reply([": still here\n\n"], drips=True)
        async with HttpServer(drip) as server, compatible(server.url, silence=30, longest=0.3) as model:
            with pytest.raises(Transient, match="in time"):
                await turn_of(model)

    @pytest.mark.parametrize(
        "reply",
        [
            Reply(["<html>Welcome</html>"], kind="text/html; charset=utf-8"),
            as_json({"hello": "world"}),
            Reply(["garbage"], kind="application/json"),
        ],
        ids=["html", "other json", "no json"],
    )
    async def test_a_server_that_speaks_something_else_fails_at_once(self, reply: Reply) -> None:
        async with HttpServer(reply) as server:
            model = ProviderModel(destination(f"openai-compatible:m@{server.url}/api", {}))
            with pytest.raises(ModelError, match="did not answer in OpenAI's protocol") as raised:
                await turn_of(RetryingModel(model))
            await model.close()
            assert len(server.asked) == 1
        assert reply.kind.partition(";")[0] in raised.value.message
        assert "is /v1 missing" in raised.value.message
        assert raised.value.code is Code.MODEL_NOT_CONFIGURED

    async def test_nobody_there_is_worth_another_try(self) -> None:
        async with HttpServer() as server:
            url = server.url
        async with compatible(url) as model:
            with pytest.raises(Transient, match="cannot be reached"):
                await turn_of(model)

    async def test_a_refused_key_fails_at_once_and_says_which_without_showing_it(
        self, monkeypatch: pytest.MonkeyPatch, claude_key: str
    ) -> None:
        body = {
            "type": "error",
            "error": {"type": "authentication_error", "message": f"invalid: {claude_key}"},
        }
        async with HttpServer(as_json(body, 401)) as server:
            point_claude_at(server, monkeypatch)
            async with anthropic() as model:
                with pytest.raises(ModelError) as raised:
                    await turn_of(model)
        assert not isinstance(raised.value, Transient)
        assert raised.value.code is Code.MODEL_NOT_CONFIGURED
        assert "ANTHROPIC_API_KEY" in raised.value.message
        assert claude_key not in raised.value.message

    async def test_no_secret_of_the_environment_is_repeated_from_an_answer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-indeed")
        reply = as_json({"error": {"message": "you sent sk-very-secret-indeed"}}, 400)
        async with HttpServer(reply) as server, compatible(server.url) as model:
            with pytest.raises(ModelError, match="you sent …") as raised:
                await turn_of(model)
        assert "sk-very" not in str(raised.value)

    @pytest.mark.parametrize(
        ("status", "error", "says"),
        [
            (404, {"message": "no such model", "code": "model_not_found"}, "has no m"),
            (400, {"message": "too many tools"}, "too many tools"),
            (400, {"message": "too long", "code": "context_length_exceeded"}, "no longer fits"),
        ],
    )
    async def test_what_cannot_work_fails_at_once(
        self, status: int, error: dict[str, str], says: str
    ) -> None:
        async with HttpServer(as_json({"error": error}, status)) as server, compatible(server.url) as model:
            with pytest.raises(ModelError, match=says) as raised:
                await turn_of(model)
        assert not isinstance(raised.value, Transient)

    async def test_an_account_without_credit_is_not_asked_again(self) -> None:
        reply = as_json({"error": {"message": "you ran out", "code": "insufficient_quota"}}, 429)
        async with HttpServer(reply) as server, compatible(server.url) as model:
            with pytest.raises(Transient, match="no credit") as raised:
                await turn_of(model)
        assert raised.value.retry_after == float("inf")

    async def test_a_missing_key_is_named(self) -> None:
        for address, variable in (
            ("openai:gpt-5", "OPENAI_API_KEY"),
            ("anthropic:claude-x", "ANTHROPIC_API_KEY"),
        ):
            model = ProviderModel(destination(address, {}))
            with pytest.raises(ModelError, match=variable) as raised:
                await turn_of(model)
            assert raised.value.code is Code.MODEL_NOT_CONFIGURED

    async def test_a_provider_whose_package_is_missing_says_what_to_install(self) -> None:
        model = ProviderModel(destination("mistral:mistral-large-latest", {}))
        with pytest.raises(ModelError) as raised:
            await turn_of(model)
        assert raised.value.message.endswith("needs pydantic-ai-slim[mistral], which is not installed")
        assert raised.value.hint == "run `pip install 'pydantic-ai-slim[mistral]'`"

    def test_without_the_extra_it_says_what_to_install(self) -> None:
        program = """
import asyncio, sys
sys.modules["pydantic_ai"] = None
from brasstag.models.address import destination
from brasstag.models.provider.provider import ProviderModel
from brasstag.words.turns import ModelError, TurnRequest
try:
    asyncio.run(ProviderModel(destination("openai:gpt-5", {})).respond(TurnRequest(()), print))
except ModelError as error:
    print(error.code, error.message, error.hint)
"""
        said = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        assert "MODEL_NOT_CONFIGURED" in said
        assert "pip install 'brasstag[models]'" in said


class TestEventLoops:
    def test_one_model_serves_several_event_loops_one_after_another(self) -> None:
        server = HttpServer(chat_text("ok"))
        models: list[ProviderModel] = []

        async def ask() -> str:
            async with server:
                if not models:
                    models.append(ProviderModel(destination(f"openai-compatible:m@{server.url}/v1", {})))
                turn, _ = await turn_of(models[0])
                await models[0].close()
                return turn.text

        assert [asyncio.run(ask()) for _ in range(2)] == ["ok", "ok"]

    async def test_tasks_of_one_loop_share_one_client(self) -> None:
        async with HttpServer(chat_text("ok")) as server, compatible(server.url) as model:
            turns = await asyncio.gather(*(turn_of(model) for _ in range(8)))
        assert [turn.text for turn, _ in turns] == ["ok"] * 8

    def test_importing_the_room_imports_no_provider(self) -> None:
        program = (
            "import sys, brasstag.models.pool, brasstag.models.choose;"
            "print([name for name in ('pydantic_ai', 'openai', 'anthropic', 'httpx2') if name in sys.modules])"
        )
        said = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        assert said.strip() == "[]"
