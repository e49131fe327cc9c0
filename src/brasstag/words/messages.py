"""Messages: what a model is shown, in our own form, with fences around what came from files and tools."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any


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


MARK_LENGTH = 32
"""Characters of a mark: 128 bits in hex."""


class Fences:
    """Writes a text between ``<name facts mark>`` and ``</name mark>``; the mark stands nowhere inside, in any case.

    The same text and facts always get the same mark, so what a model was shown once is shown the same again. With the
    key of a room, no author can find out the mark that a text will get there.
    """

    def __init__(self, key: bytes = b"") -> None:
        self._key = key

    def __call__(self, name: str, text: str, *facts: str) -> str:
        """Return the text in its fence."""
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


fenced = Fences()
"""For texts that are shown outside of a task, where no room's key is at hand."""
