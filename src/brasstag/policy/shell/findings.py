"""What each shipped rule about commands looks for."""

from collections.abc import Callable, Iterator, Mapping

from brasstag.policy.shell.commands import Command, CommandReading
from brasstag.policy.shell.programs.dangers import (
    changes_system,
    copies_raw,
    destroys_files,
    destroys_machine,
    forces_deletion,
    forks_without_end,
    opens_door,
    stops_machine,
)
from brasstag.policy.shell.programs.hidden import runs_more
from brasstag.policy.shell.programs.writes import written_elsewhere
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


def _dangerous(reading: CommandReading) -> Iterator[CommandFinding]:
    """Find what is dangerous by its name; what destroys the machine is for the rule that nothing loosens."""
    for command in reading.commands:
        for check, because in _DANGEROUS.items():
            if check(command) and not destroys_machine(command):
                yield CommandFinding(command.text, because, command)


def _elsewhere(reading: CommandReading) -> Iterator[CommandFinding]:
    yield from (CommandFinding(command.text, "", command) for command in written_elsewhere(reading.commands))


def _doubts(reading: CommandReading) -> Iterator[CommandFinding]:
    yield from (CommandFinding(one.on, str(one.doubt)) for one in reading.doubts)


_DANGEROUS: Mapping[Callable[[Command], bool], str] = {
    forces_deletion: "rm -rf deletes whole directories without a question; call the tool delete_file instead, with"
    " recursive for a directory: what it deletes is shown first, and can be brought back",
    copies_raw: "dd overwrites whatever it is pointed at; copy files with cp, write them with the tool write_file,"
    " and delete them with the tool delete_file",
}
"""The commands that are denied unless the settings loosen it, and what to do instead."""

FINDS: Mapping[str, Finds] = {
    "destroys-the-machine": _commands(destroys_machine),
    "stops-the-machine": _stops,
    "opens-a-door": _commands(opens_door),
    "dangerous-commands": _dangerous,
    "destroys-files": _commands(destroys_files),
    "changes-the-system": _commands(changes_system),
    "runs-more": _commands(runs_more),
    "writes-elsewhere": _elsewhere,
    "cannot-be-read": _doubts,
}
"""By the name of the rule."""
