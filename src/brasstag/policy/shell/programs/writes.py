"""The files that commands write: by redirection, as an operand, by an option, or from inside a small program."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from brasstag.policy.shell.commands import Command, Word
from brasstag.policy.shell.programs.options import behind_subcommands, option_values, subcommands

_OUTPUT = "-o -O --output --out --outfile --output-file --output-document --output-dir"
"""Options that name an output in most programs that have them."""
_OTHERWISE = frozenset(
    {
        "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ls", "ps", "find", "test", "[", "set", "ssh", "scp", "sftp", "mount",
        "lsof", "column", "shopt", "pytest", "chrt", "bash", "sh", "dash", "zsh", "ksh", "nl", "netstat", "pgrep", "unzip",
    }
)  # fmt: skip
"""Programs in which these options mean something else."""
_OPTIONS: Mapping[str, str] = {
    "find": "-fprintf -fprint -fprint0 -fls",
    "curl": "-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr",
    "wget": "-a --append-output -P --directory-prefix",
    "tar": "-C --directory --one-top-level",
    "bsdtar": "-C --directory",
    "unzip": "-d",
    "cpio": "-D --directory",
    "pax": "-f",
    "mktemp": "-p --tmpdir",
    "openssl": "-out -keyout",
    "csplit": "-f --prefix",
    "git": "--output-directory",
    "pip": "-t --target --prefix --root -d --dest -w --wheel-dir",
    "pip3": "-t --target --prefix --root -d --dest -w --wheel-dir",
    "patch": "-r -d --directory",
    "history": "-a -w",
    "valgrind": "--log-file",
    **dict.fromkeys(("cp", "mv", "ln", "install"), "-t --target-directory"),
    "cmake": "-B --install-prefix",
    "cargo": "--target-dir --root",
    "npm": "--prefix --pack-destination",
    "aria2c": "-d --dir",
    "ssh-keygen": "-f",
}
"""Further options whose value is a file or directory that is written, by program."""
_WRITING: Mapping[str, str] = {
    **{name: f"{_OUTPUT} {options}" for name, options in _OPTIONS.items()},
    **{name: _OPTIONS.get(name, "") for name in _OTHERWISE},
}
"""All such options of the programs in which they are not just those of most."""
Operands = Sequence[Word]
Choice = Callable[[Operands], Operands]


def _all(operands: Operands) -> Operands:
    return operands


def _first(operands: Operands) -> Operands:
    return operands[:1]


def _second(operands: Operands) -> Operands:
    return operands[1:2]


def _last(operands: Operands) -> Operands:
    return operands[1:][-1:]


def _final(operands: Operands) -> Operands:
    return operands[-1:]


def _first_two(operands: Operands) -> Operands:
    return operands[:2]


_OPERANDS: Mapping[str, Choice] = {
    **dict.fromkeys(
        ("tee", "truncate", "sponge", "touch", "mkfifo", "virtualenv", "venv", "mktemp", "fallocate"), _all
    ),
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "mkdir"), _all),
    **dict.fromkeys(("cp", "mv", "ln", "rsync", "scp", "split", "ditto"), _last),
    "install": _final,
    **dict.fromkeys(("ffmpeg", "convert", "magick", "pdftotext", "objcopy", "qpdf"), _last),
    **dict.fromkeys(("uniq", "xxd", "ar", "7z", "7za", "7zz", "jar"), _second),
    **dict.fromkeys(("zip", "patch", "script", "cookiecutter"), _first),
    **dict.fromkeys(("tarfile", "zipfile"), _first_two),
    "git clone": _second,
    "git init": _first,
    "git worktree add": _first,
    "git worktree move": _second,
    "git submodule add": _second,
    "git bundle create": _first,
    **dict.fromkeys(("docker cp", "docker container cp", "podman cp", "kubectl cp", "gsutil cp"), _last),
    **dict.fromkeys(("aws s3 cp", "aws s3 sync", "aws s3 mv", "gcloud storage cp"), _last),
    **dict.fromkeys(("cargo new", "cargo init", "uv venv", "uv init", "poetry new", "npm create"), _first),
    **dict.fromkeys(("django-admin startproject", "rails new", "hugo new", "ng new"), _all),
}
"""Which operands name something that is written, by program or subcommand."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    name: tuple(key for key in _OPERANDS if key.partition(" ")[0] == name)
    for name in dict.fromkeys(key.partition(" ")[0] for key in _OPERANDS)
}
_VALUED: Mapping[str, tuple[str, ...]] = {
    "touch": ("-d", "--date", "-r", "--reference", "-t"),
    "truncate": ("-s", "--size", "-r", "--reference"),
    **dict.fromkeys(("mkdir", "mkfifo", "install"), ("-m", "--mode", "-o", "-g")),
    "git": (
        "-b",
        "--branch",
        "--depth",
        "-o",
        "--origin",
        "--reference",
        "-c",
        "--config",
        "-j",
        "-B",
        "--filter",
    ),
    "split": ("-b", "-l", "-n", "-a", "-C", "--bytes", "--lines", "--number"),
    "rsync": ("-e", "--rsh", "--exclude", "--include", "-f", "--filter", "--max-size", "-B"),
    "patch": ("-i", "--input", "-p", "--strip"),
}
"""Options of these programs that take the next word."""
_CLOSED = frozenset({"mkdir"})
"""Programs whose work in a hidden directory of the workspace does nothing yet."""
_REMOVING = frozenset({"rm", "rmdir", "unlink", "shred", "mv", "chmod", "chown", "chgrp"})
_ARCHIVES = frozenset({"tar", "bsdtar", "gtar"})
_ARCHIVING = re.compile(r"-?[A-Za-z]*[cruA][A-Za-z]*|--(?:create|append|update|cat\w*|concat\w*)")
_ABSOLUTE = re.compile(r"-?[A-Za-z]*P[A-Za-z]*|--absolute-n\w*")
_UNPACKED_ELSEWHERE = frozenset({"-c", "--stdout", "--to-stdout", "-t", "--test", "-l", "--list"})
_LOOKING = frozenset(
    {
        "log", "diff", "show", "status", "grep", "blame", "ls-files", "ls-tree", "rev-parse", "rev-list", "describe",
        "cat-file", "shortlog", "remote", "branch", "config", "ls-remote", "var", "help", "version", "check-ignore",
        "merge-base", "for-each-ref", "name-rev", "whatchanged", "count-objects", "symbolic-ref", "show-ref", "reflog",
        "fetch",
    }
)  # fmt: skip
"""Subcommands of git that leave the files of a repository as they are."""
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
    **dict.fromkeys(
        ("sqlite3", "duckdb"),
        (
            re.compile(r"\.(?:o|once|output|backup|save|clone|log|dump)\w*\s+['\"]?([^\s'\"|]+)"),
            re.compile(r"writefile\s*\(\s*'([^']+)'"),
        ),
    ),
    "psql": (re.compile(r"\\[owg]\w*\s+['\"]?([^\s'\"|]+)"), re.compile(r"(?i)\bto\s+'([^']+)'")),
    **dict.fromkeys(
        ("mysql", "mariadb"), (re.compile(r"(?i)(?:\bfile\s+'|\\T\s+|\btee\s+|file\s+')([^\s']+)"),)
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), (re.compile(r">>?\s*\"([^\"]+)\""),)),
}
"""What names a written file inside a small program; the last group is the file."""
_UNPACKING = ("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd")
_ARCHIVE_FILE = "-f --file"
_PLACES = ("GIT_DIR=", "GIT_WORK_TREE=")
_ASKING = ("--get", "--list", "-l")
_REPOSITORY = "-C --git-dir --work-tree"
_LINE_EDITORS = frozenset({"ed", "red", "ex"})
_SAVED = re.compile(r"^[%$.,;\d]*[wW]q?!?[ \t]+(?!!)(\S+)", re.MULTILINE)
"""What an editor is told to write into another file."""
_IN_PLACE = re.compile(r"-[nEruzspla0]*i|--in-?place")
_EDITING = frozenset({"perl", "ruby", *_INSIDE})
"""Programs that change the files they are given, where an option says so."""
_LONGEST_PROGRAM = 2_000

_HARMLESS = re.compile(
    r"\.(?:gitignore|gitattributes|gitkeep|keep|dockerignore|npmignore|prettierignore|eslintignore|editorconfig|nojekyll"
    r"|coverage|python-version|nvmrc|env\.(?:example|sample|template|dist)|cache|venv|tox|nox|tmp|next|build|\w+_cache)"
)
"""Hidden files and directories that no program takes commands from."""
_PASSING = ("/tmp/", "/var/tmp/", "/dev/")  # noqa: S108 - names in commands that are read


def written_files(command: Command) -> Sequence[Word]:
    """Return the files that a command writes, where its words say so."""
    found: Sequence[Word] | None = command.found.get(written_files)
    if found is None:
        found = command.found[written_files] = tuple(_written_files(command))
    return found


def _written_files(command: Command) -> Iterator[Word]:
    yield from command.writes
    words, name = command.words, command.name
    if len(words) < 2:
        return
    for key in _KEYS.get(name, ()):
        yield from _written_operands(command, key)
    if name in _INSIDE:
        programs = (*words[1:], command.fed) if command.fed is not None else words[1:]
        yield from (Word(path) for word in programs for path in _inside(name, word))
    elif name in _ARCHIVES:
        yield from _archives(command)
    elif name == "git":
        yield from _repositories(command)
    if command.fed is not None and name in _LINE_EDITORS:
        yield from (Word(found[1]) for found in _SAVED.finditer(command.fed.text[:_LONGEST_PROGRAM]))
    if name in _EDITING and any(_IN_PLACE.match(word.text) for word in words[1:]):
        yield from (word for word in words[2:] if not word.text.startswith("-"))
    yield from option_values(words, _WRITING.get(name, _OUTPUT))


def _written_operands(command: Command, key: str) -> Iterator[Word]:
    start = behind_subcommands(command, key.split()[1:])
    if start is None or (key.endswith(_UNPACKING) and not _UNPACKED_ELSEWHERE.isdisjoint(command.arguments)):
        return
    valued = _VALUED.get(command.name, ())
    operands: list[Word] = []
    before = ""
    for word in command.words[start:]:
        if before not in valued and (not word.text.startswith("-") or word.text == "-"):
            operands.append(word)
        before = word.text
    yield from _OPERANDS[key](operands)


def _archives(command: Command) -> Iterator[Word]:
    """Yield the archive that tar makes or changes; the options of its first word need no dash."""
    modes = [word.text for word in command.words[1:2] if not word.text.startswith("-")]
    modes += [word.text for word in command.words[1:] if word.text.startswith("-")]
    if any(_ABSOLUTE.fullmatch(one) for one in modes):
        yield Word("/")
    if not any(_ARCHIVING.fullmatch(one) and "x" not in one.removeprefix("--ex") for one in modes):
        return
    if modes[0] == command.words[1].text and "f" in modes[0] and not modes[0].startswith("-"):
        yield from command.words[2:3]
    yield from option_values(command.words, _ARCHIVE_FILE)


def _repositories(command: Command) -> Iterator[Word]:
    """Yield the repository that git is told to change."""
    found = set(subcommands(command.words))
    if _LOOKING.isdisjoint(found):
        yield from option_values(command.words, _REPOSITORY)
        yield from (Word(one.partition("=")[2]) for one in command.assigns if one.startswith(_PLACES))
    elif "config" in found and not any(one.startswith(_ASKING) for one in command.arguments):
        yield from option_values(command.words, "-f --file")


def written_elsewhere(commands: Iterable[Command]) -> Iterator[Command]:
    """Yield the commands that write into a hidden file, or outside of the directory in which they all begin."""
    places: dict[tuple[str, ...], str] = {}
    for command in commands:
        here = _here(places, command.place) if places else "."
        # The parser gives a redirection at the end of a list to all of its commands, so cd comes first.
        if command.name in ("cd", "pushd") and len(command.words) > 1 and command.words[-1].literal:
            here = posixpath.normpath(posixpath.join(here, command.words[-1].text))
            places[command.place] = here
        is_closed = command.name in _CLOSED
        if any(_is_elsewhere(here, word.text, is_closed=is_closed) for word in written_files(command)) or any(
            _is_elsewhere(here, word.text, is_closed=True) for word in _removed_files(command)
        ):
            yield command


def _removed_files(command: Command) -> Sequence[Word]:
    """Return the files that a command deletes, moves away or opens to others."""
    if command.name not in _REMOVING:
        return ()
    return [word for word in command.words[1:] if not word.text.startswith("-")]


def _here(places: Mapping[tuple[str, ...], str], place: tuple[str, ...]) -> str:
    """Return the directory of a command: that of the nearest ``cd`` before it, in its own shell or in one around it."""
    for length in range(len(place), -1, -1):
        if place[:length] in places:
            return places[place[:length]]
    return "."


def _is_elsewhere(here: str, text: str, *, is_closed: bool = False) -> bool:
    if not text or text.startswith(("$", "`", "<(", ">(", "&")) or "://" in text:
        return False  # what is computed is not known
    if text.startswith("~"):
        return True
    path = posixpath.normpath(posixpath.join(here, text))
    if path.startswith("/"):
        return not f"{path}/".startswith(_PASSING)
    steps = path.split("/")
    return steps[0] == ".." or any(
        not is_closed and step[0] == "." and step != "." and not _HARMLESS.fullmatch(step) for step in steps
    )


def _inside(name: str, program: Word) -> Iterator[str]:
    if len(program.text) <= _LONGEST_PROGRAM:
        for expression in _INSIDE[name]:
            yield from (found.groups()[-1].strip() for found in expression.finditer(program.text))
