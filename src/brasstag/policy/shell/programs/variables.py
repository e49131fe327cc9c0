"""The variables that a command sets: before its name, or as a builtin that is given names and values."""

from collections.abc import Iterator

from brasstag.policy.shell.commands import Command

_DECLARING = frozenset({"export", "declare", "typeset", "readonly", "local", "env"})
_FILLING = frozenset({"read", "mapfile", "readarray", "getopts"})
_UNKNOWN = "$(…)"
"""What stands for a value that comes from the input."""


def assigned(command: Command) -> Iterator[str]:
    """Yield each as ``NAME=value``."""
    yield from command.assigns
    if command.name in _DECLARING:
        yield from command.arguments
    elif command.name in _FILLING:
        yield from (f"{argument}={_UNKNOWN}" for argument in command.arguments)
    elif command.name == "printf" and len(command.words) > 2 and command.arguments[0] == "-v":
        yield f"{command.arguments[1]}={' '.join(command.arguments[2:])}"
