"""A call, and the four ways it can end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brasstag.words.errors import Code, ToolError


@dataclass(frozen=True, slots=True)
class Call:
    """One request to use a tool."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    actor: str
    """Who asks: ``cli:ada``, ``library``, a task's role."""
    role: str
    task_id: str
    repaired: str = ""
    """How malformed JSON was mended before it was read; empty when nothing was."""
    epoch: int = 0
    """Which holding of its task makes the call; 0 at a desk, which nobody else can hold."""

    def as_taken(self, tool: str, arguments: Mapping[str, Any]) -> "Call":
        """Return this call by its tool's own name, with its arguments as the tool takes them."""
        # Every call comes by here, and replace() would look at each field twice.
        return Call(self.id, tool, arguments, self.actor, self.role, self.task_id, self.repaired, self.epoch)


@dataclass(frozen=True, slots=True)
class Tag:
    """The receipt of one call on the timeline."""

    id: str
    hash: str


@dataclass(frozen=True, slots=True)
class Done:
    """The call did what it says."""

    value: Any
    meta: Mapping[str, Any] = field(default_factory=dict)
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The call did not happen, and nothing in the world changed."""

    code: Code
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    tag: Tag | None = None

    @classmethod
    def by(cls, error: ToolError) -> "Failed":
        """Return how a call ends that an error has stopped."""
        return cls(error.code, error.message, error.details)

    def as_error(self) -> ToolError:
        """Return what to raise where nobody takes an outcome."""
        return ToolError(self.code, self.message, self.details)


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have happened; a person decides."""

    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A person has to say yes first, or a task opened by the call has to end first."""

    approval_id: str
    """Empty where a task is waited for."""
    reason: str
    tag: Tag | None = None
    task_id: str = ""
    """The task whose end closes the call."""


Outcome = Done | Failed | Unknown | Waiting
Settled = Done | Failed | Unknown


@dataclass(frozen=True, slots=True)
class ToolCall:
    """S3's form of a call, as agent loops hold it."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """S3's form of an outcome."""

    tool_call_id: str
    output: Any = ""
    error: str | None = None
    success: bool = True
