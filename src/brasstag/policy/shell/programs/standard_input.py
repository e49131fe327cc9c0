"""Programs that run the commands in their input: shells, interpreters, database clients, debuggers and their kind."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from brasstag.policy.shell.commands import Command, Doubt, Word
from brasstag.policy.shell.programs.inner import CommandText, Inner
from brasstag.policy.shell.programs.options import is_option, option_values, subcommands
from brasstag.policy.shell.programs.python_modules import PYTHON, takes_python

SHELLS = frozenset(
    {
        "sh", "bash", "dash", "zsh", "ksh", "mksh", "lksh", "oksh", "ash", "hush", "posh", "yash", "fish", "rbash", "csh",
        "tcsh", "elvish", "nu", "xonsh", "pwsh", "powershell", "osh", "ysh",
    }
)  # fmt: skip
STARTUP_FILES = frozenset({"--rcfile", "--init-file"})
"""Options that name a file which a shell runs first."""
INTERPRETERS = frozenset(
    {
        "perl", "ruby", "irb", "pry", "node", "nodejs", "ts-node", "tsx", "php", "lua", "luajit", "tclsh", "wish", "deno",
        "bun", "Rscript", "R", "osascript", "julia", "ghci", "guile", "octave", "octave-cli", "iex", "raku", "ocaml", "sbcl",
        "clisp", "racket", "scala", "groovysh", "jshell", "clojure", "clj", "bb", "swift", "erl", "gforth",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FedProgram:
    """How a program that is no interpreter comes to run its input."""

    given: str = ""
    """Options that give it commands or a file with them, so that its input is no command."""
    operands: int = 99
    """With more operands than these, it is given commands as well."""
    subcommands: str = ""
    """It runs its input with one of these subcommands only; with any where none is named."""
    is_known: bool = False
    """Whether ``hidden`` knows which of its commands run a program."""


_SQL = FedProgram("-c --command -s -f --file -e --execute -l --list --eval", is_known=True)
_CONSOLE = FedProgram(subcommands="shell console c dbshell dbconsole runner repl ssh")

READERS: Mapping[str, FedProgram] = {
    **dict.fromkeys(("psql", "mysql", "mariadb"), _SQL),
    "sqlite3": FedProgram(operands=1, is_known=True),
    "duckdb": FedProgram("-c -s -f", operands=1, is_known=True),
    **dict.fromkeys(
        ("mysqlsh", "mongo", "mongosh", "sqlcmd", "sqlplus", "isql", "usql", "pgcli", "mycli", "cqlsh"),
        FedProgram("-c --command -f --file -e --execute --eval -Q -q"),
    ),
    **dict.fromkeys(("gdb", "lldb", "pdb", "ftp", "lftp", "sftp", "tnftp"), FedProgram()),
    "dc": FedProgram("-e --expression -f --file", operands=0, is_known=True),
    "gnuplot": FedProgram("-e", operands=0, is_known=True),
    "m4": FedProgram(operands=0, is_known=True),
    "script": FedProgram("-c --command"),
    "nix-shell": FedProgram("--run --command"),
    **dict.fromkeys(
        ("rails", "flask", "django-admin", "manage.py", "scrapy", "heroku", "adb", "vagrant", "jupyter"),
        _CONSOLE,
    ),
}
"""Programs that run commands of their own, some of which run others."""
_FILE = "-f --file --makefile"
_SCRIPTS: Mapping[str, str] = {
    **dict.fromkeys(("sed", "gsed", "make", "gmake", "bmake", "psql", "dc", "R", "docker", "podman"), _FILE),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), "-f --file -E --exec -i --include"),
    **dict.fromkeys(("ninja", "just", "rake", "task"), "-f --justfile --rakefile -t --taskfile"),
    **dict.fromkeys(("lftp", "tmux", "expect", "docker-compose"), _FILE),
    **dict.fromkeys(("gdb", "lldb"), "-x --command -ix -s --source"),
    "sqlite3": "-init",
    "sftp": "-b",
    "screen": "-c",
    "curl": "-K --config",
    "tar": "-T --files-from",
    "cmake": "-P -C",
}
"""Options that name a file with commands, a program or further options."""
_BEFORE_SCRIPT = frozenset({"run", "repl", "eval"})
_PROGRAM_FLAG = re.compile(r"-[A-Za-z]*[ceEmrp].*|--eval.*|--print.*")
_CODE_FLAG = re.compile(r"-[A-Za-z]*c[A-Za-z]*|-Command")
_VALUED_FLAG = re.compile(r"[-+][A-Za-z]*[oO]|--rcfile|--init-file|--emulate")
_INPUT = re.compile(r"-|(?:.*/)?dev/+(?:\./+)*(?:stdin|fd/.*)|(?:.*/)?proc/+[^/]+/+(?:.*/)?fd/.*", re.DOTALL)
_NAMES_FILE = re.compile(r"[/.]")
_IS_CODE = re.compile(r"[\s;(]")
_VERSION = re.compile(r"-?[0-9][0-9.]*$")


def is_input(word: Word) -> bool:
    """Say whether a word names the input of its program, or what another command puts out."""
    return word.text.startswith("<(") or _INPUT.fullmatch(word.text) is not None


def takes_code(command: Command) -> bool:
    """Say whether a program runs its input: it is given no other commands."""
    name = unversioned(command.name)
    if name in READERS:
        return _reads_commands(command, READERS[name])
    if name in SHELLS:
        has_code, script = shell_operand(command)
        return not has_code and (script is None or is_input(script) or "-s" in command.arguments)
    if PYTHON.fullmatch(name):
        return takes_python(command.words)
    if name not in INTERPRETERS:
        return False
    for word in command.words[1:]:
        if is_input(word) or (word.text.startswith("-") and "/dev/" in word.text):
            return True
        if word.text not in _BEFORE_SCRIPT and (
            _PROGRAM_FLAG.fullmatch(word.text) or not word.text.startswith("-")
        ):
            return False
    return True


def _reads_commands(command: Command, reader: FedProgram) -> bool:
    if reader.subcommands and set(reader.subcommands.split()).isdisjoint(subcommands(command.words)):
        return False
    given = list(option_values(command.words, reader.given))
    operands = sum(1 for word in command.words[1:] if not word.text.startswith("-"))
    return all(map(is_input, given)) and operands <= reader.operands


def is_known_reader(name: str) -> bool:
    """Say whether it is known which commands in the input of a program run others."""
    return name in READERS and READERS[name].is_known


def takes_script_from_input(command: Command) -> bool:
    """Say whether an option of a program names its input as the file with its commands, as in ``sed -f -``."""
    options = _SCRIPTS.get(unversioned(command.name))
    return options is not None and any(map(is_input, option_values(command.words, options)))


def may_take_code(command: Command) -> bool:
    """Say whether a word before the script of a shell or interpreter may be ``-c`` when it runs, so that others are code."""
    if not runs_code(command.name):
        return False
    for index in range(1, len(command.words) - 1):
        word = command.words[index]
        if word.computed and not _NAMES_FILE.search(word.text):
            behind = command.words[index + 1 :]
            return unversioned(command.name) in SHELLS or any(_IS_CODE.search(one.text) for one in behind)
        if not word.computed and not is_option(word):
            return False
    return False


def runs_substitution(command: Command, sources: frozenset[str]) -> bool:
    """Say whether a shell runs, or takes in, what another command puts out: ``bash <(…)``, ``bash --rcfile <(…)``."""
    if not runs_code(command.name) and command.name not in sources:
        return False
    first = script_of(command)
    startup = (behind for word, behind in pairwise(command.words) if word.text in STARTUP_FILES)
    return any(one is not None and one.text != "-" and is_input(one) for one in (first, *startup))


def script_of(command: Command) -> Word | None:
    """Return the first operand of a shell or interpreter."""
    if unversioned(command.name) in SHELLS:
        return shell_operand(command)[1]
    return next((word for word in command.words[1:] if word.text[:1] != "-" or word.text == "-"), None)


@lru_cache(maxsize=1024)
def runs_code(name: str) -> bool:
    """Say whether a program is a shell or an interpreter."""
    plain = unversioned(name)
    return plain in SHELLS or plain in INTERPRETERS or PYTHON.fullmatch(name) is not None


def unversioned(name: str) -> str:
    """Return the name of a program without its version: ``php8.2`` is php."""
    if not name or not name[-1].isdigit() or name in READERS:
        return name
    return _VERSION.sub("", name)


def shell_operand(command: Command) -> tuple[bool, Word | None]:
    """Return whether a shell is given code by ``-c``, and its first operand: that code, or else a script."""
    has_code = False
    skips = False
    for word in command.words[1:]:
        if skips:
            skips = False
        elif not word.text.startswith(("-", "+")) or (word.text == "-" and not has_code):
            return has_code, word
        else:
            has_code = has_code or _CODE_FLAG.fullmatch(word.text) is not None
            skips = _VALUED_FLAG.fullmatch(word.text) is not None
    return has_code, None


def fed_code(name: str, fed: Word) -> Iterator[Inner]:
    """Yield what a program runs of a text that is its input."""
    plain = unversioned(name)
    if plain in SHELLS or PYTHON.fullmatch(plain):
        if not fed.literal:
            yield Doubt.FED_SHELL
        yield CommandText(f"{name} <<", fed.text, "bash" if plain in SHELLS else "python")
    elif not fed.literal or not is_known_reader(plain):
        yield Doubt.FED_SHELL
