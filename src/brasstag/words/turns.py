"""A turn of a model: its request, its answer, and what it used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from brasstag.words.errors import BrasstagError, Code, ToolError
from brasstag.words.messages import Fences, Message, Thinking, ToolUse

OnText = Callable[[str], None]
"""Told each piece of text as it arrives."""

Stop = Literal["end_turn", "calls", "length", "refused"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as a model is offered it."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Retrying:
    """A try at an answer that failed, and when the next begins."""

    model: str
    why: str
    seconds: float
    """How long until then."""
    next_try: int
    """Which one that is, counted from 1."""
    tries: int
    """How many there are at most."""

    def as_json(self) -> dict[str, Any]:
        """Return ``{model, why, seconds, try, tries}``."""
        return {
            "model": self.model,
            "why": self.why,
            "seconds": self.seconds,
            "try": self.next_try,
            "tries": self.tries,
        }

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.why}; tries again in {self.seconds:g} s ({self.next_try}/{self.tries})"


OnRetry = Callable[[Retrying], None]


def _untold(_retrying: Retrying) -> None:
    """Ignore the retry: there is no listener."""


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Everything a model needs for its next turn."""

    messages: tuple[Message, ...]
    offers: tuple[Offer, ...] = ()
    role: str = ""
    """Whose turn it is; scripted and recorded models go by it."""
    turn: int = 0
    """How many turns this task has had."""
    task_id: str = ""
    max_tokens: int | None = None
    schema: Mapping[str, Any] | None = None
    """The form that the answer's text must have, for models whose server can enforce it; None leaves it free."""
    on_retry: OnRetry = field(default=_untold, compare=False, repr=False)
    """Told of each try that failed, before the wait for the next."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a turn took; the cost is in millionths of a dollar, None where the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: int | None = None

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        """Return what two turns took together; the cost is unknown only where both costs are."""
        known = [one.cost for one in (self, other) if one.cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            sum(known) if known else None,
        )

    def as_json(self) -> dict[str, Any]:
        """Return ``{input_tokens, output_tokens, cached_tokens, cost}``."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "cost": self.cost,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Usage":
        """Read what ``as_json`` wrote."""
        return cls(**stored)


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model answered. The calls are named by the provider; the engine gives them names of its own."""

    text: str = ""
    calls: tuple[ToolUse, ...] = ()
    thinking: tuple[Thinking, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    """Which model really answered; it may be the fallback."""
    stop: Stop = "end_turn"
    note: str = ""
    """Anything a reader of the timeline should know, such as that the turn was recorded earlier."""


class Model(Protocol):
    """Anything that answers: a provider, a script, a recording."""

    @property
    def name(self) -> str:
        """How it is written in settings, such as ``openai:gpt-5``."""

    @property
    def sees_images(self) -> bool:
        """Whether pictures can be shown to it."""

    @property
    def context_tokens(self) -> int:
        """How many tokens fit into one request."""

    async def respond(self, request: TurnRequest, on_text: OnText) -> Turn:
        """Answer; raises ModelError, and nothing else, when it cannot."""


class Opinions(Protocol):
    """The interface through which a tool asks another model."""

    async def ask(self, model: str, prompt: str) -> Turn:
        """Ask one question outside any task; raises ModelError when no model can answer."""


class Adviser(Protocol):
    """The model of the caller, for a tool that needs its help."""

    @property
    def fence(self) -> Fences:
        """Fences for what the model is shown of files."""

    def ask(self, role: str, messages: Sequence[Message], seconds: float) -> Turn:
        """Ask for the next turn of a conversation of the tool's own, as ``role``, and wait for it.

        Raises ToolError where no model is set, none could answer, or the time is up.
        """


class ModelError(BrasstagError):
    """A model could not answer; the task that needed it fails with this code and these words."""

    def __init__(self, message: str, code: Code = Code.MODEL_FAILED, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.message = message
        self.code = code

    def as_tool_error(self) -> ToolError:
        """Return the error of a tool that asked the model."""
        return ToolError(self.code, self.message, hint=self.hint)
