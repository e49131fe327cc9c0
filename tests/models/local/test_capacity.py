"""How much fits into a model, as the servers that people run tell."""

import asyncio
from typing import Any

import pytest

from brasstag.models.address import destination
from brasstag.models.local.capacity import measured
from brasstag.models.provider.provider import MOST_MEASURES, ProviderModel
from brasstag.models.windows import LOCAL_TOKENS
from tests.models.http_server import HANGING, HttpServer, Reply, as_json


def listed(**told: Any) -> Reply:
    return as_json({"data": [{"id": "other", "max_model_len": 999}, {"id": "m", **told}]})


TELLING = {
    "vllm": {"/v1/models": listed(max_model_len=32_768)},
    "openrouter": {"/v1/models": listed(context_length=32_768)},
    "groq": {"/v1/models": listed(context_window=32_768)},
    "llamacpp": {"/v1/models": listed(meta={"n_ctx": 32_768, "n_ctx_train": 131_072})},
    "older llamacpp": {
        "/v1/models": listed(meta={"n_ctx_train": 131_072}),
        "/props": as_json({"default_generation_settings": {"n_ctx": 32_768}}),
    },
    "lmstudio": {
        "/v1/models": listed(),
        "/api/v0/models": listed(max_context_length=131_072, loaded_context_length=32_768),
    },
    "ollama": {
        "/v1/models": listed(owned_by="library"),
        "/api/ps": as_json({"models": [{"name": "m:latest", "context_length": 32_768}]}),
    },
}
SILENT = {
    "says nothing": {"/v1/models": listed()},
    "says nonsense": {"/v1/models": listed(max_model_len="many"), "/props": as_json([1])},
    "says too little": {"/v1/models": listed(max_model_len=1)},
    "no json": {"/v1/models": Reply(["<html>"], kind="text/html"), "/api/ps": as_json({"models": {}})},
    "not there": {},
}


@pytest.mark.parametrize("paths", TELLING.values(), ids=TELLING.keys())
async def test_a_server_that_tells_is_believed(paths: dict[str, Reply]) -> None:
    async with HttpServer(paths=paths) as server:
        model = ProviderModel(destination(f"openai-compatible:m@{server.url}/v1", {}))
        await model.measure()
    assert (model.context_tokens, model.is_guessed) == (32_768, False)


@pytest.mark.parametrize("paths", SILENT.values(), ids=SILENT.keys())
async def test_one_that_does_not_tell_is_asked_a_few_times_and_then_taken_for_small(
    paths: dict[str, Reply],
) -> None:
    async with HttpServer(paths=paths) as server:
        model = ProviderModel(destination(f"openai-compatible:m@{server.url}/v1", {}))
        for _ in range(MOST_MEASURES + 2):
            await model.measure()
        assert [one.path for one in server.looked].count("/v1/models") == MOST_MEASURES
    assert (model.context_tokens, model.is_guessed) == (LOCAL_TOKENS, True)


async def test_what_the_address_says_is_not_asked_for() -> None:
    async with HttpServer() as server:
        model = ProviderModel(destination(f"openai-compatible:m@{server.url}/v1?context=12345", {}))
        await model.measure()
        assert server.looked == []
    assert (model.context_tokens, model.is_guessed) == (12_345, False)


async def test_nobody_waits_long_for_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brasstag.models.local.capacity.PATIENCE", 0.1)
    async with HttpServer(paths={"/v1/models": HANGING}) as server, asyncio.timeout(120):
        assert await measured(destination(f"openai-compatible:m@{server.url}/v1", {})) is None


async def test_the_key_goes_along() -> None:
    async with HttpServer(paths=TELLING["vllm"]) as server:
        environ = {"OPENAI_COMPATIBLE_API_KEY": "sk-own"}
        assert await measured(destination(f"openai-compatible:m@{server.url}/v1", environ)) == 32_768
        assert server.looked[0].headers["authorization"] == "Bearer sk-own"
