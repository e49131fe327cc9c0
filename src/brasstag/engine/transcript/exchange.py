"""An exchange: one turn of a model, the results of its calls, and what it was told meanwhile."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from brasstag.engine.transcript.results import (
    REMOVED,
    carried_names,
    ending_blocks,
    ending_summary,
    ending_text,
)
from brasstag.engine.transcript.state import is_blank
from brasstag.words.events import Entry, EntryKind
from brasstag.words.messages import (
    Assistant,
    Block,
    Fences,
    Message,
    Result,
    Text,
    Thinking,
    ToolUse,
    User,
)

REMOVED_TOOL = "removed"
REMOVED_ARGUMENTS = {"removed": "by a person"}

_WAITS = {
    EntryKind.ASKED: "Still waiting for a person to approve it.",
    EntryKind.CLAIMED: "Still running.",
    EntryKind.DELEGATED: "Still waiting for {to}.",
    EntryKind.QUESTIONED: "Still waiting for {to} to answer.",
}
NOT_BEGUN = "Not begun yet."

GO_ON = User((Text("Your last message was cut off at its greatest length. Go on from where it ended."),))
"""What a model is told after a turn that was cut off before it called anything."""

SAY_SOMETHING = User(
    (Text("Your last message was empty. Call a tool, or answer in words: they end your task."),)
)
"""What a model is told after a turn without text or a call."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call."""

    tag: str
    blocks: tuple[Block, ...]
    summary: str = ""
    characters: int = 0
    """How long the whole of it is."""
    documents: str = ""
    """The names of the documents that came with it."""
    is_error: bool = False
    removed: bool = False
    """Whether a person removed it since; then what was asked is not shown either."""
    certain: bool = True
    """Whether only another answer can take its place; False for a removed decision, as what it said is not known."""


def answer_of(entry: Entry, fence: Fences) -> CallResult:
    """Return what an entry says came of its call."""
    if entry.payload is None:
        certain = entry.kind is not EntryKind.DECIDED
        return CallResult(entry.tag, (Text(REMOVED),), removed=True, certain=certain)
    return CallResult(
        entry.tag,
        ending_blocks(entry.kind, entry.payload, entry.tag, fence),
        ending_summary(entry.payload),
        len(ending_text(entry.payload)),
        carried_names(entry.payload),
        is_error=entry.payload["outcome"] != "done",
    )


@dataclass(slots=True)
class Exchange:
    """A turn that is being answered; its messages are final once every call has its answer."""

    fence: Fences
    text: str
    thinking: tuple[Thinking, ...] = ()
    calls: dict[str, ToolUse] = field(default_factory=dict)
    answers: dict[str, CallResult] = field(default_factory=dict)
    waits: dict[str, str] = field(default_factory=dict)
    notes: list[User] = field(default_factory=list)
    open_ended: bool = False
    """Whether the turn was removed, so that its calls are known only by what came of them."""

    @classmethod
    def of_turn(cls, payload: Mapping[str, Any] | None, fence: Fences) -> "Exchange":
        """Begin with what a model answered."""
        if payload is None:
            return cls(fence, REMOVED, open_ended=True)
        calls = [ToolUse.from_json(stored) for stored in payload["calls"]]
        thinking = tuple(Thinking.from_json(stored) for stored in payload["thinking"])
        notes = [GO_ON] if payload["stop"] == "length" and not calls else []
        if is_blank(payload):
            notes = [SAY_SOMETHING]
        return cls(fence, payload["text"], thinking, {call.id: call for call in calls}, notes=notes)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The calls that have no answer yet."""
        return tuple(name for name in self.calls if name not in self.answers)

    def wait(self, name: str, entry: Entry) -> None:
        """Note what a call waits for."""
        payload = entry.payload or {}
        self._meet(name, payload)
        self.waits[name] = _WAITS[entry.kind].format(to=_article(payload.get("to", "another task")))

    def close(self, name: str, entry: Entry) -> bool:
        """Note what came of a call; False where that is not a call of this turn, or it was known before."""
        self._meet(name, entry.payload or {})
        known = self.answers.get(name)
        if name not in self.calls or (known is not None and known.certain):
            return False
        self.answers[name] = answer_of(entry, self.fence)
        return True

    def messages(self, *, unended: bool = False) -> Iterator[Message]:
        """Yield the turn, its results in the order of its calls, then the notes.

        ``unended`` says of calls without an answer what they wait for, instead of that none was recorded.
        """
        order = sorted(self.calls, key=_index)
        yield Assistant(self.text, tuple(map(self._use, order)), self.thinking)
        for name in order:
            yield self._result(name, unended)
        yield from self.notes

    def _meet(self, name: str, payload: Mapping[str, Any]) -> None:
        if self.open_ended:
            known = self.calls.get(name)
            if known is None or known.tool == REMOVED_TOOL:
                self.calls[name] = ToolUse(name, payload.get("tool", REMOVED_TOOL), REMOVED_ARGUMENTS)

    def _use(self, name: str) -> ToolUse:
        use, answer = self.calls[name], self.answers.get(name)
        return replace(use, arguments=REMOVED_ARGUMENTS) if answer and answer.removed else use

    def _result(self, name: str, unended: bool) -> Result:
        answer = self.answers.get(name)
        tool = self.calls[name].tool
        if answer is not None:
            return Result(name, tool, answer.blocks, answer.is_error)
        if unended:
            return Result(name, tool, (Text(self.waits.get(name, NOT_BEGUN)),))
        return Result(name, tool, (Text("No result of this call was recorded."),), is_error=True)


def _index(name: str) -> int:
    return int(name.rpartition("_")[2])


def _article(role: str) -> str:
    return "a person" if role == "person" else role
