"""The files that commands write: by redirection, as an operand, by an option, or from inside a small program."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

from brasstag.policy.shell.commands import Command, Word

_OUTPUT = ("-o", "-O", "--output", "--out", "--outfile", "--output-file", "--output-document", "--output-dir")
"""Options that name an output in most programs that have them."""
_OTHERWISE = frozenset(
    {
        "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ls", "ps", "find", "test", "[", "set", "ssh", "scp", "sftp", "mount",
        "lsof", "column", "shopt", "pytest", "chrt", "bash", "sh", "dash", "zsh", "ksh", "nl", "netstat", "pgrep",
    }
)  # fmt: skip
"""Programs in which these options mean something else."""
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "find": ("-fprintf", "-fprint", "-fprint0", "-fls"),
    "curl": ("-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr"),
    "wget": ("-a", "--append-output", "-P", "--directory-prefix"),
    "tar": ("-C", "--directory"),
    "bsdtar": ("-C", "--directory"),
    "unzip": ("-d",),
    "openssl": ("-out", "-keyout"),
    "csplit": ("-f", "--prefix"),
    "git": ("--output-directory",),
    "pip": ("-t", "--target", "--prefix", "--root"),
    "pip3": ("-t", "--target", "--prefix", "--root"),
    "patch": ("-r", "-d", "--directory"),
    "history": ("-a", "-w"),
    "valgrind": ("--log-file",),
    **dict.fromkeys(("cp", "mv", "ln", "install"), ("-t", "--target-directory")),
}
"""Further options whose value is a file or directory that is written, by program."""
_LAST = frozenset({"cp", "mv", "ln", "install", "rsync", "scp", "split", "script"})
"""Programs that write what their last operand names."""
_ALL = frozenset({"tee", "truncate", "sponge"})
"""Programs that write all that their operands name."""
_INSIDE: Mapping[str, tuple[re.Pattern[str], ...]] = {
    **dict.fromkeys(
        ("sed", "gsed"),
        (
            re.compile(r"(?:^|[;{}\n0-9$/IM!])[ \t]*[wW][ \t]+([^\n;}]+)"),
            re.compile(r"(?:^|[;{}\n0-9$!])[ \t]*[wW]([./~][^\n;}]+)"),
            re.compile(
                r"s([/|#,@!:])(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1[gpiImMe0-9]*w\s*([^\n;}]+)",
                re.DOTALL,
            ),
        ),
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), (re.compile(r">>?\s*\"([^\"]+)\""),)),
}
"""What names a written file inside a small program; the last group is the file."""
_IN_PLACE = re.compile(r"-[nEruzspla0]*i|--in-?place")
_EDITING = frozenset({"perl", "ruby", *_INSIDE})
"""Programs that change the files they are given, where an option says so."""
_CLUSTER = re.compile(r"-(?P<letters>[A-Za-z]+).*", re.DOTALL)
"""Options of one letter each; the value of the last may be glued to it."""
_LONGEST_PROGRAM = 2_000

_HARMLESS = re.compile(
    r"\.(?:gitignore|gitattributes|gitkeep|keep|dockerignore|npmignore|prettierignore|eslintignore|editorconfig|nojekyll"
    r"|coverage|python-version|nvmrc|env\.(?:example|sample|template|dist)|cache|venv|tox|nox|tmp|next|build|\w+_cache)"
)
"""Hidden files and directories that no program takes commands from."""
_PASSING = ("/tmp/", "/var/tmp/", "/dev/")  # noqa: S108 - names in commands that are read


def written_files(command: Command) -> Iterator[Word]:
    """Yield the files that a command writes, where its words say so."""
    yield from command.writes
    words, name = command.words, command.name
    if name in _ALL:
        yield from (word for word in words[1:] if not word.text.startswith("-"))
    elif name in _LAST:
        yield from words[2:][-1:]
    elif name in _INSIDE:
        yield from (Word(path) for word in words[1:] for path in _inside(name, word))
    if name in _EDITING and any(_IN_PLACE.match(word.text) for word in words[1:]):
        yield from (word for word in words[2:] if not word.text.startswith("-"))
    options = (*_OPTIONS.get(name, ()), *(() if name in _OTHERWISE else _OUTPUT))
    letters = {option[1] for option in options if len(option) == 2}
    for index, word in enumerate(words[1:], 1):
        option, equals, value = word.text.partition("=")
        if option not in options:
            cluster = _CLUSTER.fullmatch(word.text)
            at = (
                next((at for at, one in enumerate(cluster["letters"]) if one in letters), -1)
                if cluster
                else -1
            )
            if at < 0:
                continue
            equals = value = word.text[at + 2 :]
        if equals:
            yield Word(value, word.computed, word.pattern)
        elif index + 1 < len(words):
            yield words[index + 1]


def written_elsewhere(commands: Iterable[Command]) -> Iterator[Command]:
    """Yield the commands that write into a hidden file, or outside of the directory in which they all begin."""
    here = "."
    for command in commands:
        # The parser gives a redirection at the end of a list to all of its commands, so cd comes first.
        if command.name == "cd" and len(command.words) > 1 and command.words[1].literal:
            here = posixpath.normpath(posixpath.join(here, command.words[1].text))
        if any(_is_elsewhere(here, word.text) for word in written_files(command)):
            yield command


def _is_elsewhere(here: str, text: str) -> bool:
    if not text or text.startswith(("$", "`", "<(", ">(", "&")) or "://" in text:
        return False  # what is computed is not known
    if text.startswith("~"):
        return True
    path = posixpath.normpath(posixpath.join(here, text))
    if path.startswith("/"):
        return not f"{path}/".startswith(_PASSING)
    steps = path.split("/")
    return steps[0] == ".." or any(
        step[0] == "." and step != "." and not _HARMLESS.fullmatch(step) for step in steps
    )


def _inside(name: str, program: Word) -> Iterator[str]:
    if len(program.text) <= _LONGEST_PROGRAM:
        for expression in _INSIDE[name]:
            yield from (found.groups()[-1].strip() for found in expression.finditer(program.text))
