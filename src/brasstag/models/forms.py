"""Our messages in the form of OpenAI or Anthropic, and their answers as a turn, for programs with a client of their own."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from brasstag.models.answers import arguments_of, clean
from brasstag.models.destinations import Fetch
from brasstag.words.errors import BrasstagError, Code, ToolError
from brasstag.words.messages import Assistant, Block, Image, Message, Result, System, Text, Thinking, ToolUse
from brasstag.words.turns import Stop, Turn, Usage

Form = Literal["openai", "anthropic"]
Json = dict[str, Any]

ANTHROPIC = "anthropic"

_STOPS: Mapping[str, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "content_filter": "refused",
    "refusal": "refused",
}

_MOST_TOKENS = 1_000_000_000
"""What one answer can be said to have used; a larger number is a mistake of its sender."""


def openai_messages(messages: Iterable[Message], fetch: Fetch) -> list[Json]:
    """Return the messages of a chat completion."""
    found: list[Json] = []
    for group in _groups(messages):
        match group:
            case Assistant():
                found.append(_openai_turn(group))
            case _:
                results = [one for one in group if isinstance(one, Result)]
                found += [_openai_result(one) for one in results]
                # A result holds text only there, so its pictures are shown right after it.
                shown = [block for one in results for block in one.blocks if isinstance(block, Image)]
                if shown:
                    found.append({"role": "user", "content": _openai_content(shown, fetch)})
                for one in group:
                    if isinstance(one, System):
                        found.append({"role": "system", "content": one.text})
                    elif not isinstance(one, Result):
                        found.append({"role": "user", "content": _openai_content(one.blocks, fetch)})
    return found


def anthropic_messages(messages: Iterable[Message], fetch: Fetch) -> Json:
    """Return ``system`` and ``messages`` of a request to Anthropic."""
    system: list[str] = []
    found: list[Json] = []
    for group in _groups(messages):
        if isinstance(group, Assistant):
            found.append({"role": "assistant", "content": _anthropic_turn(group)})
            continue
        system += [one.text for one in group if isinstance(one, System)]
        content = [_anthropic_result(one, fetch) for one in group if isinstance(one, Result)]
        for one in group:
            if not isinstance(one, System | Result):
                content += _anthropic_content(one.blocks, fetch)
        if content:
            found.append({"role": "user", "content": content})
    return {"system": "\n\n".join(system), "messages": found}


def turn_of(response: Any) -> Turn:
    """Read an answer of OpenAI or Anthropic, as JSON or as an object of their clients; a text is the last word.

    Raises ToolError for anything else.
    """
    if isinstance(response, str):
        return Turn(clean(response))
    try:
        return _read(response.model_dump() if hasattr(response, "model_dump") else response)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            "this is no answer of a model: give a chat completion of OpenAI or its message, a message of Anthropic, or text",
        ) from None


def _read(answer: Mapping[str, Any]) -> Turn:
    if answer.get("choices"):
        choice = answer["choices"][0]
        return _openai_answer(choice["message"], choice.get("finish_reason"), answer)
    if isinstance(answer.get("content"), list) and not answer.get("tool_calls"):
        return _anthropic_answer(answer)
    if "content" in answer or "tool_calls" in answer:
        return _openai_answer(answer, None, answer)
    raise ValueError(answer)


def _groups(messages: Iterable[Message]) -> Iterator[Assistant | list[Any]]:
    """Yield each turn of the model, and all that was said to it between two of them; an empty turn is left out."""
    said: list[Message] = []
    for message in messages:
        if not isinstance(message, Assistant):
            said.append(message)
        elif message.text or message.calls:
            if said:
                yield said
            said = []
            yield message
    if said:
        yield said


def _openai_turn(turn: Assistant) -> Json:
    said: Json = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool, "arguments": _as_text(call.arguments)},
            }
            for call in turn.calls
        ]
    return said


def _openai_result(result: Result) -> Json:
    texts = [block.text for block in result.blocks if isinstance(block, Text)]
    pictures = [block.path for block in result.blocks if isinstance(block, Image)]
    if pictures:
        texts.append(f"[shown below: {', '.join(pictures)}]")
    return {"role": "tool", "tool_call_id": result.call_id, "content": "\n\n".join(texts)}


def _openai_content(blocks: Iterable[Block], fetch: Fetch) -> str | list[Json]:
    def shown(picture: _EncodedImage) -> Json:
        return {
            "type": "image_url",
            "image_url": {"url": f"data:{picture.media_type};base64,{picture.base64}"},
        }

    content = _content(blocks, fetch, shown)
    if all(part["type"] == "text" for part in content):
        return "\n\n".join(part["text"] for part in content)
    return content


def _anthropic_turn(turn: Assistant) -> list[Json]:
    content = [
        {"type": "thinking", "thinking": one.text, **json.loads(one.signature)}
        for one in turn.thinking
        if one.provider == ANTHROPIC and one.signature
    ]
    if turn.text:
        content.append({"type": "text", "text": turn.text})
    for call in turn.calls:
        given = call.arguments
        given = {"unreadable": given} if isinstance(given, str) else dict(given)
        content.append({"type": "tool_use", "id": call.id, "name": call.tool, "input": given})
    return content


def _anthropic_result(result: Result, fetch: Fetch) -> Json:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": _anthropic_content(result.blocks, fetch),
        "is_error": result.is_error,
    }


def _anthropic_content(blocks: Iterable[Block], fetch: Fetch) -> list[Json]:
    def shown(picture: _EncodedImage) -> Json:
        source = {"type": "base64", "media_type": picture.media_type, "data": picture.base64}
        return {"type": "image", "source": source}

    return _content(blocks, fetch, shown)


@dataclass(frozen=True, slots=True)
class _EncodedImage:
    media_type: str
    base64: str


def _content(blocks: Iterable[Block], fetch: Fetch, shown: Callable[[_EncodedImage], Json]) -> list[Json]:
    found: list[Json] = []
    for block in blocks:
        if isinstance(block, Text):
            found += [{"type": "text", "text": block.text}] if block.text else []
            continue
        try:
            data = base64.b64encode(fetch(block.digest)).decode()
            found.append(shown(_EncodedImage(block.media_type, data)))
        except (BrasstagError, OSError, LookupError):
            gone = f"[{block.path} is a picture ({block.media_type}); its bytes are no longer kept]"
            found.append({"type": "text", "text": gone})
    return found


def _require_assistant(message: Mapping[str, Any]) -> None:
    """Raise ValueError for a message that a person or a program wrote: only a model's words are its turn."""
    if (message.get("role") or "assistant") != "assistant":
        raise ValueError(message)


def _openai_answer(message: Mapping[str, Any], stop: Any, answer: Mapping[str, Any]) -> Turn:
    _require_assistant(message)
    functions = [call.get("function") or {} for call in message.get("tool_calls") or ()]
    calls = [_call(one.get("name"), one.get("arguments"), stop) for one in functions]
    usage = answer.get("usage") or {}
    used = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
    said = message.get("content") or message.get("refusal") or ""
    text = said if isinstance(said, str) else "".join(part.get("text") or "" for part in said)
    is_refusal = bool(message.get("refusal")) and not (message.get("content") or calls)
    return _turn(text, calls, (), used, "refusal" if is_refusal else stop, answer)


def _anthropic_answer(answer: Mapping[str, Any]) -> Turn:
    _require_assistant(answer)
    texts, calls, thinking = [], [], []
    for part in answer["content"]:
        match part.get("type"):
            case "text":
                texts.append(part["text"])
            case "tool_use":
                calls.append(_call(part.get("name"), part.get("input"), answer.get("stop_reason")))
            case "thinking":
                signature = json.dumps({"signature": part.get("signature", "")})
                thinking.append(Thinking(part.get("thinking", ""), signature, ANTHROPIC))
            case _:
                pass
    usage = answer.get("usage") or {}
    cached = _count(usage.get("cache_read_input_tokens"))
    used = Usage(_count(usage.get("input_tokens")) + cached, _count(usage.get("output_tokens")), cached)
    return _turn("".join(texts), calls, tuple(thinking), used, answer.get("stop_reason"), answer)


def _turn(
    text: str,
    calls: list[ToolUse],
    thinking: tuple[Thinking, ...],
    usage: Usage,
    stop: Any,
    answer: Mapping[str, Any],
) -> Turn:
    usual: Stop = "calls" if calls else "end_turn"
    return Turn(
        clean(text),
        tuple(calls),
        thinking,
        usage,
        str(answer.get("model") or ""),
        _STOPS.get(str(stop), usual),
    )


def _call(name: Any, arguments: Any, stop: Any) -> ToolUse:
    return ToolUse("", clean(str(name or "")), arguments_of(arguments, _STOPS.get(str(stop)) == "length"))


def _count(tokens: Any) -> int:
    return min(max(0, tokens), _MOST_TOKENS) if isinstance(tokens, int) else 0


def _as_text(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False)
