"""The context window of a model on a local server, as the server reports it."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from brasstag.models.destinations import Destination

if TYPE_CHECKING:
    import httpx2

PATIENCE = 2.0
"""Seconds a server has for all its answers."""
SMALLEST = 256
"""Tokens; a smaller number is not a context window but something else."""

_TOLD = ("max_model_len", "context_length", "context_window", "loaded_context_length", "n_ctx")
"""How servers name the window in a list of models: vLLM, OpenRouter and its like, Groq, LM Studio, llama.cpp."""


async def measured(to: Destination) -> int | None:
    """Return how many tokens fit into a model, None where its server does not say, or no server answers."""
    try:
        import httpx2  # noqa: PLC0415 - heavy, and only there with the models extra
    except ImportError:
        return None
    headers = {"Authorization": f"Bearer {to.key}"} if to.key else {}
    try:
        async with asyncio.timeout(PATIENCE), httpx2.AsyncClient(headers=headers) as client:
            for url, read in _places(to):
                tokens = _window(read(await _json(client, url), to.model))
                if tokens is not None:
                    return tokens
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError):
        return None
    return None


def _places(to: Destination) -> Iterator[tuple[str, Any]]:
    """Yield the URLs where a server may tell its window, and how to read each answer; all are cheap to ask."""
    root = to.base_url.removesuffix("/v1")
    yield f"{to.base_url}/models", _listed
    yield f"{root}/props", _props
    yield f"{root}/api/v0/models", _listed
    # Ollama knows the actual window only of a model that it has loaded.
    yield f"{root}/api/ps", _loaded


def _listed(answer: Any, model: str) -> Any:
    entries = [one for one in _items(answer, "data") if one.get("id") == model]
    if not entries:
        return None
    entry = entries[0]
    meta = entry.get("meta")
    told = [entry.get(name) for name in _TOLD] + [meta.get("n_ctx") if isinstance(meta, Mapping) else None]
    return next(filter(None, told), None)


def _props(answer: Any, _model: str) -> Any:
    generation = answer.get("default_generation_settings") if isinstance(answer, Mapping) else None
    return generation.get("n_ctx") if isinstance(generation, Mapping) else None


def _loaded(answer: Any, model: str) -> Any:
    names = {model, f"{model}:latest"}
    found = [one for one in _items(answer, "models") if names & {one.get("name"), one.get("model")}]
    return found[0].get("context_length") if found else None


def _items(answer: Any, name: str) -> list[Mapping[str, Any]]:
    items = answer.get(name) if isinstance(answer, Mapping) else None
    return [one for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []


def _window(told: Any) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) and told >= SMALLEST else None


async def _json(client: "httpx2.AsyncClient", url: str) -> Any:
    answer = await client.get(url)
    try:
        return answer.json() if answer.is_success else None
    except ValueError:
        return None
