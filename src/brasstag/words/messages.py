"""Messages: what a model is shown, in our own form, with fences around what came from files and tools."""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from brasstag.words.errors import Code, ToolError


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str

    def as_json(self) -> dict[str, Any]:
        """Return ``{type: text, text}``."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """A picture of the workspace; its bytes lie among the blobs, under their digest."""

    path: str
    media_type: str
    digest: str

    def as_json(self) -> dict[str, Any]:
        """Return ``{type: image, path, media_type, digest}``."""
        return {"type": "image", "path": self.path, "media_type": self.media_type, "digest": self.digest}


Block = Text | Image


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call as the model wrote it; arguments that were not JSON are kept as the text they were."""

    id: str
    """Its name within the conversation: turn and place, such as ``c3_0``."""
    tool: str
    arguments: Mapping[str, Any] | str

    def as_json(self) -> dict[str, Any]:
        """Return ``{id, tool, arguments}``."""
        given = self.arguments if isinstance(self.arguments, str) else dict(self.arguments)
        return {"id": self.id, "tool": self.tool, "arguments": given}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ToolUse":
        """Read what ``as_json`` wrote."""
        return cls(stored["id"], stored["tool"], stored["arguments"])


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's reasoning, with whatever its provider wants to see again."""

    text: str
    signature: str = ""
    provider: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return ``{text, signature, provider}``."""
        return {"text": self.text, "signature": self.signature, "provider": self.provider}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Thinking":
        """Read what ``as_json`` wrote."""
        return cls(stored["text"], stored["signature"], stored["provider"])


@dataclass(frozen=True, slots=True)
class System:
    """Who the agent is."""

    text: str

    def as_json(self) -> dict[str, Any]:
        """Return ``{role: system, text}``."""
        return {"role": "system", "text": self.text}


@dataclass(frozen=True, slots=True)
class User:
    """What the agent is asked or told."""

    blocks: tuple[Block, ...]

    def as_json(self) -> dict[str, Any]:
        """Return ``{role: user, blocks}``."""
        return {"role": "user", "blocks": [block.as_json() for block in self.blocks]}


@dataclass(frozen=True, slots=True)
class Assistant:
    """One turn of the model."""

    text: str
    calls: tuple[ToolUse, ...] = ()
    thinking: tuple[Thinking, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return ``{role: assistant, text, calls, thinking}``."""
        return {
            "role": "assistant",
            "text": self.text,
            "calls": [call.as_json() for call in self.calls],
            "thinking": [thought.as_json() for thought in self.thinking],
        }


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one call."""

    call_id: str
    """The ToolUse it answers."""
    tool: str
    blocks: tuple[Block, ...]
    is_error: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return ``{role: tool, call_id, tool, blocks, is_error}``."""
        return {
            "role": "tool",
            "call_id": self.call_id,
            "tool": self.tool,
            "blocks": [block.as_json() for block in self.blocks],
            "is_error": self.is_error,
        }


Message = System | User | Assistant | Result


def quoted(name: str) -> str:
    """Return the name of a file as models are shown it outside of a fence: in quotes, on one line, without marks."""
    return on_one_line(json.dumps(name, ensure_ascii=False))


def on_one_line(text: str) -> str:
    """Return a text with escapes in the place of what is not printed, and of what opens or ends a mark."""
    if text.isprintable() and "<" not in text and ">" not in text:
        return text
    return "".join(one if one.isprintable() and one not in "<>" else _escaped(one) for one in text)


def _escaped(one: str) -> str:
    return f"\\u{ord(one):04x}" if one in "<>\x7f" else json.dumps(one)[1:-1]


MARK_LENGTH = 32
"""Characters of a mark: 128 bits in hex."""


class Fences:
    """Writes a text between ``<name facts mark>`` and ``</name mark>``; the mark stands nowhere inside, in any case.

    The same text and facts always get the same mark, so what a model was shown once is shown the same again. The key
    is of one room: no author can find out the mark that a text will get there.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, name: str, text: str, *facts: str) -> str:
        """Return the text in its fence; a fact stays on the line of the opening mark, and cannot end it."""
        facts = tuple(map(on_one_line, facts))
        mark = self._mark("\n".join((*facts, text)))
        return f"<{' '.join((name, *facts, mark))}>\n{text}\n</{name} {mark}>"

    def _mark(self, inside: str) -> str:
        # The count goes on while the text contains its own mark; that needs an author who wants it.
        marks = (self._digest(f"{attempt}\n{inside}") for attempt in count())
        lower = inside.lower()
        return next(mark for mark in marks if mark not in lower)

    def _digest(self, text: str) -> str:
        said = text.encode(errors="surrogatepass")
        return hmac.digest(self._key, said, "sha256").hex()[:MARK_LENGTH]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat, as a client tells it."""

    role: str
    content: str


def chat_request(messages: Sequence[ChatMessage], fence: Fences) -> str:
    """Return the request that a chat makes; raise ToolError where its last message is not a user's.

    The timeline does not hold the earlier messages: a client could have written any of them, those of the system and the
    assistant too. They enter in one fence, as untrusted text of the user.
    """
    if not messages or messages[-1].role != "user" or not messages[-1].content.strip():
        raise ToolError(Code.INVALID_ARGUMENTS, "the last message has to be the user's, with words")
    *earlier, last = messages
    if not earlier:
        return last.content
    told = "\n\n".join(f"{one.role}: {one.content}" for one in earlier)
    return f"{fence('untrusted', told, 'earlier messages, as the client tells them')}\n\n{last.content}"
