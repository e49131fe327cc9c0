"""Our messages in pydantic-ai's form, and its answers in ours."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from brasstag.models.answers import arguments_of, clean
from brasstag.models.destinations import Fetch
from brasstag.models.estimate import estimated
from brasstag.words.errors import BrasstagError
from brasstag.words.messages import (
    Assistant,
    Block,
    Image,
    Message,
    Result,
    System,
    Text,
    Thinking,
    ToolUse,
    User,
)
from brasstag.words.turns import Stop, Turn, TurnRequest, Usage

_STOPS: Mapping[str, Stop] = {"length": "length", "content_filter": "refused"}
ESTIMATED = "the server reported no usage; tokens are estimated"


@dataclass(frozen=True, slots=True)
class Outward:
    """Translates messages for one provider."""

    provider: str
    sees: bool
    fetch: Fetch

    def messages(self, given: Iterable[Message]) -> list[ModelMessage]:
        """Return the whole conversation; what was said to the model between two of its turns becomes one request."""
        sent: list[ModelMessage] = []
        waiting: list[ModelRequestPart] = []
        for message in given:
            if isinstance(message, Assistant):
                turn = self._turn(message)
                if not turn.parts:
                    continue  # providers refuse an empty message of the model
                sent += _request(waiting)
                waiting = []
                sent.append(turn)
            else:
                waiting += self._said(message)
        return sent + _request(waiting)

    def _said(self, message: System | User | Result) -> list[ModelRequestPart]:
        match message:
            case System(text=text):
                return [SystemPromptPart(text)]
            case User(blocks=blocks):
                content = self._content(blocks)
                return [UserPromptPart(_joined(content))] if content else []
            case Result(call_id=call_id, tool=tool, blocks=blocks, is_error=is_error):
                outcome: Any = "failed" if is_error else "success"
                return [ToolReturnPart(tool, _joined(self._content(blocks)), call_id, outcome=outcome)]

    def _turn(self, message: Assistant) -> ModelResponse:
        parts: list[ModelResponsePart] = [
            ThinkingPart(thought.text, provider_name=self.provider, **_kept(thought))
            for thought in message.thinking
            # A provider refuses thoughts that another provider signed, and needs no unsigned ones again.
            if thought.signature and thought.provider == self.provider
        ]
        if message.text:
            parts.append(TextPart(message.text))
        parts += [
            ToolCallPart(
                call.tool,
                call.arguments if isinstance(call.arguments, str) else dict(call.arguments),
                call.id,
            )
            for call in message.calls
        ]
        return ModelResponse(parts, provider_name=self.provider)

    def _content(self, blocks: Iterable[Block]) -> list[str | BinaryContent]:
        shown = [block.text if isinstance(block, Text) else self._picture(block) for block in blocks]
        return [item for item in shown if item]

    def _picture(self, image: Image) -> str | BinaryContent:
        if not self.sees:
            return f"[{image.path} is a picture ({image.media_type}); this model cannot see pictures]"
        try:
            data = self.fetch(image.digest)
        except (BrasstagError, OSError, LookupError):
            return f"[{image.path} is a picture ({image.media_type}); its bytes are no longer kept]"
        return BinaryContent(data, media_type=image.media_type, identifier=image.path)


def _request(parts: Sequence[ModelRequestPart]) -> list[ModelMessage]:
    # Providers want the results of a turn before anything else that is said after it.
    ordered = sorted(parts, key=lambda part: not isinstance(part, ToolReturnPart))
    return [ModelRequest(ordered)] if ordered else []


def _joined(content: list[str | BinaryContent]) -> Any:
    """Join texts into one, as many servers know no other form; with a picture among them, return a list."""
    texts = [item for item in content if isinstance(item, str)]
    return "\n\n".join(texts) if len(texts) == len(content) else content


def parameters(request: TurnRequest) -> ModelRequestParameters:
    """Return the tools a model is offered, and the form its answer must have."""
    tools = [
        ToolDefinition(
            name=offer.name, parameters_json_schema=dict(offer.schema), description=offer.description
        )
        for offer in request.offers
    ]
    if request.schema is None:
        return ModelRequestParameters(function_tools=tools)
    form = OutputObjectDefinition(dict(request.schema), name="reply")
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=form)


def turn_from(response: ModelResponse, request: TurnRequest, model: str) -> Turn:
    """Return what a provider answered; ``model`` is how settings name it."""
    stop = _STOPS.get(response.finish_reason or "", "end_turn")
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(
        ToolUse(part.tool_call_id, part.tool_name, arguments_of(part.args, cut_off=stop == "length"))
        for part in response.tool_calls
    )
    thinking = tuple(_thought(part) for part in response.parts if isinstance(part, ThinkingPart))
    usage = _usage(response)
    note = ""
    if not usage.tokens:
        usage, note = estimated(request, text, calls), ESTIMATED
    if calls and stop == "end_turn":
        stop = "calls"
    return Turn(clean(text), calls, thinking, usage, model, stop, note)


def _usage(response: ModelResponse) -> Usage:
    used = response.usage
    return Usage(used.input_tokens, used.output_tokens, used.cache_read_tokens, _cost(response))


def _cost(response: ModelResponse) -> int | None:
    try:
        price = response.cost().total_price
    except (LookupError, ValueError, AssertionError):
        return None  # no price list has this model
    return round(price * 1_000_000)


def _thought(part: ThinkingPart) -> Thinking:
    """Keep in the signature everything that the provider wants to see again."""
    kept = {"id": part.id, "signature": part.signature, "provider_details": part.provider_details}
    kept = {name: value for name, value in kept.items() if value}
    return Thinking(
        clean(part.content), json.dumps(kept, default=str) if kept else "", part.provider_name or ""
    )


def _kept(thought: Thinking) -> dict[str, Any]:
    kept = json.loads(thought.signature)
    return {name: kept.get(name) for name in ("id", "signature", "provider_details")}
