"""Which model is used when nobody named one; servers are real, on ports of their own."""

from collections.abc import Mapping, Sequence

import pytest

from brasstag.models.choose import choose
from brasstag.models.local.probe import LocalServer, look_around
from brasstag.words.turns import ModelError
from tests.models.http_server import HANGING, HttpServer, Reply, as_json

NOWHERE = "http://127.0.0.1:9"
KINDS = ("ollama", "lmstudio", "llamacpp", "vllm")

OLLAMA = {
    "/api/tags": as_json({"models": [{"name": "qwen3:4b"}, {"name": "other"}]}),
    "/api/show": as_json({"capabilities": ["completion", "tools"]}),
}
LMSTUDIO = {
    "/api/v1/models": as_json(
        {
            "models": [
                {
                    "type": "embedding",
                    "key": "nomic",
                    "loaded_instances": [{"config": {"context_length": 512}}],
                },
                {"type": "llm", "key": "cold", "loaded_instances": []},
                {
                    "type": "llm",
                    "key": "qwen/qwen3-4b",
                    "capabilities": {"trained_for_tool_use": True},
                    "loaded_instances": [{"config": {"context_length": 16384}}],
                },
            ]
        }
    )
}
LLAMACPP = {
    "/v1/models": as_json({"object": "list", "data": [{"id": "smollm2", "owned_by": "llamacpp"}]}),
    "/props": as_json(
        {"chat_template_caps": {"supports_tools": False}, "default_generation_settings": {"n_ctx": 4096}}
    ),
}
VLLM = {"/v1/models": as_json({"data": [{"id": "Qwen/Qwen3", "owned_by": "vllm", "max_model_len": 40960}]})}


def everywhere_but_nowhere(**urls: str) -> dict[str, str]:
    """An environment in which every kind of server is looked for at a place of its own, or at none."""
    return {f"{kind.upper()}_BASE_URL": urls.get(kind, NOWHERE) for kind in KINDS}


async def found_at(kind: str, paths: dict[str, Reply]) -> list[LocalServer]:
    async with HttpServer(paths=paths) as server:
        return await look_around(everywhere_but_nowhere(**{kind: server.url}), (kind,))


class TestProbing:
    @pytest.mark.parametrize(
        ("kind", "paths", "address"),
        [
            ("ollama", OLLAMA, "ollama:qwen3:4b"),
            (
                "ollama",
                OLLAMA | {"/api/show": as_json({"capabilities": ["completion"]})},
                "prompted+ollama:qwen3:4b",
            ),
            ("ollama", OLLAMA | {"/api/show": as_json({}, 500)}, "ollama:qwen3:4b"),
            ("lmstudio", LMSTUDIO, "lmstudio:qwen/qwen3-4b?context=16384"),
            ("llamacpp", LLAMACPP, "prompted+llamacpp:smollm2?context=4096"),
            ("vllm", VLLM, "vllm:Qwen/Qwen3?context=40960"),
        ],
    )
    async def test_servers_are_known_by_what_they_answer(
        self, kind: str, paths: dict[str, Reply], address: str
    ) -> None:
        assert [found.address for found in await found_at(kind, paths)] == [address]

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(
        "reply",
        [
            as_json({"hello": "I am another app"}),
            as_json([1, 2]),
            as_json({"data": [{"id": "x", "owned_by": "somebody"}], "models": []}),
            as_json({"models": "many", "data": 7}),
            as_json(
                {"models": [{"name": "x; rm -rf /", "type": "llm", "key": "\n", "loaded_instances": []}]}
            ),
            as_json({"error": "no"}, 401),
            Reply(["<html>"], kind="text/html"),
            Reply([], status=302, headers={"location": "http://127.0.0.1:9/"}),
            HANGING,
        ],
        ids=["app", "list", "foreign", "shapeless", "bad name", "401", "html", "redirect", "hanging"],
    )
    async def test_whatever_else_answers_is_left_alone(self, kind: str, reply: Reply) -> None:
        async with HttpServer(reply) as server:
            assert await look_around(everywhere_but_nowhere(**{kind: server.url}), (kind,)) == []

    async def test_nobody_answers(self) -> None:
        assert await look_around(everywhere_but_nowhere()) == []

    async def test_all_are_found_at_once(self) -> None:
        async with HttpServer(paths=OLLAMA) as one, HttpServer(paths=VLLM) as two:
            found = await look_around(everywhere_but_nowhere(ollama=one.url, vllm=two.url))
        assert [server.kind for server in found] == ["ollama", "vllm"]


async def nothing_runs(_environ: Mapping[str, str], _kinds: tuple[str, ...]) -> Sequence[LocalServer]:
    return []


async def nobody_may_look(_environ: Mapping[str, str], _kinds: tuple[str, ...]) -> Sequence[LocalServer]:
    raise AssertionError("nobody may look around")


class TestChoosing:
    async def test_what_was_named_is_used_and_nobody_looks_around(self) -> None:
        choice = await choose("groq:x", {"OPENAI_API_KEY": "k"}, nobody_may_look)
        assert (choice.model, choice.needs_consent) == ("groq:x", False)

    @pytest.mark.parametrize(
        ("environ", "starts", "because"),
        [
            ({"OPENAI_API_KEY": "sk-x", "ANTHROPIC_API_KEY": "k"}, "openai:", "OPENAI_API_KEY"),
            ({"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "sk-x"}, "anthropic:", "ANTHROPIC_API_KEY"),
            ({"GEMINI_API_KEY": "sk-x"}, "google:", "GEMINI_API_KEY"),
            ({"GOOGLE_API_KEY": "sk-x"}, "google:", "GOOGLE_API_KEY"),
            ({"OPENROUTER_API_KEY": "sk-x"}, "openrouter:", "OPENROUTER_API_KEY"),
            (
                {"AZURE_OPENAI_API_KEY": "sk-x", "AZURE_OPENAI_DEPLOYMENT": "mine"},
                "azure:mine",
                "AZURE_OPENAI",
            ),
        ],
    )
    async def test_a_key_in_the_environment_decides(
        self, environ: dict[str, str], starts: str, because: str
    ) -> None:
        choice = await choose(None, environ, nobody_may_look)
        assert choice.model
        assert choice.model.startswith(starts)
        assert because in choice.why
        assert "sk-x" not in choice.why
        assert not choice.needs_consent

    async def test_a_server_named_in_openai_base_url_is_asked_for_its_first_model(self) -> None:
        paths = {"/v1/models": as_json({"data": [{"id": "first"}, {"id": "second"}]})}
        async with HttpServer(paths=paths) as server:
            environ = {"OPENAI_BASE_URL": f"{server.url}/v1/", "OPENAI_API_KEY": "sk-x"}
            choice = await choose(None, environ, nobody_may_look)
            assert server.looked[0].headers["authorization"] == "Bearer sk-x"
        assert choice.model == "openai:first"

    @pytest.mark.parametrize("reply", [as_json({"data": []}), as_json({"error": "no"}, 401), as_json([3])])
    async def test_one_that_names_no_model_says_so(self, reply: Reply) -> None:
        async with HttpServer(reply) as server:
            choice = await choose(None, {"OPENAI_BASE_URL": f"{server.url}/v1"}, nobody_may_look)
        assert choice.model is None
        assert "openai:NAME" in choice.why

    async def test_a_server_named_in_the_environment_needs_no_consent(self) -> None:
        async with HttpServer(paths=OLLAMA) as server:
            choice = await choose(None, {"OLLAMA_HOST": server.url})
        assert (choice.model, choice.needs_consent) == ("ollama:qwen3:4b", False)
        assert "OLLAMA_HOST" in choice.why

    async def test_one_that_does_not_answer_says_so(self) -> None:
        choice = await choose(None, {"OLLAMA_HOST": "127.0.0.1:9"})
        assert choice.model is None
        assert "Ollama" in choice.why
        assert "127.0.0.1:9" in choice.why

    async def test_an_environment_with_a_broken_address_says_so(self) -> None:
        with pytest.raises(ModelError, match="OLLAMA_HOST"):
            await choose(None, {"OLLAMA_HOST": "http://["})

    async def test_azure_needs_a_deployment(self) -> None:
        choice = await choose(None, {"AZURE_OPENAI_API_KEY": "k"}, nobody_may_look)
        assert choice.model is None
        assert "azure:NAME" in choice.why

    @pytest.mark.parametrize(
        ("tools", "model", "says"),
        [
            (True, "ollama:m", "Ollama at"),
            (False, "prompted+ollama:m", "in words"),
            (None, "ollama:m", "trial call"),
        ],
    )
    async def test_what_merely_runs_on_this_machine_needs_consent(
        self, tools: bool | None, model: str, says: str
    ) -> None:
        async def look(_environ: Mapping[str, str], kinds: tuple[str, ...]) -> Sequence[LocalServer]:
            assert kinds == KINDS
            return [
                LocalServer("ollama", "http://127.0.0.1:11434", "m", tools),
                LocalServer("vllm", "u", "n"),
            ]

        choice = await choose(None, {}, look)
        assert (choice.model, choice.needs_consent) == (model, True)
        assert says in choice.why

    async def test_with_nothing_at_all_it_says_the_three_ways_and_the_demo(self) -> None:
        choice = await choose(None, {}, nothing_runs)
        assert choice.model is None
        for word in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ollama pull", "brasstag demo"):
            assert word in choice.why
