"""How a call ended: one line of JSON for programs, the result for people."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.show.programs import parts_of, print_output, run_in
from brasstag.surfaces.cli.show.task_tree import TAIL
from brasstag.surfaces.cli.terminal.console import (
    OutputName,
    print_json,
    quote,
    quote_all,
    say,
    screen_width,
    table,
    wants_json,
)
from brasstag.surfaces.cli.terminal.exits import Exit, exit_for
from brasstag.toolkit import result_view
from brasstag.words.calls import Done, Failed, Unknown, Waiting
from brasstag.words.errors import Code, with_hint

if TYPE_CHECKING:
    from brasstag.engine import Tracebacks
    from brasstag.words.calls import Outcome

_ROOM_FOR_WORDS = 12
"""Cells that a column needs at least; names and numbers are often shorter."""
_READABLE = 80
"""Cells of a line that people read with ease where no terminal sets the width, as in a log."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_TABLE = frozenset({"columns", "rows"})
"""The parts of a result that are one table."""


def show_outcome(
    outcome: "Outcome", output: OutputName | None, tool: str, *, usage: str = "", **more: Any
) -> Exit:
    """Print how a call ended, and ``more`` beside it in JSON; return the exit code.

    ``usage`` is the command that lists the arguments, where that is not the one for tools.
    """
    if wants_json(output):
        tag = {} if outcome.tag is None else {"tag": {"id": outcome.tag.id, "hash": outcome.tag.hash}}
        print_json(result_view(outcome) | tag | more)
    else:
        _tell(outcome, usage or f"brasstag tools show {tool}")
    return exit_for(outcome)


def tell_log(kept: "Tracebacks", outcome: "Outcome", output: OutputName | None) -> None:
    """Tell people where the traceback of a tool is, if it raised an exception."""
    tag = outcome.tag
    if tag is not None and not wants_json(output) and kept.read(tag.id) is not None:
        say(f"  brasstag logs {tag.id[-TAIL:]}   shows the traceback", stderr=True)


def print_value(value: Any) -> None:
    """Print a result for people: a text as it is, a list of things as a table, everything else by name."""
    run = run_in(value)
    if run is not None and run is value:
        print_output(run)
        for name, part in parts_of(run):
            _print_part(name, part)
        return
    match value:
        case str(text):
            say(text.removesuffix("\n"))
        # The sizes and times around it are for programs.
        case {"content": str(text)} if not any(map(_has_parts, value.values())):
            say(text.removesuffix("\n"))
        case {"message": str(text)} | {"summary": str(text)} if not any(map(_has_parts, value.values())):
            quote(text.removesuffix("\n"), indent="")
        case {}:
            _print_parts(value)
        case _:
            say(_short(value))


def _tell(outcome: "Outcome", usage: str) -> None:
    match outcome:
        case Done():
            print_value(outcome.value)
            if "edited" in outcome.meta:
                say(f"  approved with changed arguments by {outcome.meta['edited']['by']}", "yellow")
            _tell_tag(*_how_done(outcome.value), outcome)
        case Failed():
            say(f"{outcome.code.value}: {with_hint(outcome.message, outcome.hint)}", "red", stderr=True)
            if outcome.code is Code.INVALID_ARGUMENTS:
                say(f"  `{usage}` lists its arguments", stderr=True)
            _tell_details(outcome)
            _tell_tag("failed, nothing changed", "dim", outcome, stderr=True)
        case Waiting() if outcome.task_id:
            say(f"Waiting: {outcome.reason}", "yellow")
            say(f"  brasstag tasks {outcome.task_id}   shows where it stands")
            say("  brasstag worker   works on it")
        case Waiting():
            say(f"Waiting for approval: {outcome.reason}", "yellow")
            say(f"  brasstag approvals show {outcome.approval_id}")
            say(f"  brasstag approvals approve {outcome.approval_id}")
        case _:
            say(f"UNKNOWN: {outcome.message}", "red bold", stderr=True)
            _tell_details(outcome)
            _tell_tag("it may have happened; look before trying again", "red", outcome, stderr=True)


def _how_done(value: Any) -> tuple[str, str]:
    """Return how to report a call that came to its end; its program may have failed even so."""
    code = (run_in(value) or {}).get("exit_code")
    return (f"done, exit code {code}", "yellow") if code else ("done", "green")


def _tell_details(outcome: Failed | Unknown) -> None:
    """Tell what a program that failed has printed, and where the patch of its changes is: output, not errors of ours."""
    run = run_in(outcome.details)
    if run is not None:
        print_output(run)
        if "exit_code" in run:
            say(f"  it ran, and ended with exit code {run['exit_code']}")
    if "patch" in outcome.details:
        say(f"  what it changed is kept as a patch: {outcome.details['patch']}")


def _tell_tag(words: str, style: str, outcome: "Outcome", *, stderr: bool = False) -> None:
    if outcome.tag is not None:
        say(f"  {words} · {outcome.tag.id} · {outcome.tag.hash[:16]}", style, stderr=stderr)


def _print_parts(value: Mapping[str, Any]) -> None:
    """Print what a result is made of; columns and rows are one table."""
    columns: list[Any] = []
    match value:
        case {"columns": [{"name": _}, *_], "rows": [[*_], *_]}:
            columns = value["columns"]
    for name, part in value.items():
        if not columns or name not in _TABLE:
            _print_part(name, part)
        elif name == "rows":
            _print_table(columns, part)


def _print_part(name: str, part: Any) -> None:
    if not isinstance(part, list):
        _print_named(name, _short(part))
    elif not part:
        say(f"{name}: none")
    elif all(row and isinstance(row, Mapping) for row in part):
        headings = list(dict.fromkeys(key for row in part for key in row))
        rows = [[_short(row.get(key, "")) for key in headings] for row in part]
        if _fits([headings, *rows]):
            table(headings, rows)
        else:
            _print_records(name, part)
    else:
        say(f"{name}:")
        quote_all(map(_short, part), indent="  ")


def _print_named(name: str, text: str) -> None:
    """Print a value by its name; one of several lines is set apart, so that none of them can pose as a line of ours."""
    if "\n" not in text:
        quote(f"{name}: {text}", indent="")
        return
    say(f"{name}:")
    quote_all(text.removesuffix("\n").split("\n"), indent="  │ ")


def _print_table(columns: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows beneath the names of their columns; where there is no room for that, a field a line."""
    headings = [str(column["name"]) for column in columns]
    cells = [[_short(cell) for cell in row] for row in rows]
    if _fits([headings, *cells]):
        table(headings, cells)
    else:
        _print_records("rows", [dict(zip(headings, row, strict=False)) for row in cells])


def _fits(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether each column of a table has room for its longest word, and for words at all where it has several."""
    widths = (max(map(_least_width, column)) for column in zip(*rows, strict=True))
    return sum(width + 1 for width in widths) <= (screen_width() or _READABLE) + 1


def _least_width(cell: str) -> int:
    return max(min(len(cell), _ROOM_FOR_WORDS), *map(len, cell.split()), 0)


def _print_records(name: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Print a field a line, each record set apart by a dash; what says nothing is left out."""
    say(f"{name}:")
    for record in records:
        told = [(key, value) for key, value in record.items() if value not in _NOTHING]
        for place, (key, value) in enumerate(told):
            quote(f"{key}: {' '.join(_short(value).split())}", indent="    " if place else "  - ")


def _has_parts(value: Any) -> bool:
    return isinstance(value, Mapping | list)


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_short(part)}" for name, part in value.items())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
