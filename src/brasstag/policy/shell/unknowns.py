"""What cannot be known about a command before it runs."""

import posixpath
from collections.abc import Iterable, Iterator

from brasstag.policy.shell.commands import Command, Doubt, Doubtful, Word
from brasstag.policy.shell.wrappers import INTERPRETERS, PYTHON, SHELLS, WRAPPERS, shell_operand, takes_code

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
    if (command.piped and takes_code(command)) or _runs_substitution(command):
        yield Doubt.FED_SHELL
    if command.name in _DELETES and any(is_dynamic(word) for word in command.words[1:]):
        yield Doubt.COMPUTED_DELETION
    if command.name in _SOURCES:
        yield Doubt.SOURCED
    if _redefines(command):
        yield Doubt.REDEFINED


def text_doubts(commands: Iterable[Command]) -> Iterator[Doubtful]:
    """Yield what several commands together leave open: a file that is written first and run later."""
    written: set[str] = set()
    for command in commands:
        for path in _run_paths(command):
            if path in written:
                yield Doubtful(Doubt.WRITTEN_FIRST, command.text)
        written.update(posixpath.normpath(word.text) for word in _written(command) if word.text)


def is_dynamic(word: Word) -> bool:
    """Say whether a word is filled in when the command runs; find, xargs and parallel fill in ``{}``."""
    return word.computed or "{}" in word.text


def _runs_substitution(command: Command) -> bool:
    """Say whether a shell runs, or takes in, what another command puts out: ``bash <(…)``."""
    if command.name not in SHELLS | INTERPRETERS | _SOURCES and not PYTHON.fullmatch(command.name):
        return False
    first = _script(command)
    return first is not None and first.text.startswith(("<(", "/dev/fd/"))


def _script(command: Command) -> Word | None:
    """Return the first operand of a shell or interpreter."""
    if command.name in SHELLS:
        return shell_operand(command)[1]
    return next(iter(operands(command)), None)


def _redefines(command: Command) -> bool:
    if command.name == "alias":
        return any("=" in argument for argument in command.arguments)
    if command.name == "hash":
        return "-p" in command.arguments
    return command.name == "function" and command.arguments[0] in _KNOWN


def _run_paths(command: Command) -> Iterator[str]:
    """Yield the file that a command runs as a program or script."""
    if not command.words:
        return
    first = command.words[0].text
    if "/" in first:
        yield posixpath.normpath(first)
    if command.name in SHELLS | INTERPRETERS | _SOURCES or PYTHON.fullmatch(command.name):
        script = _script(command)
        yield posixpath.normpath(script.text) if script is not None and script.text else ""
    if command.name in SHELLS:
        yield from (posixpath.normpath(word.text) for word in command.reads)
    if command.name == "make":
        yield "Makefile"


def _written(command: Command) -> Iterator[Word]:
    """Yield the files that a command writes, where its words say so."""
    yield from command.writes
    words = command.words
    if command.name == "tee":
        yield from words[1:]
    elif command.name in ("cp", "mv", "ln", "install"):
        yield from words[-1:]
    elif command.name in ("curl", "wget"):
        flags = ("-o", "-O", "--output", "--output-document")
        yield from (words[index + 1] for index, word in enumerate(words[:-1]) if word.text in flags)


def operands(command: Command) -> tuple[Word, ...]:
    """Return a command's words that are not options."""
    return tuple(word for word in command.words[1:] if not word.text.startswith("-") or word.text == "-")
