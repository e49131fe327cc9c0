"""Lines: one turn through pydantic-ai, which is imported with this file."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelResponse, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.vllm import VLLMProvider
from pydantic_ai.settings import ModelSettings

from brasstag.models.destinations import Destination, Fetch
from brasstag.models.failures import Transient, not_configured, quoted
from brasstag.models.mishaps import mishap
from brasstag.models.wire import Outward, clean, parameters, turn_from
from brasstag.words.errors import BrasstagError
from brasstag.words.turns import ModelError, OnText, Turn, TurnRequest

_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`")
_EXTRA = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")

_OWN: Mapping[str, Callable[[Destination], Provider[Any]]] = {
    "ollama": lambda to: OllamaProvider(base_url=to.base_url, api_key=to.key or None),
    "vllm": lambda to: VLLMProvider(base_url=to.base_url, api_key=to.key or None),
}
"""Servers of which pydantic-ai knows peculiarities."""

_COMMON_GROUND = OpenAIModelProfile(
    # Else an answer cut off in the middle would pass for a whole one, and be handed off as the result of a task.
    openai_chat_streaming_requires_finish_reason=True,
    # The older name of the limit is the one that all of them know.
    openai_chat_supports_max_completion_tokens=False,
    # Whoever asks for a form of the answer has described it already.
    native_output_requires_schema_in_instructions=False,
)
"""What every server of OpenAI's protocol understands."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a model is asked, whatever the question."""

    sees: bool
    fetch: Fetch
    max_tokens: int
    silence: float
    longest: float


class Line:
    """A provider's client, for the event loop that opened it."""

    def __init__(self, to: Destination) -> None:
        self._to = to
        self._model = _model(to)

    async def open(self) -> None:
        """Take hold of the client's connections."""
        await self._model.__aenter__()

    async def close(self) -> None:
        """Close its connections."""
        await self._model.__aexit__(None, None, None)

    async def ask(self, request: TurnRequest, manner: Manner, name: str, on_text: OnText) -> Turn:
        """Ask for one turn and stream its text; raises ModelError."""
        try:
            response = await self._stream(request, manner, on_text)
            return turn_from(response, request, name)
        except BrasstagError:
            raise
        except Exception as error:
            raise mishap(self._to, error) from error

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
        """What every request says beside its messages, as far as the provider listens to it."""
        said: dict[str, Any] = {
            "max_tokens": manner.max_tokens,
            "timeout": manner.silence,
            "request_timeout": manner.longest,
            "max_retries": 0,  # trying again is up to us, so that the timeline can tell of it
            "cache": True,
        }
        if isinstance(self._model, OpenAIResponsesModel):
            # Nothing stays with the provider: the timeline is the only history there is.
            said["openai_store"] = False
        heard: Any = {
            key: value for key, value in said.items() if key not in self._model.unsupported_settings
        }
        settings: ModelSettings = heard
        return settings


def _model(to: Destination) -> Model[Any]:
    try:
        if to.base_url:
            return OpenAIChatModel(
                to.model, provider=_OWN.get(to.provider, _compatible)(to), profile=_COMMON_GROUND
            )
        return infer_model(to.name)
    except ImportError as error:
        raise _missing_package(to, error) from None
    except Exception as error:  # noqa: BLE001 - each provider's library has an error of its own for a missing key
        raise _cannot_open(to, str(error)) from None


def _compatible(to: Destination) -> Provider[Any]:
    return OpenAICompatibleProvider(to.provider, base_url=to.base_url, api_key=to.key or None)


def _missing_package(to: Destination, error: ImportError) -> ModelError:
    extra = _EXTRA.search(str(error))
    package = f"pydantic-ai-slim[{extra[1]}]" if extra else "brasstag[models]"
    return not_configured(f"{to.name} needs a package that is not installed; run `pip install '{package}'`")


def _cannot_open(to: Destination, words: str) -> ModelError:
    if variables := list(dict.fromkeys(_VARIABLE.findall(words))):
        return not_configured(f"{to.name} needs a key; set {' or '.join(variables)} in the environment")
    return not_configured(f"{to.name} cannot be used: {quoted(words)}")
