"""A call, the four ways it can end, and how the timeline keeps them."""

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
    """The number of the worker's hold on the task that makes the call; 0 at a desk, which no other worker can hold."""

    def as_taken(self, tool: str, arguments: Mapping[str, Any]) -> "Call":
        """Return this call by its tool's own name, with its arguments as the tool takes them."""
        # Every call passes here, and replace() would look at each field twice.
        return Call(self.id, tool, arguments, self.actor, self.role, self.task_id, self.repaired, self.epoch)


@dataclass(frozen=True, slots=True)
class Tag:
    """The receipt of one call on the timeline."""

    id: str
    hash: str


@dataclass(frozen=True, slots=True)
class ResultForm:
    """What a tool says of its results, for those who show them."""

    text: tuple[str, ...] = ()
    """The fields that are the text of a result; others than texts are shown by name, where they say something."""
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The call did what it says."""

    value: Any
    meta: Mapping[str, Any] = field(default_factory=dict)
    tag: Tag | None = None
    form: ResultForm | None = field(default=None, compare=False, repr=False)
    """How its tool wants the value shown; never stored."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The call did not happen, and nothing in the world changed."""

    code: Code
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    tag: Tag | None = None
    hint: str = field(default="", compare=False)
    """What a person can do about it, such as a command to run; it is neither recorded nor told to agents."""

    @classmethod
    def by(cls, error: ToolError) -> "Failed":
        """Return the outcome of a call that an error has stopped."""
        return cls(error.code, error.message, error.details, hint=error.hint)

    def as_error(self) -> ToolError:
        """Return what to raise where the caller takes no outcome."""
        return ToolError(self.code, self.message, self.details, hint=self.hint)


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
    confirmation: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Of work given to another agent: ``target``, ``task``, ``file`` and ``task_id``."""


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
    meta: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Of an output that is the text of a result: the whole ``value``, or the ``details`` of the error.

    If a person changed the arguments of the call: ``edited``.
    """


UNKNOWN_CODE = "UNKNOWN"
WAITING_CODE = "WAITING_FOR_APPROVAL"
WAITING_FOR_TASK_CODE = "WAITING_FOR_TASK"


def as_stored(outcome: Settled) -> dict[str, Any]:
    """Return how a call ended, as the timeline keeps it."""
    match outcome:
        case Done():
            kind, result = "done", outcome.value
        case Failed():
            kind, result = "failed", {"error": error_of(outcome)}
        case Unknown():
            kind, result = "unknown", {"error": error_of(outcome)}
    return {"outcome": kind, "result": result, "meta": dict(outcome.meta)}


def from_stored(payload: Mapping[str, Any]) -> Settled:
    """Read back how a call ended from what ``as_stored`` returned."""
    meta = payload.get("meta", {})
    if payload["outcome"] == "done":
        return Done(payload["result"], meta)
    error = payload["result"]["error"]
    details = error.get("details", {})
    if payload["outcome"] == "unknown":
        return Unknown(error["message"], details, meta)
    return Failed(Code(error["code"]), error["message"], details, meta)


def error_of(outcome: "Failed | Unknown | Waiting") -> dict[str, Any]:
    """Return ``{code, message, details?}``, as the timeline keeps it."""
    code, details = _code_and_details(outcome)
    error: dict[str, Any] = {"code": code, "message": said_by(outcome)}
    return error | ({"details": details} if details else {})


def said_by(outcome: Failed | Unknown | Waiting) -> str:
    """Return what an outcome says in one sentence."""
    if isinstance(outcome, Waiting) and outcome.task_id:
        return f"waiting for {outcome.task_id}: {outcome.reason}"
    if isinstance(outcome, Waiting):
        return f"waiting for approval {outcome.approval_id}: {outcome.reason}"
    return outcome.message


def _code_and_details(outcome: Failed | Unknown | Waiting) -> tuple[str, dict[str, Any]]:
    match outcome:
        case Failed():
            return outcome.code.value, dict(outcome.details)
        case Unknown():
            return UNKNOWN_CODE, dict(outcome.details)
        case Waiting() if outcome.task_id:
            return WAITING_FOR_TASK_CODE, {"taskId": outcome.task_id}
        case Waiting():
            return WAITING_CODE, {"approvalId": outcome.approval_id}
