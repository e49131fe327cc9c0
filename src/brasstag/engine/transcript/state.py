"""TaskState: which calls of a task are open and what each waits for, folded from its timeline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from brasstag.words.approvals import ApprovalState
from brasstag.words.budgets import TaskLimits
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import TurnCall
from brasstag.words.messages import ToolUse
from brasstag.words.turns import ModelError


class CallState(StrEnum):
    """What an open call waits for."""

    PLANNED = "planned"
    """Nothing: the model has made it, and it has not run."""
    ASKED = "asked"
    """A person's yes."""
    APPROVED = "approved"
    """Nothing any more: a person said yes, and it has not run."""
    ACTING = "acting"
    """Its own end: its intent is on disk."""
    CHILD = "child"
    """A task it opened."""
    UNSURE = "unsure"
    """A person's answer: whether it happened is not known, and no person has been asked yet."""


RUNNABLE = frozenset({CallState.PLANNED, CallState.APPROVED, CallState.UNSURE})
"""What a worker can do the next step of."""

CLOSING = frozenset(
    {EntryKind.CALLED, EntryKind.REFUSED, EntryKind.SETTLED, EntryKind.RETURNED, EntryKind.ANSWERED}
)
"""Entries that end the call they belong to."""

_WAITS: Mapping[EntryKind, CallState] = MappingProxyType(
    {
        EntryKind.ASKED: CallState.ASKED,
        EntryKind.CLAIMED: CallState.ACTING,
        EntryKind.DELEGATED: CallState.CHILD,
        EntryKind.QUESTIONED: CallState.CHILD,
    }
)


MOST_CUT_OFF = 3
"""How many turns in a row may be cut off before a whole call; asked once more, a model only does the same again."""
MOST_BLANK = 2
"""How many turns in a row may say nothing."""


@dataclass(slots=True)
class OpenCall:
    """A call a model made that has no ending yet."""

    id: str
    turn: int
    index: int
    use: ToolUse
    state: CallState = CallState.PLANNED
    approval_id: str = ""
    child: str = ""
    doubtful: bool = False
    """Whether it may have happened, and no person has said yet whether it did."""


@dataclass(slots=True)
class TaskState:
    """What the next step of a task depends on; add its entries in order."""

    task_id: str
    seen: int = 0
    """How many entries were added."""
    turns: int = 0
    open: dict[str, OpenCall] = field(default_factory=dict)
    text: str = ""
    """What the model said in its last turn."""
    stop: str = ""
    called: bool = False
    """Whether its last turn made any calls."""
    written: int = 0
    """How many tokens its last turn was, 0 where the provider gave no count."""
    cut_off: int = 0
    """How many turns in a row were cut off at their greatest length before they came to a whole call."""
    blank: int = 0
    """How many turns in a row said nothing and called nothing."""
    ended: bool = False
    limits: TaskLimits = field(default_factory=TaskLimits)
    """How far the task, and its run, may go."""

    def add(self, entry: Entry) -> None:
        """Take one entry into account."""
        self.seen = entry.seq + 1
        payload = entry.payload or {}
        self.limits = self.limits.after(entry.kind, payload)
        if entry.kind in CLOSING:
            self._close(entry, payload)
        elif entry.kind in _WAITS:
            self._wait(entry, payload)
        match entry.kind:
            case EntryKind.TURN:
                self._begin_turn(payload)
            case EntryKind.DECIDED:
                self._decide(entry, payload)
            case EntryKind.CLOSED:
                self.ended = True
            case EntryKind.RESUMED:
                # A turn that ended the task, by words alone, has been answered by the person who resumed it.
                self.ended, self.called = False, True
                self.cut_off = self.blank = 0
            case EntryKind.CHALLENGED:
                # The model has been answered, so that its words do not end the task.
                self.called = True
            case _:
                pass

    @property
    def said_its_last(self) -> bool:
        """Whether the model ended a turn without a call; one that was only cut off, or said nothing, is asked to go on.

        Raises ModelError where it refused, or where asking once more would bring no more than the last times.
        """
        if not self.turns:
            return False
        if self.cut_off >= MOST_CUT_OFF:
            raise ModelError(
                f"the model's answers were cut off at their greatest length{self.length} {self.cut_off} times in a row, "
                "before they came to a whole call; ask for less at once, or use a model that may write more (a larger "
                "context, a larger token budget)"
            )
        if self.called or self.stop == "length":
            return False
        if self.stop == "refused":
            raise ModelError(f"the model refused to answer: {self.text or 'without a word'}")
        if self.blank >= MOST_BLANK:
            raise ModelError(
                f"the model answered with nothing, {self.blank} times in a row: no text, and no call; try again, "
                "or use another model"
            )
        return not self.blank

    @property
    def length(self) -> str:
        """How long its last turn was, to be put into a sentence; empty where the provider gave no count."""
        return f" ({self.written} tokens)" if self.written else ""

    def _begin_turn(self, payload: Mapping[str, Any]) -> None:
        self.turns, turn = self.turns + 1, self.turns
        self.text = payload.get("text", "")
        self.stop = payload.get("stop", "")
        self.open = {}
        for index, stored in enumerate(payload.get("calls", ())):
            name = TurnCall(self.task_id, turn, index).id
            self.open[name] = OpenCall(name, turn, index, ToolUse.from_json(stored))
        self.called = bool(self.open)
        self.written = payload.get("usage", {}).get("output_tokens", 0)
        whole = any(not isinstance(call.use.arguments, str) for call in self.open.values())
        self.cut_off = self.cut_off + 1 if self.stop == "length" and not whole else 0
        self.blank = self.blank + 1 if is_blank(payload) else 0

    def _close(self, entry: Entry, payload: Mapping[str, Any]) -> None:
        if is_doubt(payload) and entry.call_id in self.open:
            self.open[entry.call_id].state = CallState.UNSURE
            self.open[entry.call_id].doubtful = True
        else:
            self.open.pop(entry.call_id, None)

    def _decide(self, entry: Entry, payload: Mapping[str, Any]) -> None:
        if "outcome" in payload or entry.payload is None:
            # What a removed decision said is not known; a call is never run because of such a decision.
            self._close(entry, payload)
        elif entry.call_id in self.open:
            said_yes = payload.get("state") == ApprovalState.APPROVED.value
            # Withdrawn without an ending, it is asked anew.
            self.open[entry.call_id].state = CallState.APPROVED if said_yes else CallState.PLANNED

    def _wait(self, entry: Entry, payload: Mapping[str, Any]) -> None:
        call = self.open.get(entry.call_id)
        if call is not None:
            call.state = _WAITS[entry.kind]
            call.approval_id = payload.get("approval") or call.approval_id
            call.child = payload.get("child") or call.child


def is_doubt(payload: Mapping[str, Any]) -> bool:
    """Say whether an ending leaves open what came of its call: it is unknown, or a question about it got no answer."""
    outcome = payload.get("outcome")
    return outcome == "unknown" or (outcome == "failed" and "doubt" in payload)


def is_blank(turn: Mapping[str, Any]) -> bool:
    """Say whether the model ended a turn without text and without a call; a removed turn does not count as blank."""
    ended = turn.get("stop") in ("end_turn", "calls")
    return ended and not turn["calls"] and not turn["text"].strip()
