"""Which model servers run on this machine, told by the form of their answers.

Ports 8000 and 8080 often belong to something else, so a server counts only when it says what it is.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brasstag.models.destinations import LOCAL_PORTS, local_url

if TYPE_CHECKING:
    import httpx2

PATIENCE = 0.3
"""Seconds a server on this machine has for each answer."""

_NAME = re.compile(r"[\w.:/@+-]{1,200}")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that runs, and the model it would use."""

    kind: str
    url: str
    model: str
    calls_tools: bool | None = None
    """None where the server does not say."""
    context_tokens: int | None = None

    @property
    def address(self) -> str:
        """How the model is written in settings; a model that cannot call tools gets them described in words."""
        prompted = "prompted+" if self.calls_tools is False else ""
        context = f"?context={self.context_tokens}" if self.context_tokens else ""
        return f"{prompted}{self.kind}:{self.model}{context}"


async def look_around(
    environ: Mapping[str, str], kinds: tuple[str, ...] = tuple(LOCAL_PORTS)
) -> list[LocalServer]:
    """Return the servers that answer where the environment says, or else on this machine; all are asked at once."""
    try:
        import httpx2  # noqa: PLC0415 - heavy, and only there with the models extra
    except ImportError:
        return []
    # The environment's proxies must not be used for this machine.
    async with httpx2.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        looks = (_look(client, kind, local_url(kind, environ)) for kind in kinds)
        return [found for found in await asyncio.gather(*looks) if found is not None]


async def models_of(base_url: str, key: str = "") -> list[str]:
    """Return the models a server of OpenAI's protocol names, none where it does not answer as one."""
    import httpx2  # noqa: PLC0415 - heavy

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(timeout=10 * PATIENCE, headers=headers) as client:
        return [
            entry["id"]
            for entry in _listed(await _json(client, f"{base_url}/models", patience=10 * PATIENCE))
        ]


async def _look(client: "httpx2.AsyncClient", kind: str, url: str) -> LocalServer | None:
    try:
        found = await _LOOKS[kind](client, url.removesuffix("/v1"))
    except (LookupError, TypeError, ValueError):
        return None  # something answers, but not as this kind of server does
    return found if found is not None and _NAME.fullmatch(found.model) else None


async def _ollama(client: "httpx2.AsyncClient", url: str) -> LocalServer | None:
    tags = await _json(client, f"{url}/api/tags")
    if not tags or not tags["models"]:
        return None
    name = tags["models"][0]["name"]
    shown = await _json(client, f"{url}/api/show", {"model": name}) or {}
    return LocalServer(
        "ollama", url, name, "tools" in shown["capabilities"] if "capabilities" in shown else None
    )


async def _lmstudio(client: "httpx2.AsyncClient", url: str) -> LocalServer | None:
    listed = await _json(client, f"{url}/api/v1/models")
    if not listed:
        return None
    models = [model for model in listed["models"] if model["type"] == "llm"]
    # A model that is already in memory answers at once.
    for model in sorted(models, key=lambda model: not model["loaded_instances"]):
        tools = model.get("capabilities", {}).get("trained_for_tool_use")
        loaded = model["loaded_instances"]
        return LocalServer(
            "lmstudio", url, model["key"], tools, loaded[0]["config"]["context_length"] if loaded else None
        )
    return None


async def _llamacpp(client: "httpx2.AsyncClient", url: str) -> LocalServer | None:
    listed = _listed(await _json(client, f"{url}/v1/models"))
    if not listed or listed[0].get("owned_by") != "llamacpp":
        return None
    props = await _json(client, f"{url}/props") or {}
    tools = props.get("chat_template_caps", {}).get("supports_tools")
    return LocalServer(
        "llamacpp", url, listed[0]["id"], tools, props.get("default_generation_settings", {}).get("n_ctx")
    )


async def _vllm(client: "httpx2.AsyncClient", url: str) -> LocalServer | None:
    listed = _listed(await _json(client, f"{url}/v1/models"))
    if not listed or listed[0].get("owned_by") != "vllm":
        return None
    return LocalServer("vllm", url, listed[0]["id"], None, listed[0].get("max_model_len"))


_LOOKS: Mapping[str, Callable[["httpx2.AsyncClient", str], Awaitable[LocalServer | None]]] = {
    "ollama": _ollama,
    "lmstudio": _lmstudio,
    "llamacpp": _llamacpp,
    "vllm": _vllm,
}


def _listed(answer: Any) -> list[dict[str, Any]]:
    return [entry for entry in answer["data"] if isinstance(entry["id"], str)] if answer else []


async def _json(
    client: "httpx2.AsyncClient",
    url: str,
    question: Mapping[str, Any] | None = None,
    patience: float = PATIENCE,
) -> Any:
    """Return what a server answers, None where it does not answer in time."""
    import httpx2  # noqa: PLC0415 - heavy

    try:
        async with asyncio.timeout(patience):
            answer = await (client.get(url) if question is None else client.post(url, json=question))
    except (httpx2.HTTPError, TimeoutError):
        return None
    return answer.json() if answer.is_success else None
