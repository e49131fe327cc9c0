"""The commands of a call, line by line, for people: words, place, and what the shipped rules say."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brasstag.policy.shell.rules import CommandFinding, CommandRule
from brasstag.words.verdicts import Verdict

if TYPE_CHECKING:
    from brasstag.policy.shell.commands import Command, CommandReading


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One command that was read, or one doubt about the text; ``verdict`` is None where no rule speaks about it."""

    words: tuple[str, ...]
    place: tuple[str, ...] = ()
    verdict: Verdict | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the line as JSON."""
        said = self.verdict.as_json() if self.verdict else {}
        return {"words": list(self.words), "place": list(self.place), **said}


def command_lines(
    readings: Iterable["CommandReading"], rules: Iterable[CommandRule]
) -> tuple[CommandLine, ...]:
    """Return a line for every command with the strictest word on it, then one for all else that rules found."""
    several = tuple(rules)
    return tuple(line for reading in readings for line in _lines(reading, several))


def _lines(reading: "CommandReading", rules: tuple[CommandRule, ...]) -> Iterator[CommandLine]:
    found = [
        (rule, finding)
        for rule in sorted(rules, key=lambda rule: rule.order)
        for finding in rule.finds(reading)
    ]
    said: dict[int, Verdict] = {}
    rest: list[tuple[CommandRule, CommandFinding]] = []
    for rule, finding in found:
        if finding.command is None:
            rest.append((rule, finding))
        else:
            said.setdefault(id(finding.command), rule.verdict(finding))
    yield from (_line(command, said.get(id(command))) for command in reading.commands)
    yield from (CommandLine((finding.on,), (), rule.verdict(finding)) for rule, finding in rest)


def _line(command: "Command", verdict: Verdict | None) -> CommandLine:
    return CommandLine(tuple(word.text for word in command.words), command.place, verdict)
