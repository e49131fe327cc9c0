"""The command line as people and programs meet it."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brasstag.app import add_approver
from brasstag.surfaces.cli.main import main
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from tests.surfaces.terminal import Terminal


@dataclass(frozen=True)
class Ended:
    """How a command in a pipe ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Its output, which has to be one JSON document a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        """Its output, which has to be one line."""
        (only,) = self.lines
        return only


class Pipe:
    """The command in a pipe, in this process: nobody is at a terminal. It prints JSON, unless the test says otherwise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Ended:
        """Run a command, and ask for JSON where the arguments do not say in which form."""
        return self.as_typed(*_in_json(arguments), stdin=stdin)

    def as_typed(self, *arguments: str, stdin: bytes = b"") -> Ended:
        """Run a command with these arguments and no other."""
        self._capsys.readouterr()
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        printed = self._capsys.readouterr()
        assert "Traceback" not in printed.err
        return Ended(int(ended.value.code or 0), printed.out, printed.err)


def _in_json(arguments: tuple[str, ...]) -> list[str]:
    """Ask for JSON, as a program does; a command that has no other form is left as it is."""
    has_one_form = "demo" in arguments[:1] or arguments[:2] == ("timeline", "export")
    if has_one_form or {"-o", "--output", "--version", "--help"} & set(arguments):
        return [*arguments]
    place = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:place], "--output", "json", *arguments[place:]]


OpenTerminal = Callable[..., Terminal]


@pytest.fixture
def pipe(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Pipe:
    """Run commands in a project, without a terminal."""
    monkeypatch.chdir(project)
    return Pipe(monkeypatch, capsys)


@pytest.fixture
def terminal(project: Path) -> Iterator[OpenTerminal]:
    """Run commands in a project, at a terminal."""
    with ExitStack() as stack:

        def at_terminal(*arguments: str, columns: int = 80, **environment: str) -> Terminal:
            # What the terminal says of its size counts, not what the environment of the tests says of theirs.
            own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
            chosen = {**own, "TZ": "UTC", "TERM": "xterm-256color", **environment}
            return stack.enter_context(Terminal(project, chosen, *arguments, columns=columns))

        yield at_terminal


@pytest.fixture
def ada(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let Ada decide, with a token."""
    monkeypatch.setenv(TOKEN_VARIABLE, add_approver("ada"))
    return "ada (token)"


@pytest.fixture
def asked(pipe: Pipe, project: Path) -> str:
    """An approval that waits: notes.md would be written over."""
    (project / "data" / "notes.md").write_text("one\ntwo\n")
    ended = pipe("call", "write_file", "path=notes.md", "content=one\nTWO\n")
    assert ended.code == 3
    return str(ended.json["error"]["details"]["approvalId"])
