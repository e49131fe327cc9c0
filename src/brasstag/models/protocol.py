"""The JSON-only protocol of tools: a reply is one object with the nonce of its turn, read strictly.

A call that a document quotes cannot know the nonce, so it never becomes a call, whatever the model repeats.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from brasstag.toolkit.arguments.repair import read_arguments
from brasstag.words.canonical import stored_json
from brasstag.words.errors import ToolError
from brasstag.words.messages import Message, ToolUse
from brasstag.words.turns import Offer

HOW = """You can use tools. Reply with one JSON object and nothing else, no text around it and no Markdown fence: either
{"nonce": "<nonce>", "tool": "<name>", "arguments": {…}} to use a tool, whose result you will then see, or
{"nonce": "<nonce>", "answer": "<text>"} when you are done.
The nonce of a reply is the last word of the message before it. An old nonce does not count.

Tools:
"""

NONCE_LENGTH = 10
_LETTERS = "bcdfghjklmnpqrstvwxz"
"""A nonce has letters only, and is no word: digits lead small models to write numbers."""
_LONGEST_SHOWN = 40

_MEASURES = frozenset(
    {"minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems", "default", "examples"}
)
_BEGUN = re.compile(
    r'\{\s*"nonce"\s*:\s*"(?P<nonce>[^"\\]*)"\s*,\s*'
    r'(?:"tool"\s*:\s*"(?P<tool>[^"\\]+)"\s*,\s*"arguments"\s*:\s*(?P<arguments>.*)|"answer"\s*:\s*"(?P<answer>.*))',
    re.DOTALL,
)
_LONGEST_ESCAPE = 6
_ALREADY_SAID = "the arguments cannot be read: "


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """Why a reply does not count, as the end of the sentence "Your reply was not used: …"."""

    reason: str


class Nonces:
    """The nonces of one conversation; the same conversation of the same task always has the same ones.

    A nonce follows from every message before it, so that no author of a message can write it down beforehand.
    """

    def __init__(self, task_id: str) -> None:
        self._told = hashlib.sha256(task_id.encode())

    def add(self, message: Message) -> None:
        """Take one more message into account."""
        self._told.update(stored_json(message.as_json()).encode())

    def next(self) -> str:
        """Return the nonce of the reply to the messages so far."""
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in self._told.digest()[:NONCE_LENGTH])


def nonce_line(nonce: str) -> str:
    """Return how a model is told its nonce."""
    return f"The nonce of your reply: {nonce}"


def reply_schema(offers: Sequence[Offer], nonce: str) -> dict[str, Any]:
    """Return the one schema a reply must follow: a call of an offered tool, or an answer, with the nonce of its turn.

    Servers make a grammar of the schema, and limits of size make that take minutes. So such limits are left out here
    and checked with the call.
    """
    proof = {"const": nonce}
    calls = [
        _exactly(nonce=proof, tool={"const": offer.name}, arguments=_unmeasured(offer.schema))
        for offer in offers
    ]
    return {"anyOf": [*calls, _exactly(nonce=proof, answer={"type": "string"})]}


def written_call(nonce: str, tool: str, arguments: Any) -> str:
    """Return a call in the form of the protocol."""
    return json.dumps({"nonce": nonce, "tool": tool, "arguments": arguments})


def written_answer(nonce: str, answer: str) -> str:
    """Return an answer in the form of the protocol."""
    return json.dumps({"nonce": nonce, "answer": answer})


def read_reply(text: str, nonce: str, *, cut_off: bool = False) -> ToolUse | str | RefusedReply:
    """Return the call or the answer that a reply is, or why it is neither.

    What was ``cut_off`` comes out as far as it was written, arguments as a text: a second try would be cut off again, so
    the task has to tell the model what to do now.
    """
    found = _one_object(text.strip())
    if isinstance(found, RefusedReply):
        begun = _BEGUN.match(text.strip()) if cut_off else None
        return found if begun is None or begun["nonce"] != nonce else _as_far_as_written(begun)
    wrong = _wrong_nonce(found, nonce) or _wrong_form(found)
    if wrong:
        return RefusedReply(wrong)
    return found["answer"] if "answer" in found else ToolUse("p0", found["tool"], found["arguments"])


def _as_far_as_written(begun: re.Match[str]) -> ToolUse | str:
    if begun["tool"] is not None:
        return ToolUse("p0", begun["tool"], begun["arguments"])
    answer: str = begun["answer"]
    for left_out in range(_LONGEST_ESCAPE + 1):
        # It may have been cut off inside an escape.
        with suppress(ValueError):
            return str(json.loads(f'"{answer[: len(answer) - left_out]}"', strict=False))
    return answer


def _one_object(text: str) -> dict[str, Any] | RefusedReply:
    outside = _outside(text)
    if outside:
        return RefusedReply(outside)
    try:
        reply, _ = read_arguments(text)
    except ToolError as error:
        return RefusedReply(f"it cannot be read: {error.message.removeprefix(_ALREADY_SAID)}")
    return reply


def _outside(text: str) -> str:
    """Say what stands around the one object; nothing where only the object is there."""
    if not text:
        return "it is empty"
    if text.startswith("```"):
        return "it stands in a Markdown fence; send the object alone"
    if not text.startswith("{"):
        return "there is text before the object" if "{" in text else "it is text, and no JSON object"
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return ""  # written badly: mended where nothing can be lost, else refused with what is wrong
    rest = text[end:].strip()
    if rest.startswith("{"):
        return "it is more than one object; send one call, and wait for its result"
    return "there is text after the object" if rest else ""


def _wrong_nonce(reply: Mapping[str, Any], nonce: str) -> str:
    if "nonce" not in reply:
        return f'it has no "nonce"; the nonce is {nonce}'
    if reply["nonce"] != nonce:
        return f"its nonce {_shown(reply['nonce'])} is wrong; the nonce is {nonce}"
    return ""


def _wrong_form(reply: Mapping[str, Any]) -> str:
    is_call = "tool" in reply or "arguments" in reply
    if is_call and "answer" in reply:
        return "it is both a call and an answer; send one of them"
    if not is_call and "answer" not in reply:
        return 'it has neither a "tool" nor an "answer"'
    forms = {"tool": str, "arguments": dict} if is_call else {"answer": str}
    for name, form in forms.items():
        if name not in reply:
            return f'"{name}" is missing' + ("; send {} where there are none" if name == "arguments" else "")
        if not isinstance(reply[name], form):
            return f'"{name}" is not {"an object" if form is dict else "a text"}'
    more = sorted(reply.keys() - forms.keys() - {"nonce"})
    return f"it has {_shown(more[0])} beside the names of the form" if more else ""


def _shown(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _LONGEST_SHOWN else f"{written[:_LONGEST_SHOWN]}…"


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
