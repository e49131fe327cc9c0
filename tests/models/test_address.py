"""How models are written in settings."""

import contextlib
import json
from pathlib import Path

import pytest

from brasstag.models.address import HOSTED, destination, model_at
from brasstag.models.choose import DEFAULT_MODELS
from brasstag.models.destinations import LOCAL_PORTS, Destination, key_variable
from brasstag.models.pool import ModelPool
from brasstag.models.provider.provider import ProviderModel
from brasstag.words.errors import Code
from brasstag.words.turns import Model, ModelError
from tests.models.support import asking, turn_of, written


def called(to: Destination, name: str) -> Model:
    return ProviderModel(to, name=name)


@pytest.mark.parametrize(
    ("address", "environ", "expected"),
    [
        ("openai:gpt-5", {}, Destination("openai", "gpt-5")),
        ("anthropic:claude-x", {}, Destination("anthropic", "claude-x")),
        ("openrouter:qwen/qwen3:free", {}, Destination("openrouter", "qwen/qwen3:free")),
        ("openai:gpt-5?context=50000", {}, Destination("openai", "gpt-5", context_tokens=50_000)),
        ("openai:m", {"OPENAI_BASE_URL": "http://10.0.0.2/v1"}, Destination("openai-chat", "m")),
        ("openai:m", {"OPENAI_BASE_URL": "https://api.openai.com/v1"}, Destination("openai", "m")),
        ("ollama:qwen3:4b", {}, Destination("ollama", "qwen3:4b", "http://127.0.0.1:11434/v1")),
        ("lmstudio:a/b", {}, Destination("lmstudio", "a/b", "http://127.0.0.1:1234/v1")),
        ("llamacpp:m", {}, Destination("llamacpp", "m", "http://127.0.0.1:8080/v1")),
        ("vllm:m", {"VLLM_API_KEY": "k"}, Destination("vllm", "m", "http://127.0.0.1:8000/v1", "k")),
        ("ollama:m", {"OLLAMA_HOST": "0.0.0.0"}, Destination("ollama", "m", "http://127.0.0.1:11434/v1")),
        ("ollama:m", {"OLLAMA_HOST": "box:99"}, Destination("ollama", "m", "http://box:99/v1")),
        (
            "ollama:m",
            {"OLLAMA_HOST": "https://o.example"},
            Destination("ollama", "m", "https://o.example/v1"),
        ),
        (
            "ollama:m",
            {"OLLAMA_BASE_URL": "http://[::1]:7/api/v1/"},
            Destination("ollama", "m", "http://[::1]:7/api/v1"),
        ),
        (
            "openai-compatible:a/b@c@http://127.0.0.1:9/v1?context=4096",
            {"OPENAI_COMPATIBLE_API_KEY": "k", "OPENAI_API_KEY": "not this one"},
            Destination("openai-compatible", "a/b@c", "http://127.0.0.1:9/v1", "k", 4096),
        ),
    ],
)
def test_addresses(address: str, environ: dict[str, str], expected: Destination) -> None:
    assert destination(address, environ) == expected


@pytest.mark.parametrize(
    "address",
    [
        "",
        "gpt-5",
        "opnai:gpt-5",
        "openai:",
        ":x",
        "prompted+",
        "prompted+gpt-5",
        "openai:a\nb",
        "openai-compatible:m",
    ],
)
def test_an_address_nobody_knows_says_what_is_possible(address: str) -> None:
    with pytest.raises(ModelError, match=r"openai|http://127.0.0.1:8080/v1") as raised:
        model_at(address, called, {})
    assert raised.value.code is Code.MODEL_NOT_CONFIGURED


@pytest.mark.parametrize(
    "url", ["ftp://x/v1", "http://", "http://[::1", "http://ada:pass@c/v1", "http://h:99999999/v1"]
)
def test_a_bad_server_address_is_refused_and_no_password_repeated(url: str) -> None:
    for address, environ in ((f"openai-compatible:m@{url}", {}), ("ollama:m", {"OLLAMA_HOST": url})):
        with pytest.raises(ModelError) as raised:
            destination(address, environ)
        assert "pass@" not in raised.value.message


def test_a_key_does_not_show_when_a_destination_is_printed() -> None:
    assert "secret" not in repr(destination("vllm:m", {"VLLM_API_KEY": "secret"}))


async def test_files_are_found_in_the_projects_folder(tmp_path: Path) -> None:
    written(tmp_path, "demo.json", json.dumps({"lead": [{"text": "hello"}]}))
    model = model_at("scripted:demo.json", called, {}, tmp_path)
    turn, _ = await turn_of(model, asking(role="lead"))
    assert turn.text == "hello"
    written(tmp_path, "run.jsonl", "")
    assert model_at("recorded:run.jsonl", called, {}, tmp_path).name.startswith("recorded:")


def test_prompted_stands_around_any_other() -> None:
    model = model_at("prompted+ollama:qwen3?context=4096", called, {})
    assert model.name == "prompted+ollama:qwen3?context=4096"
    assert model.context_tokens == 4096


def test_what_fits_into_a_model() -> None:
    sizes = {
        "openai:gpt-5": 400_000,
        "anthropic:claude-sonnet-5-5": 1_000_000,
        "openai:gpt-nobody-knows": 128_000,
        "bedrock:nobody-knows": 128_000,
        "ollama:qwen3": 8_000,
        "ollama:qwen3?context=32768": 32_768,
    }
    assert {address: model_at(address, called, {}).context_tokens for address in sizes} == sizes


@pytest.mark.parametrize(
    "kind", ["scripted", "recorded", "prompted+scripted", "recording=kept.jsonl+scripted"]
)
def test_what_fits_into_a_file_is_what_its_address_says(kind: str, tmp_path: Path) -> None:
    written(tmp_path, "turns", "" if kind == "recorded" else "{}")
    assert model_at(f"{kind}:turns?context=16000", called, {}, tmp_path).context_tokens == 16_000
    assert model_at(f"{kind}:turns", called, {}, tmp_path).context_tokens == 128_000


def test_which_models_see() -> None:
    sees = {
        "openai:gpt-5": True,
        "anthropic:x": True,
        "ollama:qwen3": False,
        "ollama:llava": True,
        "vllm:a/Qwen3-VL": True,
    }
    assert {address: model_at(address, called, {}).sees_images for address in sees} == sees


def test_every_provider_we_name_is_one_of_pydantic_ais_and_every_model_it_lists_can_be_named() -> None:
    from pydantic_ai.models import known_model_names
    from pydantic_ai.providers import infer_provider_class

    for provider in HOSTED:
        with contextlib.suppress(ImportError):  # its package is an extra of its own
            infer_provider_class(provider)
    listed = {name.partition(":")[0] for name in known_model_names() if ":" in name}
    unnamed = {
        name for name in listed if name not in (*HOSTED, *LOCAL_PORTS) and not name.startswith("gateway/")
    }
    assert unnamed <= {"openai-decisions", "system-one", "typesafe"}, "these answer no conversations"


def test_the_models_chosen_by_default_exist_and_their_keys_are_the_ones_looked_for() -> None:
    from pydantic_ai.models import known_model_names

    for variable, address in DEFAULT_MODELS.items():
        provider, _, _ = address.partition(":")
        assert variable in (key_variable(provider), "GOOGLE_API_KEY")
        assert address in known_model_names() or provider == "openrouter"


async def test_the_pool_sets_up_what_a_model_and_its_fallback_need(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    pool = ModelPool(folder=tmp_path, environ={})
    await pool.open(pool.model("ollama:a", "ollama:b"))
    for addresses in (("openai:x",), ("ollama:a", "openai:x"), ("prompted+openai:x",)):
        with pytest.raises(ModelError, match="needs a key") as raised:
            await pool.open(pool.model(*addresses))
        assert raised.value.code is Code.MODEL_NOT_CONFIGURED
    await pool.open(pool.model("ollama:a"))
    await pool.close()


async def test_the_pool_keeps_one_of_each(tmp_path: Path) -> None:
    written(tmp_path, "demo.json", json.dumps({"lead": [{"text": "hello"}]}))
    pool = ModelPool(folder=tmp_path, environ={})
    assert pool.model("scripted:demo.json") is pool.model("scripted:demo.json")
    assert pool.model("ollama:a", "ollama:b") is not pool.model("ollama:a")
    with pytest.raises(ModelError):
        pool.model("ollama:a", "nonsense")
    await pool.close()
