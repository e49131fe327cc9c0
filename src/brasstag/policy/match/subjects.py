"""A call as rules see it: the paths it names and touches, its commands, its other arguments.

Paths come from two places. What a preview saw is the truth. What the arguments name is known before any look, and is
all there is for tools that cannot preview; which arguments are paths is told by their names.

Commands are cut into literal words: quotes and backslashes are dropped, the rest is cut at operators, spaces and
brackets. What a call is known to run is read properly besides, by ``policy.shell``. Either finds what is written, and
nothing that is computed. It routes to a person; the sandbox is the boundary.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from brasstag.words.calls import Call
from brasstag.words.canonical import stored_json
from brasstag.words.previews import ABSENT, DIRECTORY, Fact, Preview

if TYPE_CHECKING:
    from brasstag.policy.shell.commands import CommandReading

_PATH_NAMES = frozenset(
    {
        *("path", "paths", "filepath", "filepaths", "targetpath", "file", "files", "filename", "filenames"),
        *("targetfile", "document", "documents", "directory", "directories", "dir", "folder", "root"),
        *("cwd", "workdir", "saveas", "from", "to", "source", "destination", "src", "dst", "dest", "target"),
    }
)
_COMMAND_NAMES = frozenset({"command", "cmd", "code", "script"})

_RUNNERS = frozenset({"shell", "run_code"})
"""The tools that run what their arguments hold."""

_DROPPED = re.compile(r"\\\n|[\"'\\]")
_BETWEEN_COMMANDS = re.compile(r"[;|&\n]+")
_BETWEEN_WORDS = re.compile(r"[\s()<>{}\[\]`$,]+")
_INSIDE_WORDS = re.compile(r"[=:@]")
_PLAIN_COMMAND = re.compile(r"[\w./:=@,+%-]+(?: [\w./:=@,+%-]+)*", re.ASCII)

NOTHING = Preview()

_CHANGES = (Fact.CREATES, Fact.OVERWRITES, Fact.DELETES, Fact.MOVES)


@lru_cache(maxsize=1024)
def names_path(argument: str) -> bool:
    """Say whether an argument of this name holds a path; ``filePath`` and ``file_path`` are one name."""
    return _squashed(argument) in _PATH_NAMES


@lru_cache(maxsize=1024)
def names_command(argument: str) -> bool:
    """Say whether an argument of this name holds a command or code."""
    return _squashed(argument) in _COMMAND_NAMES


def _squashed(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def plain_path(text: str) -> str:
    """Return a path without ``.``, ``..``, doubled and outer slashes, by its letters only; the root is empty."""
    if text and text[0] not in "/." and text[-1] != "/" and "//" not in text and "/." not in text:
        return text
    steps: list[str] = []
    for step in text.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


def word_lines(text: str) -> str:
    """Return the literal words of commands or code, one to a line, with an empty line between two commands."""
    commands = _BETWEEN_COMMANDS.split(_DROPPED.sub("", text))
    return "\n".join(
        "".join(f"{word}\n" for word in _BETWEEN_WORDS.split(command) if word) for command in commands
    )


def read_lines(reading: "CommandReading") -> str:
    """Return the words that were read in a text, in the form of ``word_lines``."""
    return "\n".join(
        "".join(f"{' '.join(word.text.split())}\n" for word in command.words if word.text.strip())
        for command in reading.commands
    )


def runs_unparsed_python(call: Call) -> bool:
    """Say whether a call runs Python that cannot be parsed here, so that nothing is known of it."""
    code = call.arguments.get("code")
    if not _is_python(call) or not isinstance(code, str):
        return False
    from brasstag.policy.shell.python_code import is_unparsed  # noqa: PLC0415 - most calls run nothing
    from brasstag.policy.shell.read import read_code  # noqa: PLC0415

    return is_unparsed(read_code(code, "python"))


def _is_python(call: Call) -> bool:
    return call.tool == "run_code" and call.arguments.get("language") != "bash"


def is_plain_command(command: str) -> bool:
    """Say whether a command is bare words with single spaces: no quotes, operators, wildcards or second line."""
    return _PLAIN_COMMAND.fullmatch(command) is not None


class Subject:
    """One call and its preview, opened up for rules; what several rules ask is found once."""

    def __init__(self, call: Call, preview: Preview = NOTHING) -> None:
        self.call = call
        self.preview = preview
        touched = () if preview is NOTHING else preview.paths
        self.paths = tuple(dict.fromkeys(map(plain_path, (*_path_texts(call.arguments), *touched))))
        """Every path the call names or its preview touches."""
        # Not cached_property: in Python 3.11 that takes a lock, on the path of every call.
        self.runs = call.tool in _RUNNERS or bool(preview.runs)
        """Whether it runs commands or code."""
        self._commands: tuple[str, ...] | None = None
        self._readings: dict[str, tuple[CommandReading, ...]] = {}
        self._lines: dict[str, tuple[str, ...]] = {}
        self._words: tuple[str, ...] | None = None
        self._counts: Mapping[Fact, int] | None = None

    @cached_property
    def paths_to_cover(self) -> tuple[str, ...]:
        """The paths an allow has to cover: all but directories that are made only to hold another of them.

        Nor what a call saves: whether that may land is judged by itself, once it is known.
        """
        made = {
            plain_path(change.path)
            for change in self.preview.changes
            if (change.before, change.after) == (ABSENT, DIRECTORY)
        }
        saved = {plain_path(path) for path in self.preview.saves}
        if not (made or saved):
            return self.paths
        holding = {above for path in self.paths for above in _above(path)}
        return tuple(path for path in self.paths if path not in (made & holding) | saved)

    @property
    def beyond_paths(self) -> frozenset[Fact]:
        """What it does that its paths do not tell: running, fetching, acting outside, reading unnamed files."""
        preview = self.preview
        told = {
            Fact.READS: preview.untracked_reads,
            Fact.RUNS: self.commands(),
            Fact.FETCHES: preview.fetches,
            Fact.EXTERNAL: preview.external,
        }
        return frozenset(fact for fact, found in told.items() if found)

    @property
    def words_as_paths(self) -> tuple[str, ...]:
        """The words of all commands, and their parts around ``=``, ``:`` and ``@``, read as paths."""
        if self._words is None:
            self._words = self._find_words() if self.commands() else ()
        return self._words

    def _find_words(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for word in self._all_words():
            found.update(
                dict.fromkeys(plain_path(part) for part in (word, *_INSIDE_WORDS.split(word)) if part)
            )
        return tuple(found)

    def _all_words(self) -> Iterator[str]:
        for command in self.commands():
            reading = self._reading(command)
            if reading is not None:
                from brasstag.policy.shell.named_files import words_for_files  # noqa: PLC0415

                yield from words_for_files(reading)
            if reading is None or reading.doubts or reading.language != "bash":
                yield from filter(None, word_lines(command).split("\n"))

    def commands(self, argument: str = "") -> tuple[str, ...]:
        """Return the commands and code in one argument, or in all; what the preview says will run is a ``command``."""
        if argument:
            return self._texts_of([argument], self.preview.runs if argument == "command" else ())
        if self._commands is None:
            held = [name for name in self.call.arguments if names_command(name)]
            self._commands = self._texts_of(held, self.preview.runs)
        return self._commands

    def _texts_of(self, names: Sequence[str], more: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(text for name in names for text in self.values(name)), *more)))

    def readings(self, argument: str = "") -> tuple["CommandReading", ...]:
        """Return what was read in the commands and code that this call runs, of one argument or of all."""
        if not self.runs:
            return ()
        if argument not in self._readings:
            found = [self._reading(text) for text in self.commands(argument)]
            self._readings[argument] = tuple([reading for reading in found if reading is not None])
        return self._readings[argument]

    def command_lines(self, argument: str) -> tuple[str, ...]:
        """Return each command or code in an argument as its words, one to a line, and once more as it was read."""
        if argument not in self._lines:
            self._lines[argument] = (
                *(word_lines(command) for command in self.commands(argument)),
                *(read_lines(reading) for reading in self.readings(argument)),
            )
        return self._lines[argument]

    def _reading(self, text: str) -> "CommandReading | None":
        """Return what was read in a text; None where nothing says that the call runs it."""
        call = self.call
        if call.tool not in _RUNNERS and text not in self.preview.runs:
            return None
        from brasstag.policy.shell.read import read_code  # noqa: PLC0415 - most calls run nothing

        # Where a preview says that it runs nothing, the interpreter has refused to compile it.
        runs_nothing = self.preview is not NOTHING and text not in self.preview.runs
        if runs_nothing and runs_unparsed_python(call):
            return None
        return read_code(text, "python" if _is_python(call) else "bash")

    def values(self, argument: str) -> tuple[str, ...]:
        """Return every text inside an argument: keys and values, at any depth; empty when it was not given."""
        arguments = self.call.arguments
        return tuple(_texts(arguments[argument])) if argument in arguments else ()

    def whole(self, argument: str) -> str | None:
        """Return an argument as one text, JSON where it is not text itself; None when it was not given."""
        arguments = self.call.arguments
        return _as_text(arguments[argument]) if argument in arguments else None

    @property
    def counts(self) -> Mapping[Fact, int]:
        """How often each fact is true of the preview."""
        if self._counts is None:
            self._counts = counts_of(self.preview)
        return self._counts


def counts_of(preview: Preview) -> dict[Fact, int]:
    """Return how often each fact is true, in the order of Fact; facts that are not true are left out."""
    changed = {fact: len(preview.about(fact)) for fact in _CHANGES} if preview.changes else {}
    counted = {
        Fact.READS: len({seen.path for seen in (*preview.reads, *preview.past)}) + preview.untracked_reads,
        **changed,
        Fact.ANNOTATES: len(preview.annotates),
        Fact.RUNS: len(preview.runs),
        Fact.FETCHES: len(preview.fetches),
        Fact.EXTERNAL: int(preview.external),
    }
    return {fact: count for fact, count in counted.items() if count}


def _above(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path


def _path_texts(value: Any, *, named: bool = False) -> list[str]:
    found: list[str] = []
    if isinstance(value, str):
        found += [value] if named else []
    elif isinstance(value, Mapping):
        for key, item in value.items():
            found += [key] if named else []  # such as files = {"a.md": "text"}
            found += _path_texts(item, named=named or names_path(key))
    elif isinstance(value, Sequence):
        for item in value:
            found += _path_texts(item, named=named)
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _texts(item)
    else:
        yield _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else stored_json(value)
