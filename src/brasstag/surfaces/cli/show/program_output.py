"""What programs print, shown while they run: whole lines, with nothing hidden in them."""

import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.show.programs import BREAK, EDGES
from brasstag.surfaces.cli.show.task_tree import TAIL
from brasstag.surfaces.cli.terminal import streams
from brasstag.surfaces.cli.terminal.console import OutputName, brief, quote_all, wants_json
from brasstag.words.calls import Done, Failed, Unknown

if TYPE_CHECKING:
    from brasstag.app import Output, Room
    from brasstag.words.calls import Outcome

MOST_LINES = 4000
"""How many lines are shown at once: far more than a person reads, and no more than a terminal draws at once."""
LONGEST_HELD = 1 << 16
"""An unfinished line that is longer is shown as it is."""


@dataclass(slots=True)
class LineBuffer:
    """Makes lines of pieces; what a stream has begun is held until the line ends, or the call."""

    _begun: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, output: "Output") -> list[str]:
        """Add a piece; return the lines that are whole now."""
        key = (output.call_id, output.stream)
        begun, lines = self._begun.pop(key, ""), []
        if output.left_out:
            lines = [*filter(None, [begun]), f"… {output.left_out:,} characters are not shown …"]
            begun = ""
        *whole, rest = BREAK.split((begun + output.text).lstrip("\r"))
        if len(rest) > LONGEST_HELD:
            whole.append(rest)
        elif rest:
            self._begun[key] = rest
        return lines + whole

    def end(self, call_id: str = "") -> Iterator[tuple[str, str]]:
        """Return the unfinished lines of one call, or of all calls, each with its stream."""
        for key in [key for key in self._begun if call_id in ("", key[0])]:
            yield key[1], self._begun.pop(key).rstrip("\r")


@dataclass(slots=True)
class Printed:
    """The column of a run in which programs print; its edge tells it from what models say."""

    _lines: LineBuffer = field(default_factory=LineBuffer)
    _names: dict[str, str] = field(default_factory=dict)
    """The calls that have printed and go on."""
    _last: str = ""
    """The one that printed last, as long as any goes on."""

    def show(self, output: "Output", role: str, called: str) -> None:
        """Print the lines that are whole; where several calls print at once, say which one goes on."""
        self._names[output.call_id] = f"{called} ({output.task_id[-TAIL:]})"
        lines = self._lines.add(output)
        if lines:
            self._tell_apart(output.call_id, role)
            _quote(lines, output.stream, role)

    def end(self, call_id: str, role: str) -> None:
        """Print what a call has left unfinished."""
        if not call_id:
            return
        for stream, line in self._lines.end(call_id):
            self._tell_apart(call_id, role)
            _quote([line], stream, role)
        self._names.pop(call_id, None)
        if not self._names:
            self._last = ""

    def _tell_apart(self, call_id: str, role: str) -> None:
        if self._last not in ("", call_id):
            brief(("· ", "dim"), (f"{role:<10} ", "bold"), (f"{self._names[call_id]} prints:", "dim"))
        self._last = call_id


@dataclass(slots=True)
class Live:
    """What one command shows, on a terminal at standard error, of the programs it runs."""

    room: "Room"
    _lines: LineBuffer = field(default_factory=LineBuffer)
    _shown: dict[str, str] = field(default_factory=lambda: defaultdict(str))
    """What was shown of each stream, without the pieces that were not shown in full."""

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Show what is printed meanwhile."""
        async with self.room.runs.telling(self._show if sys.stderr.isatty() else None):
            yield
        for stream, line in self._lines.end():
            _quote([line], stream, stderr=True)

    def rest_of(self, outcome: "Outcome", output: OutputName | None) -> "Outcome":
        """Return a call's outcome without the output that the same terminal has just shown in full."""
        same = streams.output().isatty() and sys.stderr.isatty()
        if wants_json(output) or not same:
            return outcome
        match outcome:
            case Done(value=Mapping()):
                return replace(outcome, value=self._rest(outcome.value))
            case Failed() | Unknown():
                return replace(outcome, details=self._rest(outcome.details))
        return outcome

    def _rest(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a run; each stream that was shown in full is empty in them."""
        rest: dict[str, Any] = {
            name: "" if name in EDGES and part == self._shown.get(name, "") else part
            for name, part in told.items()
        }
        if isinstance(rest.get("ran"), Mapping):
            rest["ran"] = self._rest(rest["ran"])
        return rest

    def _show(self, output: "Output") -> None:
        lines = self._lines.add(output)
        if not output.left_out and len(lines) <= MOST_LINES:
            self._shown[output.stream] += output.text
        _quote(lines, output.stream, stderr=True)


def _quote(lines: Sequence[str], stream: str, role: str = "", *, stderr: bool = False) -> None:
    indent = f"  {role:<10}{EDGES[stream]}" if role else f" {EDGES[stream]}"
    more = len(lines) - MOST_LINES
    if more > 0:
        lines = [f"… {more:,} lines are not shown …", *lines[more:]]
    quote_all(lines, "dim", indent=indent, stderr=stderr)
