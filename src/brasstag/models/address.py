"""Addresses of models, as settings name them, and the model behind each.

    openai:gpt-5.5   anthropic:claude-sonnet-5-5   google:…  groq:…   any provider of pydantic-ai
    ollama:NAME   lmstudio:NAME   llamacpp:NAME   vllm:NAME           the user's own server (OLLAMA_HOST and others)
    openai-compatible:NAME@http://127.0.0.1:8080/v1                   any other server that speaks OpenAI's protocol
    prompted+…                                                        any of these, without its own tool calling
    recording=FILE+…                                                  any of these, each turn kept in a file
    scripted:FILE   recorded:FILE                                     turns written or recorded earlier

``?context=32768`` at the end of any says how many tokens fit into it, where no list knows that, or to use fewer.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from brasstag.models.destinations import (
    COMPATIBLE,
    LOCAL_PORTS,
    Destination,
    key_variable,
    local_destination,
    other_openai,
    read_url,
)
from brasstag.models.failures import not_configured, quoted
from brasstag.models.prompted import PromptedModel
from brasstag.models.recorded import RecordedModel, RecordingModel
from brasstag.models.scripted import ScriptedModel
from brasstag.words.turns import Model, ModelError

HOSTED = (
    "anthropic", "openai", "openai-chat", "openai-responses", "google", "google-cloud", "azure",
    "azure-responses", "openrouter", "bedrock", "bedrock-mantle", "groq", "mistral", "deepseek", "xai",
    "cohere", "cerebras", "zai", "moonshotai", "meta", "fireworks", "together", "huggingface", "github",
    "github-copilot", "heroku", "litellm", "nebius", "ovhcloud", "alibaba", "sambanova", "snowflake",
    "vercel", "crusoe", "openai-codex", "openai-chatgpt",
)  # fmt: skip
"""The providers pydantic-ai knows, by the word before the colon."""

Call = Callable[[Destination, str], Model]
"""Makes the model that answers at a destination, under the name that was asked for."""

_PROMPTED = "prompted+"
_RECORDING = re.compile(r"recording=([^+]+)\+(.+)")
_AT_SERVER = re.compile(r"(?P<model>.+?)@(?P<url>https?://.*)")
_CONTEXT = re.compile(r"\?context=([1-9][0-9]{2,7})$")


def model_at(
    address: str, call: Call, environ: Mapping[str, str] = os.environ, folder: Path = Path()
) -> Model:
    """Return the model at an address; files are looked for in ``folder``. Raises ModelError where nothing is."""
    address = address.strip()
    if address.startswith(_PROMPTED):
        return PromptedModel(model_at(address.removeprefix(_PROMPTED), call, environ, folder))
    if recording := _RECORDING.fullmatch(address):
        return RecordingModel(model_at(recording[2], call, environ, folder), folder / recording[1])
    kind, colon, name = address.partition(":")
    if not colon or not name or not address.isprintable():
        raise _nothing_at(address)
    if kind in _FILES:
        return _FILES[kind](folder / _CONTEXT.sub("", name), _context(address))
    return call(destination(address, environ), address)


def destination(address: str, environ: Mapping[str, str] = os.environ) -> Destination:
    """Return where a live model is reached; raises ModelError for an unknown address."""
    kind, _, name = _CONTEXT.sub("", address).partition(":")
    tokens = _context(address)
    if kind in LOCAL_PORTS:
        return local_destination(kind, name, environ, tokens)
    if kind == COMPATIBLE:
        return _compatible(name, environ, tokens)
    if kind in HOSTED or kind.startswith("gateway/"):
        return Destination(_spoken(kind, environ), name, context_tokens=tokens)
    raise _nothing_at(address)


_FILES: Mapping[str, Callable[[Path, int | None], Model]] = {
    "scripted": ScriptedModel.from_file,
    "recorded": RecordedModel,
}


def _context(address: str) -> int | None:
    found = _CONTEXT.search(address)
    return int(found[1]) if found else None


def _compatible(name: str, environ: Mapping[str, str], tokens: int | None) -> Destination:
    found = _AT_SERVER.fullmatch(name)
    if not found:
        raise not_configured(
            f"{COMPATIBLE} needs a model and its server, as in {COMPATIBLE}:qwen3@http://127.0.0.1:8080/v1"
        )
    return Destination(
        COMPATIBLE,
        found["model"],
        read_url(found["url"], f"what follows @ in {COMPATIBLE}"),
        environ.get(key_variable(COMPATIBLE), ""),
        tokens,
    )


def _spoken(kind: str, environ: Mapping[str, str]) -> str:
    """Return the kind to use: only OpenAI itself has the newer protocol, servers like it have the older one."""
    return "openai-chat" if kind == "openai" and other_openai(environ) else kind


def _nothing_at(address: str) -> ModelError:
    return not_configured(
        f"{quoted(address)!r} names no model; write a provider and a model, such as anthropic:claude-sonnet-5-5, "
        "openai:gpt-5.5, ollama:qwen3 or openai-compatible:NAME@http://127.0.0.1:8080/v1. "
        f"Providers: {', '.join((*HOSTED, *LOCAL_PORTS, COMPATIBLE, *_FILES))}"
    )
