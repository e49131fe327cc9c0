"""One turn through pydantic-ai, which is imported with this file."""

import asyncio
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelResponse, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import Model, create_async_httpx2_client, infer_model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.vllm import VLLMProvider
from pydantic_ai.settings import ModelSettings

from brasstag.models.answers import clean
from brasstag.models.destinations import Destination, Fetch
from brasstag.models.failures import Transient, not_configured, not_installed, quoted
from brasstag.models.provider.provider_errors import another_protocol, model_error
from brasstag.models.provider.translate import Outward, parameters, turn_from
from brasstag.words.errors import BrasstagError
from brasstag.words.turns import ModelError, OnText, Turn, TurnRequest

if TYPE_CHECKING:
    import httpx2

_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`")
_EXTRA = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")

EVENT_STREAM = "text/event-stream"
_kinds: ContextVar[list[str]] = ContextVar("kinds")

_OWN: Mapping[str, Callable[[Destination, "httpx2.AsyncClient"], Provider[Any]]] = {
    "ollama": lambda to, client: OllamaProvider(
        base_url=to.base_url, api_key=to.key or None, http_client=client
    ),
    "vllm": lambda to, client: VLLMProvider(base_url=to.base_url, api_key=to.key or None, http_client=client),
}
"""Servers for which pydantic-ai has a provider of its own."""

_COMMON_GROUND = OpenAIModelProfile(
    # Without this, an answer that was cut off would count as complete and become the result of a task.
    openai_chat_streaming_requires_finish_reason=True,
    # The older name of the limit is the one that all of them know.
    openai_chat_supports_max_completion_tokens=False,
    # A caller that asks for a form of the answer has described it already.
    native_output_requires_schema_in_instructions=False,
)
"""What every server of OpenAI's protocol understands."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is asked, whatever the question."""

    sees: bool
    fetch: Fetch
    max_tokens: int | None
    """None leaves it to the server."""
    silence: float
    longest: float


class ProviderClient:
    """A provider's client, for the event loop that opened it."""

    def __init__(self, to: Destination) -> None:
        self._to = to
        # A user's own server gets a client of ours, so that we can tell in which form the server answers.
        self._client = create_async_httpx2_client() if to.base_url else None
        if self._client is not None:
            self._client.event_hooks = {"response": [_note_kind]}
        self._model = _model(to, self._client)

    async def open(self) -> None:
        """Take hold of the client's connections."""
        await self._model.__aenter__()

    async def close(self) -> None:
        """Close its connections."""
        await self._model.__aexit__(None, None, None)
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, request: TurnRequest, manner: Manner, name: str, on_text: OnText) -> Turn:
        """Ask for one turn and stream its text; raises ModelError."""
        kinds: list[str] = []
        _kinds.set(kinds)
        try:
            response = await self._stream(request, manner, on_text)
            return turn_from(response, request, name)
        except BrasstagError:
            raise
        except UnexpectedModelBehavior as error:
            if kinds and kinds[-1] != EVENT_STREAM:
                raise another_protocol(self._to, kinds[-1]) from error
            raise model_error(self._to, error) from error
        except Exception as error:
            raise model_error(self._to, error) from error

    async def _stream(self, request: TurnRequest, manner: Manner, on_text: OnText) -> ModelResponse:
        outward = Outward(self._model.system, manner.sees, manner.fetch)
        stream = model_request_stream(
            self._model,
            # In a thread, as pictures are read from disk here.
            await asyncio.to_thread(outward.messages, request.messages),
            model_settings=self._settings(manner),
            model_request_parameters=parameters(request),
        )
        async with stream as events:
            async for event in events:
                match event:
                    case PartStartEvent(part=TextPart(content=text)) if text:
                        on_text(clean(text))
                    case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                        on_text(clean(text))
            response = events.get()
        if response.state != "complete" or response.finish_reason is None:
            raise Transient(f"the answer of {self._to.name} broke off in the middle")
        return response

    def _settings(self, manner: Manner) -> ModelSettings:
        """Return the settings of every request, as far as the provider uses them."""
        said: dict[str, Any] = {
            "timeout": manner.silence,
            "request_timeout": manner.longest,
            "max_retries": 0,  # we do the retries ourselves, so that the timeline can tell of them
            "cache": True,
        }
        if manner.max_tokens is not None:
            said["max_tokens"] = manner.max_tokens
        if isinstance(self._model, OpenAIResponsesModel):
            # The provider keeps nothing: the timeline is the only history.
            said["openai_store"] = False
        options: Any = {
            key: value for key, value in said.items() if key not in self._model.unsupported_settings
        }
        settings: ModelSettings = options
        return settings


async def _note_kind(response: "httpx2.Response") -> None:
    """Note in which form an answer comes, for the caller that asked."""
    if response.is_success:
        _kinds.get().append(response.headers.get("content-type", "").partition(";")[0].strip().lower())


def _model(to: Destination, client: "httpx2.AsyncClient | None") -> Model[Any]:
    try:
        if client is not None:
            provider = _OWN.get(to.provider, _compatible)(to, client)
            return OpenAIChatModel(to.model, provider=provider, profile=_COMMON_GROUND)
        return infer_model(to.name)
    except ImportError as error:
        raise _missing_package(to, error) from None
    except Exception as error:  # noqa: BLE001 - each provider's library has an error of its own for a missing key
        raise _cannot_open(to, str(error)) from None


def _compatible(to: Destination, client: "httpx2.AsyncClient") -> Provider[Any]:
    return OpenAICompatibleProvider(
        to.provider, base_url=to.base_url, api_key=to.key or None, http_client=client
    )


def _missing_package(to: Destination, error: ImportError) -> ModelError:
    extra = _EXTRA.search(str(error))
    package = f"pydantic-ai-slim[{extra[1]}]" if extra else "brasstag[models]"
    return not_installed(to.name, package)


def _cannot_open(to: Destination, words: str) -> ModelError:
    if variables := list(dict.fromkeys(_VARIABLE.findall(words))):
        return not_configured(f"{to.name} needs a key; set {' or '.join(variables)} in the environment")
    return not_configured(f"{to.name} cannot be used: {quoted(words)}")
