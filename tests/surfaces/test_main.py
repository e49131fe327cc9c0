"""The program as a shell starts it: entry points, help, streams that are closed, full or of another encoding."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import brasstag
from brasstag.surfaces.cli.main import app
from tests.surfaces.conftest import Pipe


def commands(command: Any, path: list[str]) -> Iterator[list[str]]:
    """Every command, by the words that lead to it."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, [*path, name])


COMMAND = str(Path(sys.executable).with_name("brasstag"))


def shell(script: str, project: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    chosen = {**os.environ, "B": f"{sys.executable} -P -m brasstag", **environment}
    return subprocess.run(["bash", "-c", script], cwd=project, env=chosen, capture_output=True, check=False)


class TestHelp:
    def test_it_loads_nothing_heavy(self) -> None:
        script = (
            "import sys\nfrom brasstag.surfaces.cli.main import main\nfor words in sys.argv[1:]:\n"
            "    try:\n        main(words.split())\n    except SystemExit:\n        pass\n"
            "    print(sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
        )
        heavy = {"sqlalchemy", "alembic", "rich", "jsonschema_rs", "re2", "uuid_utils", "filelock"}
        # Typer itself reads the options before a command with pydantic.
        too_much = {
            "--help": heavy | {"pydantic"},
            "call --help": heavy,
            "approvals approve --help": heavy,
            "run --help": heavy,
            "tasks --help": heavy,
        }
        ended = subprocess.run(
            [sys.executable, "-c", script, *too_much], capture_output=True, text=True, check=True
        )
        for words, line in zip(too_much, ended.stderr.splitlines(), strict=True):
            loaded = set(json.loads(line.replace("'", '"')))
            assert "typer" in loaded
            assert loaded & too_much[words] == set()

    def test_every_command_has_one_and_fits_80_columns(self, pipe: Pipe) -> None:
        for path in commands(typer.main.get_command(app), []):
            ended = pipe(*path, "--help")
            assert ended.code == 0
            assert max(map(len, ended.out.splitlines())) <= 80
            listed = ended.out.partition("Commands:")[2]
            assert "..." not in listed, path

    def test_values_are_named_in_plain_words_and_not_by_python_types(self, pipe: Pipe) -> None:
        for path in commands(typer.main.get_command(app), []):
            # Only a choice, such as <people|json>, stands between these signs.
            assert re.findall(r"<[^|>]*>", pipe(*path, "--help").out) == [], path

    def test_the_version(self, pipe: Pipe) -> None:
        ended = pipe("--version")
        assert (ended.code, ended.out) == (0, f"{brasstag.__version__}\n")

    @pytest.mark.parametrize("arguments", [["nothing"], ["--nothing"], ["approvals", "nothing"], []])
    def test_what_is_not_understood_exits_2(self, pipe: Pipe, arguments: list[str]) -> None:
        assert pipe(*arguments).code == 2


class TestEntryPoints:
    def test_the_script_and_the_module_are_one(self, project: Path) -> None:
        for start in ([COMMAND], [sys.executable, "-P", "-m", "brasstag"]):
            ended = subprocess.run(
                [*start, "call", "read_file", "path=nothing.md", "-o", "json"],
                cwd=project,
                capture_output=True,
                check=False,
            )
            assert ended.returncode == 1
            assert json.loads(ended.stdout)["error"]["code"] == "FILE_NOT_FOUND"
            ended = subprocess.run([*start, "call"], cwd=project, capture_output=True, check=False)
            assert ended.returncode == 2
            assert ended.stderr.startswith(b"Usage: brasstag call ")


PLANTED = (
    "typer",
    "sqlalchemy",
    "pydantic",
    "json",
    "asyncio",
    "sqlite3",
    "tomllib",
    "click",
    "rich",
    "brasstag_more",
    # What the package itself imports, before its __main__ can refuse anything.
    "ast",
    "inspect",
    "pathlib",
    "re",
    "typing",
)
"""Modules that the command line imports, or an agent may hope that it does."""


class TestSafePath:
    """Agents write into the workspace, which may be the current directory; Python must not import from there."""

    @pytest.fixture
    def planted(self, project: Path) -> Path:
        """A current directory in which files of an agent have the names of modules, and say so when they are run."""
        for name in PLANTED:
            (project / f"{name}.py").write_text(f"open('ran', 'a').write({name!r})\nraise SystemExit(99)\n")
        return project

    def test_the_module_is_refused_without_it_before_it_imports_the_command_line(self, planted: Path) -> None:
        for arguments in (["--version"], ["call", "list_files"], ["worker"]):
            ended = subprocess.run(
                [sys.executable, "-m", "brasstag", *arguments], cwd=planted, capture_output=True, check=False
            )
            assert ended.returncode == 2
            assert b"python -P -m brasstag" in ended.stderr
            assert ended.stdout == b""
        assert not (planted / "ran").exists()

    @pytest.mark.parametrize("start", [["-P"], ["-I"], []], ids=["-P", "-I", "PYTHONSAFEPATH"])
    def test_with_it_nothing_in_the_current_directory_is_imported(
        self, planted: Path, start: list[str]
    ) -> None:
        environment = os.environ if start else {**os.environ, "PYTHONSAFEPATH": "1"}
        ended = subprocess.run(
            [sys.executable, *start, "-m", "brasstag", "call", "list_files", "-o", "json"],
            cwd=planted,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["ok"]
        assert not (planted / "ran").exists()

    def test_the_command_imports_nothing_from_there_either(self, planted: Path) -> None:
        ended = subprocess.run([COMMAND, "call", "list_files"], cwd=planted, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr
        assert not (planted / "ran").exists()

    def test_every_python_that_is_started_has_it(self) -> None:
        started = [
            (file.name, words)
            for file in Path(brasstag.__file__).parent.rglob("*.py")
            for words in command_lines(ast.parse(file.read_text()))
        ]
        assert {name for name, _ in started} >= {"detached.py", "spawn.py", "pages.py"}
        assert [one for one in started if not {"-P", "-I"} & set(one[1])] == []


def command_lines(tree: ast.AST) -> Iterator[list[str]]:
    """Find the command lines in a module that begin with the Python that runs it; return their plain words."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.List | ast.Tuple)
            and node.elts
            and ast.unparse(node.elts[0]) == "sys.executable"
        ):
            yield [word.value for word in node.elts if isinstance(word, ast.Constant)]


class TestStreams:
    def test_closed_ones_harm_nothing(self, project: Path) -> None:
        ended = shell("$B call list_files <&- >&- 2>&- && $B timeline verify -o json <&-", project)
        assert ended.returncode == 0, ended.stderr
        # Had the database come to lie on descriptor 1, this would not hold.
        verified = json.loads(ended.stdout)
        assert verified["ok"] is True
        assert verified["entries"] == 3

    def test_a_reader_that_has_seen_enough_is_no_error_worth_telling(self, project: Path) -> None:
        ended = shell("$B tools schema | true; $B tools -o people | true", project)
        assert ended.stderr == b""

    def test_a_full_disk_behind_the_output_is_told(self, project: Path) -> None:
        ended = shell("$B call list_files > /dev/full", project)
        assert ended.returncode == 1
        assert b"No space left on device. " in ended.stderr
        assert b"Traceback" not in ended.stderr

    def test_programs_read_utf_8_whatever_the_locale_says(self, project: Path) -> None:
        (project / "data" / "ü.md").write_text("→ ü\n")
        for encoding in ("ascii", "latin-1"):
            ended = shell(
                '$B call read_file -o json --stdin <<< \'{"path": "\\u00fc.md"}\'',
                project,
                PYTHONIOENCODING=encoding,
            )
            assert json.loads(ended.stdout.decode())["value"]["content"] == "→ ü\n"

    def test_a_terminal_of_another_encoding_still_shows_everything(self, project: Path) -> None:
        (project / "data" / "a.md").write_text("→ ü\n")
        script = "import sys\nsys.stdout.reconfigure(encoding='ascii')\nsys.stdout.isatty = lambda: True\n"
        script += "from brasstag.surfaces.cli.main import main\nmain(['call', 'read_file', 'path=a.md', '-o', '{}'])"
        for output, expected in (("people", b"\\u2192 \\xfc"), ("json", b'"\\u2192 \\u00fc\\n"')):
            ended = subprocess.run(
                [sys.executable, "-c", script.replace("{}", output)],
                cwd=project,
                capture_output=True,
                check=True,
            )
            assert expected in ended.stdout
