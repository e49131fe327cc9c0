"""Prompted: tools for a model that does not call them reliably.

The tools are described in the system text, and the server is asked to hold the answer to one JSON schema: a call of one
of the tools, or an answer. A local server's own tool calling, and its ``tool_choice``, are never used.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from brasstag.models.failures import Transient
from brasstag.models.wrapper import ModelWrapper
from brasstag.toolkit.arguments.repair import read_arguments
from brasstag.words.errors import ToolError
from brasstag.words.messages import Assistant, Message, Result, System, Text, ToolUse, User
from brasstag.words.turns import Offer, OnText, Turn, TurnRequest

_HOW = """You can use tools. Reply with one JSON object and nothing else: either
{"tool": "<name>", "arguments": {…}} to use a tool, whose result you will then see, or
{"answer": "<text>"} when you are done.

Tools:
"""


class PromptedModel(ModelWrapper):
    """A Model around a Model that is only asked for text."""

    @property
    def name(self) -> str:
        """The model's own name, with the prefix for prompted models."""
        return f"prompted+{self._model.name}"

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Answer with one call or one text; a reply in a wrong form raises Transient, so that it is tried again."""
        if not request.offers:
            return replace(await self._model.respond(request, on_text), model=self.name)
        asked = replace(
            request,
            messages=tuple(_in_words(request.messages, request.offers)),
            offers=(),
            schema=reply_schema(request.offers),
        )
        # The reply is JSON, and users do not want to watch that being written.
        turn = replace(await self._model.respond(asked, _ignore_text), model=self.name)
        reply = _read(turn)
        if isinstance(reply, str):
            on_text(reply)
            return replace(turn, text=reply)
        return replace(turn, text="", calls=(reply,), stop=turn.stop if turn.stop == "length" else "calls")


_BEGUN_CALL = re.compile(
    r'\{\s*"tool"\s*:\s*"(?P<tool>[^"\\]+)"\s*,\s*"arguments"\s*:\s*(?P<arguments>.*)', re.DOTALL
)
_MEASURES = frozenset(
    {"minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems", "default", "examples"}
)


def reply_schema(offers: Sequence[Offer]) -> dict[str, Any]:
    """Return the one schema a reply must follow: a call of an offered tool, or an answer.

    Servers make a grammar of the schema, and limits of size make that take minutes. So such limits are left out here
    and checked with the call.
    """
    calls = [_exactly(tool={"const": offer.name}, arguments=_unmeasured(offer.schema)) for offer in offers]
    return {"anyOf": [*calls, _exactly(answer={"type": "string"})]}


def _unmeasured(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_unmeasured(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {name: _unmeasured(value) for name, value in schema.items() if name not in _MEASURES}
    if isinstance(schema.get("properties"), Mapping):
        # The keys in here are names of arguments, even where they look like keywords of a schema.
        kept["properties"] = {name: _unmeasured(value) for name, value in schema["properties"].items()}
    return kept


def _exactly(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _in_words(messages: Sequence[Message], offers: Sequence[Offer]) -> list[Message]:
    """Return a conversation that has calls as one without calls."""
    tools = "\n".join(f"- {o.name}: {o.description} Arguments: {json.dumps(dict(o.schema))}" for o in offers)
    system = "\n\n".join(message.text for message in messages if isinstance(message, System))
    retold: list[Message] = [System(f"{system}\n\n{_HOW}{tools}".lstrip())]
    for message in messages:
        match message:
            case Assistant(text=text, calls=calls):
                retold += [_said(text, call) for call in calls] or [Assistant(json.dumps({"answer": text}))]
            case Result(tool=tool, blocks=blocks, is_error=is_error):
                headline = f"{tool} failed:" if is_error else f"Result of {tool}:"
                retold.append(User((Text(headline), *blocks)))
            case User():
                retold.append(message)
            case System():
                pass
    return retold


def _said(text: str, call: ToolUse) -> Assistant:
    written = call.as_json()
    reply = json.dumps({"tool": written["tool"], "arguments": written["arguments"]})
    return Assistant(f"{text}\n{reply}" if text else reply)


def _read(turn: Turn) -> ToolUse | str:
    text = turn.text.strip()
    if not text.startswith(("{", "```")):
        return text  # the server does not enforce the schema, and the model wrote plain text
    try:
        reply, _ = read_arguments(text)
    except ToolError as error:
        if turn.stop == "length" and (begun := _BEGUN_CALL.match(text)):
            # A second try would be cut off again; the model has to be told, so that it does less in one call.
            return ToolUse("p0", begun["tool"], begun["arguments"])
        raise Transient(f"{turn.model} broke off its reply, or wrote it badly: {error.message}") from None
    match reply:
        case {"tool": str(tool), "arguments": dict(arguments)}:
            return ToolUse("p0", tool, arguments)
        case {"answer": str(answer)}:
            return answer
    raise Transient(f"{turn.model} replied with JSON that is neither a call nor an answer")


def _ignore_text(_text: str) -> None:
    """Ignore the text: there is no watcher."""
