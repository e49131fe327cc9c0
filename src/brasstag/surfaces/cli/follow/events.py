"""Events of a run: one JSON object for programs, a short line or two for people."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.show.program_output import Printed
from brasstag.surfaces.cli.terminal.console import brief, quote
from brasstag.surfaces.cli.terminal.numbers import amount
from brasstag.words.events import Entry, EntryKind
from brasstag.words.ids import TurnCall
from brasstag.words.times import stamp, utc_now

if TYPE_CHECKING:
    from brasstag.app import Output, RunEvent
    from brasstag.store import Task

_CALL = ("tool", "input", "outcome", "result")
TOLD: Mapping[EntryKind, tuple[str, ...]] = {
    EntryKind.OPENED: ("input", "model", "parent", "depth"),
    EntryKind.TURN: ("turn", "model", "text", "calls", "usage", "stop", "seconds", "note"),
    EntryKind.CALLED: _CALL,
    EntryKind.REFUSED: _CALL,
    EntryKind.SETTLED: _CALL,
    EntryKind.CLAIMED: ("tool", "input"),
    EntryKind.ASKED: ("tool", "input", "approval", "verdict"),
    EntryKind.DECIDED: ("tool", "approval", "state", "by", "note", "outcome", "result"),
    EntryKind.PERMITTED: ("tool", "permission", "approval", "role", "pattern", "by", "until"),
    EntryKind.REVOKED: ("tool", "permission", "by"),
    EntryKind.DELEGATED: ("tool", "input", "child", "to"),
    EntryKind.RETURNED: ("tool", "child", "from", "outcome", "result"),
    EntryKind.QUESTIONED: ("tool", "input", "child", "to"),
    EntryKind.ANSWERED: ("tool", "child", "from", "by", "outcome", "result"),
    EntryKind.CONSULTED: ("from", "question", "answer"),
    EntryKind.COMPACTED: ("turns", "tokens_before", "tokens_after"),
    EntryKind.NOTICED: ("changes",),
    EntryKind.CHALLENGED: ("problems", "refused", "tries"),
    EntryKind.RESUMED: ("by", "budget", "note", "request"),
    EntryKind.REDACTED: ("redacted", "by", "reason"),
    EntryKind.CLOSED: ("status", "result", "documents", "by"),
    EntryKind.PROPOSED: ("tool", "proposal", "state", "revision", "by", "digest"),
    EntryKind.REVIEWED: ("tool", "proposal", "state", "revision", "assessment", "harness", "digest"),
    EntryKind.RESOLVED: (
        "tool",
        "proposal",
        "state",
        "revision",
        "by",
        "note",
        "digest",
        "refused",
        "code",
        "message",
    ),
    EntryKind.APPLIED: ("tool", "proposal", "state", "revision", "snapshot"),
}
"""What programs are told of each entry, by its name on the timeline; the timeline itself has more."""

_NAMING = (
    "path",
    "document",
    "from",
    "query",
    "directory",
    "tag",
    "url",
    "command",
    "question",
    "sql",
    "thoughts",
)
"""The arguments that tell most of what a call is about, the first that was given."""

_SHORT_NOTE = 40
"""Longer notes about a turn stand on a line of their own, also where the model said nothing."""

_ENDS_ELSEWHERE = frozenset({"handoff"})
"""Calls whose end is told by the end of their task."""


def event(name: str, task: "Task", at: str = "", **more: Any) -> dict[str, Any]:
    """Return one object about a task, as programs that follow a run read it."""
    about = {
        "event": name,
        "at": at or stamp(utc_now()),
        "run": task.tree,
        "task": task.id,
        "role": task.role,
    }
    return about | more


def as_json(run_event: "RunEvent") -> dict[str, Any]:
    """Return a run event as one object."""
    task, entry = run_event.task, run_event.entry
    if run_event.retrying is not None:
        return event("retrying", task, **run_event.retrying.as_json())
    if run_event.output is not None:
        return event("output", task, **_printed(run_event.output))
    if entry is None:
        return event("text", task, text=run_event.text)
    found = event(entry.kind.value, task, entry.at, tag=entry.tag)
    if entry.call_id:
        found["call"] = entry.call_id
    if entry.payload is None:
        return found | {"redacted": True}
    return found | {name: entry.payload[name] for name in TOLD[entry.kind] if name in entry.payload}


def _printed(output: "Output") -> dict[str, Any]:
    return {
        "call": output.call_id,
        "tool": output.tool,
        "stream": output.stream,
        "text": output.text,
        "left_out": output.left_out,
    }


def shortly(value: Any) -> str:
    """Return a value on one line: a text as it is, an error by its code, everything else as JSON."""
    match value:
        case str():
            return " ".join(value.split())
        case {"error": {"code": code, "message": message}}:
            return f"{code}: {message}"
        case {"message": str(said)} | {"summary": str(said)}:
            return " ".join(said.split())
        case {"exit_code": int(code), "stdout": _}:
            return f"exit code {code}"
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class EventLine:
    """One line about a task: a sign, and what there is to say."""

    sign: str
    style: str
    words: str


@dataclass(slots=True)
class Teller:
    """Tells people what happens; keeps the arguments of calls, because entries about their end do not repeat them."""

    top: str
    """The task that is watched."""
    doing: dict[str, str] = field(default_factory=dict)
    """What each task is doing, in a few words."""
    _made: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _open: dict[str, dict[str, str]] = field(default_factory=dict)
    """The tools of the calls of each task that have not ended."""
    _printed: Printed = field(default_factory=Printed)

    def tell(self, run_event: "RunEvent") -> None:
        """Print what a person following the run wants to know."""
        task, entry, output = run_event.task, run_event.entry, run_event.output
        if output is not None:
            self._printed.show(output, task.role, self._called(output))
        if run_event.retrying is not None:
            brief(("· ", "yellow"), (f"{task.role:<10} ", "bold"), (str(run_event.retrying), ""))
        if entry is None:
            return
        self._printed.end(entry.call_id, task.role)
        if entry.payload is None:
            return
        payload = entry.payload
        self._remember(entry, payload)
        if entry.kind is EntryKind.TURN:
            _print_speech(task.role, payload)
            return
        for line in self._lines(entry, payload):
            brief((f"{line.sign} ", line.style), (f"{task.role:<10} ", "bold"), (line.words, ""))

    def _remember(self, entry: Entry, payload: Mapping[str, Any]) -> None:
        if entry.kind is EntryKind.TURN:
            for index, call in enumerate(payload["calls"]):
                made = TurnCall(entry.task_id, payload["turn"], index).id
                self._made[made] = call
                self._open.setdefault(entry.task_id, {})[made] = call["tool"]
        elif entry.kind is EntryKind.CLOSED:
            self._open.pop(entry.task_id, None)
        elif "outcome" in payload:
            self._open.get(entry.task_id, {}).pop(entry.call_id, None)
        self.doing[entry.task_id] = ", ".join(self._open.get(entry.task_id, {}).values())

    def _lines(self, entry: Entry, payload: Mapping[str, Any]) -> Iterator[EventLine]:
        match entry.kind:
            case EntryKind.OPENED if entry.task_id == self.top:
                yield EventLine("▸", "cyan", f"{_request(payload)}{_documents(payload)}")
            case EntryKind.CALLED | EntryKind.REFUSED | EntryKind.SETTLED:
                yield from self._call_ended(entry, payload)
            case EntryKind.ASKED:
                because = payload.get("verdict", {}).get("because", "")
                yield EventLine("◌", "yellow", f"wants {self._named(entry, payload)}: {because}")
            case EntryKind.DELEGATED:
                given = payload["input"].get("request") or payload["input"].get("task_description", "")
                yield EventLine("→", "cyan", f"{payload['to']}: {shortly(given)}{_documents(payload)}")
            case EntryKind.QUESTIONED:
                whom = "a person" if payload["to"] == "person" else payload["to"]
                asked = shortly(payload["input"].get("question", ""))
                yield EventLine("?", "yellow", f"asks {whom}: {asked}{_documents(payload)}")
            case kind if kind in _IN_ONE_LINE:
                yield _IN_ONE_LINE[kind](payload)
            case _:
                pass

    def _call_ended(self, entry: Entry, payload: Mapping[str, Any]) -> Iterator[EventLine]:
        done = payload["outcome"] == "done"
        if done and payload["tool"] in _ENDS_ELSEWHERE:
            return
        result = payload["result"]
        told = not done or (isinstance(result, dict) and ("summary" in result or result.get("exit_code")))
        words = f"{self._named(entry, payload)}: {shortly(result)}" if told else self._named(entry, payload)
        signs = {"done": ("✓", "green"), "unknown": ("‼", "red bold")}
        if done and isinstance(result, dict) and result.get("exit_code"):
            # The call did what it was asked to do; the program that it ran failed.
            signs["done"] = ("✓", "yellow")
        yield EventLine(*signs.get(payload["outcome"], ("✗", "red")), words)

    def _named(self, entry: Entry, payload: Mapping[str, Any]) -> str:
        call = self._made.get(entry.call_id, {})
        given = payload.get("input") or call.get("arguments")
        tool = str(payload.get("tool") or call.get("tool", ""))
        if not isinstance(given, Mapping):
            changed = [str(change["path"]) for change in payload.get("changes", ())]
            return " ".join([tool, *changed[:1]])
        return _in_short(tool, given)

    def _called(self, output: "Output") -> str:
        given = self._made.get(output.call_id, {}).get("arguments")
        return _in_short(output.tool, given) if isinstance(given, Mapping) else output.tool


def _in_short(tool: str, given: Mapping[str, Any]) -> str:
    return " ".join([tool, *(shortly(given[name]) for name in _NAMING if name in given)][:2])


def _print_speech(role: str, payload: Mapping[str, Any]) -> None:
    note = f"({payload['note']})" if payload.get("note") else ""
    *before, last = payload["text"].strip().split("\n")
    aside = f"{last}  {note}" if last and note and len(note) <= _SHORT_NOTE else last
    lines = [*before, aside] if last else []
    if note and aside == last and (last or len(note) > _SHORT_NOTE):
        lines.append(note)
    for line in lines:
        quote(line, indent=f"  {role:<10} │ ")


def _request(payload: Mapping[str, Any]) -> str:
    return shortly(payload["input"].get("request", ""))


def _documents(payload: Mapping[str, Any]) -> str:
    given = payload["input"].get("documents") or []
    # A model may name a document twice; it is sent once.
    names = dict.fromkeys(normpath(str(name)) for name in given) if isinstance(given, list) else {}
    return f" [{', '.join(names)}]" if names else ""


def _decided(payload: Mapping[str, Any]) -> EventLine:
    state = payload["state"]
    by = f" by {payload['by']}" if payload.get("by") else ""
    note = f": {payload['note']}" if payload.get("note") else ""
    signs = {"approved": ("✓", "green"), "denied": ("✗", "red"), "expired": ("✗", "red")}
    return EventLine(*signs.get(state, ("·", "dim")), f"{payload['tool']} {state}{by}{note}")


def _came_back(payload: Mapping[str, Any]) -> EventLine:
    done = payload["outcome"] == "done"
    who = payload.get("by") or payload["from"]
    carried = [document["path"] for document in payload.get("carried", ())]
    documents = f" [{', '.join(carried)}]" if carried else ""
    return EventLine(
        "←" if done else "✗", "cyan" if done else "red", f"{who}: {shortly(payload['result'])}{documents}"
    )


def _resumed(payload: Mapping[str, Any]) -> EventLine:
    limits = ", ".join(f"{name} {amount(name, value)}" for name, value in payload.get("budget", {}).items())
    if "request" in payload:
        return EventLine("▸", "cyan", f"{payload['by']} asks for more: {payload['request']}")
    said = [f"resumed by {payload['by']}", *filter(None, (payload.get("note"), limits))]
    return EventLine("▸", "cyan", "; ".join(said))


def _permitted(payload: Mapping[str, Any]) -> EventLine:
    what = f"{payload['tool']}({payload['pattern']})" if payload["pattern"] else f"the same {payload['tool']}"
    return EventLine("·", "dim", f"{payload['by']} allows {what} until {payload['until']}")


def _revoked(payload: Mapping[str, Any]) -> EventLine:
    return EventLine("·", "dim", f"{payload['by']} takes back that {payload['tool']} is allowed for a time")


def _compacted(_payload: Mapping[str, Any]) -> EventLine:
    return EventLine("·", "dim", "sees earlier results in short form from now on")


def _noticed(payload: Mapping[str, Any]) -> EventLine:
    names = ", ".join(str(change["path"]) for change in payload["changes"])
    return EventLine("·", "dim", f"is told that others have changed {names}")


def _challenged(payload: Mapping[str, Any]) -> EventLine:
    more = f" (and {len(payload['problems']) - 1} more)" if len(payload["problems"]) > 1 else ""
    tried = f"{payload['refused']} of {payload['tries']}"
    return EventLine("✗", "yellow", f"evidence refused ({tried}): {payload['problems'][0]['says']}{more}")


_IN_ONE_LINE: Mapping[EntryKind, Callable[[Mapping[str, Any]], EventLine]] = {
    EntryKind.DECIDED: _decided,
    EntryKind.PERMITTED: _permitted,
    EntryKind.REVOKED: _revoked,
    EntryKind.RETURNED: _came_back,
    EntryKind.ANSWERED: _came_back,
    EntryKind.COMPACTED: _compacted,
    EntryKind.NOTICED: _noticed,
    EntryKind.CHALLENGED: _challenged,
    EntryKind.RESUMED: _resumed,
}
"""Entries that say all there is to say of them by themselves."""
