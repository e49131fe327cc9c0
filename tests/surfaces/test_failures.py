"""Whatever goes wrong is one paragraph that says what to do next."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from brasstag.surfaces.cli.terminal.failures import paragraph
from brasstag.words.errors import ConfigError, Problem
from tests.surfaces.conftest import Pipe


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "/x"), "/x: Permission denied. Check its owner"),
        (
            OSError(28, "No space left on device"),
            "a file or the output: No space left on device. Free some space",
        ),
        (OSError(5, "Input/output error", b"/x\xff"), "Run `brasstag doctor`"),
        (OSError("odd"), "odd"),
        (RuntimeError("could not determine the home directory for '~'"), "Set HOME, or BRASSTAG_USER_DIR"),
        (ZeroDivisionError("division by zero"), "a mistake of its own: ZeroDivisionError: division by zero"),
        (ConfigError([Problem("f", "a", "is wrong", "Mend it.")]), "f: a: is wrong. Mend it."),
    ],
)
def test_each_says_what_to_do(error: Exception, said: str) -> None:
    assert said in paragraph(error)
    assert "\n" not in paragraph(error)


def test_several_problems_are_all_listed() -> None:
    several = ConfigError([Problem("f", name, "is wrong", "Mend it.") for name in ("a", "b")])
    assert paragraph(several).splitlines()[1:] == ["  f: a: is wrong. Mend it.", "  f: b: is wrong. Mend it."]


def test_a_directory_that_cannot_be_written_is_told(pipe: Pipe, project: Path) -> None:
    # Even root cannot make a directory where a file stands.
    user = project / "file"
    user.write_text("")
    os.environ["BRASSTAG_USER_DIR"] = str(user / "below")
    ended = pipe("call", "list_files")
    assert ended.code == 1
    assert str(user) in ended.err
    assert ended.err.count("\n") == 1


def test_a_user_without_a_home_is_told_what_to_set(project: Path) -> None:
    script = (
        "import os, pwd\n"
        "def nobody(*_): raise KeyError\n"
        "pwd.getpwuid = nobody\n"
        "from brasstag.surfaces.cli.main import main\nmain()\n"
    )
    kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "BRASSTAG_USER_DIR")}
    command = [sys.executable, "-c", script, "call", "list_files"]
    without = {name: value for name, value in kept.items() if not name.startswith("XDG_")}
    ended = subprocess.run(command, cwd=project, env=without, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Set HOME, or BRASSTAG_USER_DIR" in ended.stderr
    given = without | {"BRASSTAG_USER_DIR": os.environ["BRASSTAG_USER_DIR"]}
    ended = subprocess.run(command, cwd=project, env=given, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
