"""Transcripts: a console block of a page is played at a terminal of our own, and has to go as the page shows it.

What differs from run to run is written off: ids, hashes, times, who we are, and where the home directory is. A line
``…`` stands for any number of lines, and ``…`` within a line for anything. An id that a page shows once stands for the
real one from then on, whole or by its tail. What a page shows after a question of ours is typed there.
"""

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from brasstag.app import user_name
from brasstag.surfaces.cli.main import main
from tests.pages import Block

HOME = "/home/ada"
"""Where pages say that they are."""

_NOT_OURS = frozenset({"make", "pip", "git", "uv"})
"""Commands a page may show that are not played here."""

_ID = r"(?:apr|boot|call|iss|key|mem|prp|room|tag|task)_[0-9a-z]{20,}"
_DATE = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d(?:\.\d+)?Z?"
_CHANGING = (
    (re.compile(_ID), lambda found: found[0].partition("_")[0]),
    (re.compile(rf"{_CLOCK}  [0-9a-z]{{6}}  "), "TIME  TASK  "),
    (re.compile(r"(?<=  )[0-9a-z]{8}$|^[0-9a-z]{8}(?=  )|(?<=  )[0-9a-f]{8}(?=  )"), "TAIL"),
    (re.compile(rf"{_DATE}[T ]{_CLOCK}|{_DATE}|{_CLOCK}"), "TIME"),
    (re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b"), "HASH"),
)
_NAMES = re.compile(rf"{_ID}|(?<=  )[0-9a-z]{{8}}$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ME = re.escape(user_name())
_OURSELVES = re.compile(rf"(?<=cli:){_ME}(?=[ ,]|$)|(?<= ){_ME}(?= \(terminal\))")
"""Whoever runs the tests plays Ada."""
_QUESTION = re.compile(r"^(?:why\?|your answer, or Enter for later|.*\? \[[^\]]+\]): (?P<answer>.*)$")


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a transcript and what the page says it prints."""

    line: int
    command: str
    shown: list[str]

    @property
    def answers(self) -> list[str]:
        """What is typed while it runs."""
        return [found["answer"] for line in self.shown if (found := _QUESTION.match(line))]


class Screen(io.StringIO):
    """A terminal to print on."""

    def isatty(self) -> bool:
        return True


class Keyboard(io.StringIO):
    """A terminal to type at; it echoes, as terminals do."""

    def __init__(self, answers: list[str], screen: Screen) -> None:
        super().__init__("".join(f"{answer}\n" for answer in answers))
        self._screen = screen

    def isatty(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        typed = super().readline(-1 if size is None else size)
        self._screen.write(typed)
        return typed


@dataclass
class Shell:
    """Somebody at a terminal, in their home directory."""

    home: Path
    monkeypatch: pytest.MonkeyPatch
    known: dict[str, str] = field(default_factory=dict)
    """The ids a page has shown, and the real ones."""
    status: int = 0

    def play(self, block: Block) -> None:
        """Run every command of a block and compare."""
        for step in steps_of(block):
            printed = self._run(step)
            if not step.shown:
                assert self.status == 0, f"{block}: `{step.command}` ended with {self.status}:\n{printed}"
            elif printed is not None:
                self._compare(step, printed.splitlines(), f"{block}, line {step.line}")

    def _run(self, step: Step) -> str | None:
        words = shlex.split(step.command, comments=True)
        if words == ["echo", "$?"]:
            return str(self.status)
        self.status = 0
        match words:
            case ["brasstag", *arguments]:
                return self._brasstag([self._real(word) for word in arguments], step.answers)
            case ["python", *arguments]:
                ended = subprocess.run(
                    [sys.executable, *arguments], capture_output=True, text=True, check=False
                )
                self.status = ended.returncode
                return ended.stdout + ended.stderr
            case ["cd", place]:
                self.monkeypatch.chdir(Path.cwd() / place)
                return ""
            case ["echo", said, ">", place]:
                Path(place).write_text(f"{said}\n")
                return ""
            case ["mv", old, new]:
                Path(old).rename(new)
                return ""
            case ["export", setting]:
                self.monkeypatch.setenv(*setting.replace(HOME, str(self.home)).split("=", 1))
                return ""
            case [command, *_] if command in _NOT_OURS:
                return None
        raise AssertionError(f"nobody knows how to play `{step.command}`")

    def _brasstag(self, arguments: list[str], answers: list[str]) -> str:
        screen = Screen()
        with self.monkeypatch.context() as terminal:
            terminal.setattr(sys, "stdin", Keyboard(answers, screen))
            terminal.setattr(sys, "stdout", screen)
            terminal.setattr(sys, "stderr", screen)
            try:
                main(arguments)
            except SystemExit as ended:
                self.status = int(ended.code or 0)
        printed = _COLOUR.sub("", screen.getvalue()).replace(str(self.home), HOME)
        return _OURSELVES.sub("ada", printed)

    def _real(self, word: str) -> str:
        """The word as it is in this run: ids and tails of ids are those of this run."""
        for shown, real in self.known.items():
            if len(word) >= 6 and shown.endswith(word):
                return real[-len(word) :]
        return word

    def _compare(self, step: Step, printed: list[str], where: str) -> None:
        left = iter(line.rstrip() for line in printed)
        skipping = False
        for line in step.shown:
            if line == "…":
                skipping = True
                continue
            found = next(left, None)
            while skipping and found is not None and not _alike(line, found):
                found = next(left, None)
            told = "\n".join(printed)
            assert found is not None, f"{where}: {line!r} was not printed, but\n{told}"
            assert _alike(line, found), f"{where}: {line!r} was shown, {found!r} was printed in\n{told}"
            self.known.update(zip(_NAMES.findall(line), _NAMES.findall(found), strict=False))
            skipping = False
        rest = [line for line in left if line]
        assert skipping or not rest, f"{where}: more was printed: {rest}"


def steps_of(block: Block) -> Iterator[Step]:
    """The commands of a console block; a quoted text may run over several lines."""
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"{block}: a transcript begins with a command, not {lines[at]!r}"
        start = at
        command = lines[at][2:]
        while _is_open(command):
            at += 1
            command += f"\n{lines[at]}"
        at += 1
        shown = []
        while at < len(lines) and not lines[at].startswith("$ "):
            shown.append(lines[at].rstrip())
            at += 1
        yield Step(block.line + start, command, shown)


def _is_open(command: str) -> bool:
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return True
    return False


def _alike(shown: str, printed: str) -> bool:
    pieces = [re.escape(_settled(piece)) for piece in _settled(shown).split("…")]
    return re.fullmatch(".*".join(pieces), _settled(printed)) is not None


def _settled(line: str) -> str:
    for pattern, stands_for in _CHANGING:
        line = pattern.sub(stands_for, line)
    return line.rstrip()


def settle_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Give somebody called Ada a home directory, a terminal and keys of her own."""
    home.mkdir()
    for name, value in {
        "HOME": str(home),
        "COLUMNS": "100",
        "LINES": "40",
        "TERM": "dumb",
        "BRASSTAG_USER_DIR": str(home / ".config" / "brasstag"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("BRASSTAG_APPROVER_TOKEN", raising=False)
    monkeypatch.chdir(home)
    return Shell(home, monkeypatch)
