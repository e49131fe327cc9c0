"""Entries of a timeline for people: one line each in 80 columns, or one in full."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from brasstag.surfaces.cli.terminal.console import quote, say, table
from brasstag.surfaces.cli.terminal.numbers import local, local_time
from brasstag.words.events import Entry

_STYLES = {2: "cyan", 4: "dim"}
_NAMING = ("path", "from", "query", "directory", "tag", "url", "command")
"""The arguments that tell most of what a call is about, the first that was given."""
_LONGEST_NAMED = 48


def print_entries(entries: Iterable[Entry]) -> None:
    """Print one line for each entry, under its day."""
    for day, several in groupby(entries, lambda entry: f"{local(entry.at):%Y-%m-%d %Z}"):
        say(day, "bold")
        table(("time", "task", "entry", "what", "tag"), [_row(entry) for entry in several], styles=_STYLES)


def print_entry(entry: Entry) -> None:
    """Print everything an entry says."""
    for line in json.dumps(as_json(entry), indent=2, ensure_ascii=False).split("\n"):
        quote(line, indent="")


def as_json(entry: Entry) -> dict[str, Any]:
    """Return an entry as one object: where it stands in the chain, and what it says."""
    return {
        "tag": entry.tag,
        "hash": entry.hash,
        "task": entry.task_id,
        "seq": entry.seq,
        "entry": entry.kind.value,
        "call": entry.call_id,
        "timestamp": entry.at,
        **(entry.payload or {"redacted": True}),
    }


def _row(entry: Entry) -> tuple[str, str, str, str, str]:
    said = "(redacted)" if entry.payload is None else " ".join(filter(None, _what(entry.payload)))
    return f"{local(entry.at):%H:%M:%S}", entry.task_id[-6:], entry.kind.value, said, entry.tag[-8:]


def _what(payload: Mapping[str, Any]) -> Iterator[str]:
    yield str(payload.get("purpose") or payload.get("tool", ""))
    yield from _passed_on(payload)
    given = payload.get("input")
    if isinstance(given, dict):
        yield next((_named(name, given[name]) for name in _NAMING if name in given), "")
    if "state" in payload:
        yield f"→ {payload['state']}"
        yield f"by {payload['by']}" if payload.get("by") else ""
    elif "outcome" in payload and "said" not in payload:
        yield f"→ {_ending(payload)}"
    if payload.get("status") not in (None, "done"):
        yield f"→ {payload['status']}"
    if "redacted" in payload:
        yield f"{str(payload['redacted'])[-8:]}: {payload.get('reason', '')}"
    if "permission" in payload:
        until = f" until {local_time(payload['until'])}" if "until" in payload else ""
        yield f"{str(payload['permission'])[-8:]}{until}, by {payload['by']}"
    if payload.get("type") == "forgetting":
        yield f"{len(payload['forgotten'])} memories, by {payload['by']}"
    if payload.get("type") == "pruning":
        yield f"what {payload['versions']} old versions held, by {payload['by']}"


def _passed_on(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is peculiar to agents: what a model called and said, and who was given or gave back what."""
    match payload:
        case {"type": "turn", "calls": list(calls), "text": str(text)}:
            yield ", ".join(call["tool"] for call in calls)
            yield f"“{_beginning(text)}”" if text.strip() else ""
        case {"said": str(said)}:
            yield said
        case {"child": str(child), "result": str(said)}:
            yield f"{said.partition(' (')[0]} ({child[-6:]})"
        case {"type": "resumed", "by": str(by), "note": str(note)}:
            yield f"by {by} {note}".rstrip()
        case {"type": "compaction", "tokens_before": before, "tokens_after": after}:
            yield f"{before} → {after} tokens"
        case {"type": "notice", "changes": list(changes)}:
            yield _cut(", ".join(str(change["path"]) for change in changes))
        case {"type": "challenge", "problems": list(problems), "refused": refused, "tries": tries}:
            yield f"{refused} of {tries}: {', '.join(dict.fromkeys(str(one['id']) for one in problems))}"
        case {"type": "proposal", "refused": str(step), "code": str(code), "by": str(by)}:
            yield f"{step} by {by} → {code}"
        case {"question": str(question), "from": str(role)}:
            yield f"answered {role}: {_beginning(question)}"


def _beginning(text: str) -> str:
    return _cut(" ".join(text.split()))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAMED else f"{text[:_LONGEST_NAMED]}…"


def _named(name: str, value: Any) -> str:
    return f"{name}={_cut(str(value)[-8:] if name == 'tag' else str(value))}"


def _ending(payload: Mapping[str, Any]) -> str:
    result = payload.get("result")
    error = result.get("error") if isinstance(result, dict) else None
    return str(error.get("code") if isinstance(error, dict) else payload["outcome"])
