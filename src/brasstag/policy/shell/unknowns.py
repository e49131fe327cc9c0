"""What cannot be known about a command before it runs."""

import posixpath
from collections.abc import Iterator, Sequence

from brasstag.policy.shell.commands import Command, Doubt, Doubtful, Word, is_dynamic
from brasstag.policy.shell.programs.standard_input import (
    INTERPRETERS,
    SHELLS,
    is_known_reader,
    may_take_code,
    runs_code,
    runs_substitution,
    script_of,
    takes_code,
    takes_script_from_input,
    unversioned,
)
from brasstag.policy.shell.programs.wrapper_table import WRAPPERS
from brasstag.policy.shell.programs.writes import written_files

_SOURCES = frozenset({".", "source"})
_DELETES = frozenset({"rm", "rmdir", "unlink", "shred", "srm"})
_KNOWN = frozenset(
    {
        "ls", "cd", "cat", "echo", "printf", "test", "[", "cp", "mv", "ln", "mkdir", "chmod", "chown",
        "grep", "sed", "awk", "git", "make", "curl", "wget", "tar", "kill", "read", "set", "export", "unset",
        "true", "false", "dd", "mkfs", "eval", ".", "source", "su", "ssh", "find", "watch", "trap", "exit",
        "return",
    }
).union(_DELETES, SHELLS, INTERPRETERS, WRAPPERS)  # fmt: skip
"""Commands whose meaning a text relies on."""
_RESERVED = frozenset(
    {
        "{", "}", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "select", "[[", "]]",
    }
)  # fmt: skip
"""Words that name no command; where one seems to, the text means something else."""


def command_doubts(command: Command) -> Iterator[Doubt]:
    """Yield what one command leaves open."""
    if command.words and not command.words[0].literal:
        yield Doubt.COMPUTED_NAME
    if command.name in _RESERVED:
        yield Doubt.UNREADABLE
    if (
        (_may_be_fed(command) and takes_code(command))
        or takes_script_from_input(command)
        or runs_substitution(command, _SOURCES)
    ):
        yield Doubt.FED_SHELL
    if may_take_code(command):
        yield Doubt.COMPUTED_CODE
    if command.name in _DELETES and any(is_dynamic(word) for word in command.words[1:]):
        yield Doubt.COMPUTED_DELETION
    if command.name in _SOURCES:
        yield Doubt.SOURCED
    if _redefines(command):
        yield Doubt.REDEFINED


def text_doubts(commands: Sequence[Command]) -> Iterator[Doubtful]:
    """Yield what several commands together leave open: a file that is written first and run later, or input by exec."""
    if len(commands) < 2:
        return
    written: set[str] = set()
    is_fed = False
    for command in commands:
        if is_fed and takes_code(command):
            yield Doubtful(Doubt.FED_SHELL, command.text)
        is_fed = is_fed or _feeds_others(command)
        for path in _run_paths(command):
            if path in written:
                yield Doubtful(Doubt.WRITTEN_FIRST, command.text)
        written.update(posixpath.normpath(word.text) for word in written_files(command) if word.text)


def _may_be_fed(command: Command) -> bool:
    """Say whether a command may read what another puts out; a function's input comes from its caller."""
    if command.fed is not None and command.fed.literal and is_known_reader(command.name):
        return False
    return command.piped or any(place.startswith("function ") for place in command.place)


def _feeds_others(command: Command) -> bool:
    """Say whether it is ``exec < …``, which gives all commands behind it another input."""
    return (
        command.name == "exec"
        and len(command.words) == 1
        and bool(command.fed or command.reads or command.piped)
    )


def _redefines(command: Command) -> bool:
    if command.name == "alias":
        return any("=" in argument for argument in command.arguments)
    if command.name == "hash":
        return "-p" in command.arguments
    return command.name == "function" and not _KNOWN.isdisjoint(command.arguments[:1])


def _run_paths(command: Command) -> Iterator[str]:
    """Yield the file that a command runs as a program or script."""
    if not command.words:
        return
    first = command.words[0].text
    if "/" in first:
        yield posixpath.normpath(first)
    if runs_code(command.name) or command.name in _SOURCES:
        script = script_of(command)
        yield posixpath.normpath(script.text) if script is not None and script.text else ""
    if unversioned(command.name) in SHELLS:
        yield from (posixpath.normpath(word.text) for word in command.reads)
    if command.name == "make":
        yield "Makefile"


def operands(command: Command) -> tuple[Word, ...]:
    """Return a command's words that are not options."""
    return tuple(word for word in command.words[1:] if not word.text.startswith("-") or word.text == "-")
