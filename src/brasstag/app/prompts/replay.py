"""Replay a recorded task with another prompt: nothing is performed, results come from the record."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from brasstag.catalog.injection import whole_text
from brasstag.catalog.merge import CatalogEntry
from brasstag.engine.transcript.exchange import answer_of
from brasstag.engine.transcript.render import transcript_of
from brasstag.engine.transcript.state import CLOSING
from brasstag.toolkit.arguments.repair import read_arguments
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import TurnCall
from brasstag.words.messages import Assistant, Block, Fences, Message, Result, System, ToolUse
from brasstag.words.review.prompt_tools import PromptTool
from brasstag.words.turns import Model, Offer, Turn, TurnRequest, Usage

MOST_TURNS = 50
_SHOWN = 200

ENDS = frozenset({"handoff"})
"""Tools that end a task; what they hand over is the answer."""


@dataclass(slots=True)
class ReplayedTask:
    """What came of a recorded task with one prompt."""

    task_id: str
    prompt: str
    """``live`` or ``proposed``."""
    outcome: Literal["ended", "diverged", "too long"] = "ended"
    why: str = ""
    """For one that diverged: the call that is not on record."""
    turns: int = 0
    calls: int = 0
    tokens: int = 0
    cost: int | None = 0
    """Millionths of a dollar; None where a price is not known."""
    answer: str = ""
    recorded: Mapping[str, Any] = field(default_factory=dict)
    """What the task took when it was recorded."""

    def count(self, turn: Turn) -> None:
        """Count what a turn took."""
        self.turns += 1
        self.calls += len(turn.calls)
        self.tokens += turn.usage.tokens
        self.cost = None if self.cost is None or turn.usage.cost is None else self.cost + turn.usage.cost

    def as_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "task": self.task_id,
            "prompt": self.prompt,
            "outcome": self.outcome,
            "why": self.why,
            "turns": self.turns,
            "calls": self.calls,
            "tokens": self.tokens,
            "cost": self.cost,
            "answer": self.answer,
            "recorded": dict(self.recorded),
        }


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded task: what it was told, and what came of each of its calls."""

    task_id: str
    role: str
    told: tuple[Message, ...]
    results: Mapping[str, list[tuple[Block, ...]]]
    took: Mapping[str, Any]
    fence: Fences

    @classmethod
    def of(cls, task_id: str, entries: Sequence[Entry], fence: Fences) -> "Recording":
        """Read the entries of a task of an agent; raise ToolError where it is none, or where a person removed them."""
        opened = entries[0].payload if entries and entries[0].kind is EntryKind.OPENED else None
        if not opened or "system" not in opened:
            raise ToolError(
                Code.NOT_SUPPORTED, f"{task_id} is no recorded task of an agent, so it cannot be replayed"
            )
        uses = _uses(entries)
        results: dict[str, list[tuple[Block, ...]]] = defaultdict(list)
        for entry in entries:
            if entry.kind in CLOSING and entry.call_id in uses and entry.payload is not None:
                use = uses[entry.call_id]
                results[_key(use.tool, use.arguments)].append(answer_of(entry, fence).blocks)
        turns = [entry.payload or {} for entry in entries if entry.kind is EntryKind.TURN]
        took = {
            "turns": len(turns),
            "tokens": sum(Usage.from_json(turn["usage"]).tokens for turn in turns if "usage" in turn),
        }
        role = str(opened["input"]["role"])
        return cls(task_id, role, transcript_of(entries[:1], fence).messages(), dict(results), took, fence)

    def beginning(self, tool: PromptTool) -> list[Message]:
        """Return what the task was told, with a prompt tool added to its system prompt."""
        shown = f"\n\nFor this task, work as this prompt tool says:\n{whole_text(CatalogEntry(tool, 'project'), self.fence)}"
        return [
            System(message.text + shown) if isinstance(message, System) else message for message in self.told
        ]


async def replay_task(
    recording: Recording, label: str, tool: PromptTool, model: Model, offers: tuple[Offer, ...]
) -> ReplayedTask:
    """Ask a model for the turns of a recorded task; a call that is not on record ends it as diverged."""
    replayed = ReplayedTask(recording.task_id, label, recorded=recording.took)
    messages = recording.beginning(tool)
    results = {key: list(known) for key, known in recording.results.items()}
    while replayed.turns < MOST_TURNS:
        request = TurnRequest(tuple(messages), offers, recording.role, replayed.turns, recording.task_id)
        turn = await model.respond(request, _ignore_text)
        replayed.count(turn)
        if not turn.calls:
            replayed.answer = turn.text
            return replayed
        messages.append(Assistant(turn.text, turn.calls, turn.thinking))
        for use in turn.calls:
            known = results.get(_key(use.tool, use.arguments))
            if use.tool in ENDS:
                replayed.answer = str(_plain(use.arguments).get("result", ""))
                return replayed
            if not known:
                shown = stored_json(_plain(use.arguments))[:_SHOWN]
                replayed.outcome, replayed.why = "diverged", f"{use.tool} {shown} is not on record"
                return replayed
            # The same call made again gets its results in the order of the record; the last one stays.
            blocks = known.pop(0) if len(known) > 1 else known[0]
            messages.append(Result(use.id, use.tool, blocks))
    replayed.outcome = "too long"
    return replayed


def _uses(entries: Sequence[Entry]) -> dict[str, ToolUse]:
    """Return every call that the recorded turns made, by its id."""
    turns = [entry for entry in entries if entry.kind is EntryKind.TURN]
    return {
        TurnCall(entry.task_id, number, index).id: ToolUse.from_json(stored)
        for number, entry in enumerate(turns)
        for index, stored in enumerate((entry.payload or {}).get("calls", ()))
    }


def _key(tool: str, arguments: Mapping[str, Any] | str) -> str:
    return f"{tool} {stored_json(_plain(arguments))}"


def _plain(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    if not isinstance(arguments, str):
        return dict(arguments)
    try:
        return read_arguments(arguments)[0]
    except ToolError:
        return {"unreadable": arguments}


def _ignore_text(_text: str) -> None:
    """There is no watcher."""
