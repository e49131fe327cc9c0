"""What each shipped rule about commands looks for."""

from collections.abc import Callable, Iterator, Mapping

from brasstag.policy.shell.commands import Command, CommandReading
from brasstag.policy.shell.dangers import (
    changes_system,
    destroys_files,
    destroys_machine,
    forks_without_end,
    opens_door,
    stops_machine,
)
from brasstag.policy.shell.hidden import runs_more
from brasstag.policy.shell.rules import CommandFinding, Finds


def _commands(check: Callable[[Command], bool]) -> Finds:
    """Return what finds the commands for which a check is true."""

    def finds(reading: CommandReading) -> Iterator[CommandFinding]:
        yield from (
            CommandFinding(command.text, "", command) for command in reading.commands if check(command)
        )

    return finds


def _stops(reading: CommandReading) -> Iterator[CommandFinding]:
    yield from _commands(stops_machine)(reading)
    yield from (
        CommandFinding(name, "it starts itself without end") for name in forks_without_end(reading.commands)
    )


def _doubts(reading: CommandReading) -> Iterator[CommandFinding]:
    yield from (CommandFinding(one.on, str(one.doubt)) for one in reading.doubts)


FINDS: Mapping[str, Finds] = {
    "destroys-the-machine": _commands(destroys_machine),
    "stops-the-machine": _stops,
    "opens-a-door": _commands(opens_door),
    "destroys-files": _commands(destroys_files),
    "changes-the-system": _commands(changes_system),
    "runs-more": _commands(runs_more),
    "cannot-be-read": _doubts,
}
"""By the name of the rule."""
