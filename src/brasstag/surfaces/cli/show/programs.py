"""The end of a program for people: its output, exit, changes and confinement."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brasstag.surfaces.cli.terminal.console import quote_all, say

EDGES: Mapping[str, str] = {"stdout": " ┊ ", "stderr": "!┊ "}
"""The edge of the column in which each stream is shown."""

LAST_LINES = 10
"""How many lines of each stream are shown to a person who decides about a program's changes."""

# A CR at the very end may be the first half of CRLF; any other CR begins the line again.
BREAK = re.compile(r"\r\n|\n|\r(?!\Z)")

_FIRST = ("exit_code", "changes", "notes")
_LAST = ("duration", "confinement")


def run_in(value: Any) -> Mapping[str, Any] | None:
    """Return what a result, or the details of an error, tell of a program that ran; None where they tell of none."""
    if not isinstance(value, Mapping):
        return None
    for told in (value, value.get("ran")):
        if isinstance(told, Mapping) and all(isinstance(told.get(stream), str) for stream in EDGES):
            return told
    return None


def print_output(run: Mapping[str, Any], *, most_lines: int | None = None, indent: str = " ") -> None:
    """Print what a program said, or the end of it, each stream in its column."""
    for stream, edge in EDGES.items():
        text = str(run.get(stream, ""))
        lines = BREAK.split(text.removesuffix("\n")) if text else []
        if most_lines is not None and len(lines) > most_lines:
            left = len(lines) - most_lines
            lines = [f"… {left:,} lines before these …", *lines[left:]]
        quote_all(lines, indent=f"{indent}{edge}")


def parts_of(run: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the rest of what is told of a run, always in the same order, as people read it."""
    middle = [name for name in sorted(run) if name not in (*_FIRST, *_LAST, *EDGES, "truncated")]
    for name in (*_FIRST, *middle, *_LAST):
        if name not in run:
            continue
        if name == "duration":
            yield name, f"{run[name]} ms"
        elif name == "confinement" and isinstance(run[name], Mapping):
            yield "confined", shortly_confined(run[name])
        else:
            yield name, run[name]
    if run.get("truncated"):
        yield "truncated", "its output was too long to keep all of it"


def shortly_confined(report: Mapping[str, Any]) -> str:
    """Return in a few words how a program was confined; the JSON has all of it."""
    net = str(report.get("net", ""))
    words: Sequence[str] = (
        str(report.get("backend", "")),
        str(report.get("overlay", "")),
        "no network" if net == "off" else f"network {net}",
    )
    return ", ".join(filter(None, words))


def print_ran(intended: Mapping[str, Any]) -> None:
    """Tell a person who decides about changes that the call has run, how it ended, and what it said last."""
    run = run_in(intended.get("result"))
    ended = f", and ended with exit code {run['exit_code']}" if run and "exit_code" in run else ""
    say(f"  it has run already{ended}; what it changed lands or not", "bold")
    if run is not None:
        print_output(run, most_lines=LAST_LINES, indent="   ")
