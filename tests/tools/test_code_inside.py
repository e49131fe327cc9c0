"""run_code and shell through a whole room: what the code finds, and what is said when it ends at a limit."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from venv import EnvBuilder

import pytest

from brasstag import Done, Failed, Outcome, Room
from brasstag.sandbox.process.job import SCRIPT
from tests.conftest import MakeProject

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@dataclass(frozen=True, slots=True)
class Desk:
    """A room that trusts whoever works in it, and its workspace."""

    room: Room
    data: Path

    async def run(self, language: str, code: str, **arguments: Any) -> Outcome:
        return await self.room.call("run_code", {"language": language, "code": code, **arguments})

    async def value(self, language: str, code: str, **arguments: Any) -> dict[str, Any]:
        return value_of(await self.run(language, code, **arguments))

    async def shell(self, command: str, **arguments: Any) -> dict[str, Any]:
        return value_of(await self.room.call("shell", {"command": command, **arguments}))


def value_of(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome, Done), outcome
    found: dict[str, Any] = outcome.value
    return found


@pytest.fixture
async def desk(make_project: MakeProject) -> AsyncIterator[Desk]:
    project = make_project(profile="trusted")
    async with Room.open(project) as room:
        yield Desk(room, project / "data")


async def test_a_command_that_reads_its_input_leaves_the_rest_of_the_script_alone(desk: Desk) -> None:
    value = await desk.value("bash", "echo before\ncat\nread -r line\necho after > after.txt\necho end")
    assert (value["stdout"], value["exit_code"]) == ("before\nend\n", 0)
    assert (desk.data / "after.txt").read_text() == "after\n"
    python = await desk.value("python", "import sys\nprint(repr(sys.stdin.read()))\nprint('end')")
    assert python["stdout"] == "''\nend\n"


async def test_code_gets_its_arguments_and_cannot_change_itself(desk: Desk) -> None:
    value = await desk.value("bash", 'printf "%s|" "$@"; echo x > "$0"', args=["-a", "", "b c"])
    assert value["stdout"] == "-a||b c|"
    assert "Read-only file system" in value["stderr"]
    code = "import os, sys\nprint(sys.argv, __file__, __name__, os.getcwd())\nos.unlink(__file__)"
    python = await desk.value("python", code, args=["-a"])
    assert python["stdout"] == f"['{SCRIPT}', '-a'] {SCRIPT} __main__ /workspace\n"
    assert python["exit_code"] == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
async def test_workers_of_every_kind_run_functions_of_the_code(desk: Desk, method: str) -> None:
    code = f"""
import multiprocessing

def square(number):
    return number * number

if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(square, range(4)))
"""
    value = await desk.value("python", code, timeout=60)
    assert (value["stdout"], value["exit_code"]) == ("[0, 1, 4, 9]\n", 0), value


async def test_a_traceback_shows_the_lines_of_the_code(desk: Desk) -> None:
    value = await desk.value("python", "def half(number):\n    return number / 0  # here\n\nhalf(1)\n")
    assert f'File "{SCRIPT}", line 2, in half\n    return number / 0  # here\n' in value["stderr"]
    assert value["stderr"].count("File ") == 2


async def test_modules_of_the_workspace_come_before_all_others(desk: Desk) -> None:
    for name in ("code", "main", "colorsys"):
        (desk.data / f"{name}.py").write_text(f"WORD = 'our {name}'\n")
    (desk.data / "more").mkdir()
    (desk.data / "more" / "deep.py").write_text("WORD = 'deep'\n")
    code = "import code, colorsys, deep, main\nprint(code.WORD, main.WORD, colorsys.WORD, deep.WORD)"
    value = await desk.value("python", code, env={"PYTHONPATH": "/workspace/more"})
    assert value["stdout"] == "our code our main our colorsys deep\n", value
    assert value["changes"] == []


@pytest.mark.parametrize("ending", ["exit 152", "exit 153", "kill -XCPU $$"])
async def test_an_exit_code_is_the_program_s_own_word_whatever_its_number(desk: Desk, ending: str) -> None:
    value = await desk.value("bash", f"echo kept > kept.txt; {ending}")
    assert value["exit_code"] == (153 if "153" in ending else 152)
    assert (desk.data / "kept.txt").read_text() == "kept\n"


async def test_all_processors_may_be_busy_until_the_time_is_up(desk: Desk) -> None:
    code = "import resource\nprint(resource.getrlimit(resource.RLIMIT_CPU)[0])"
    value = await desk.value("python", code, timeout=20)
    assert int(value["stdout"]) == 20 * len(os.sched_getaffinity(0)) + 1


def commit_all(repository: Path) -> None:
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *who, *words], cwd=repository, check=True, capture_output=True)


@pytest.mark.parametrize("place", [".", "sub/repository"])
async def test_looking_at_a_repository_changes_nothing_in_it(desk: Desk, place: str) -> None:
    repository = desk.data / place
    repository.mkdir(parents=True, exist_ok=True)
    for name in ("a.txt", "b.txt"):
        (repository / name).write_text("one\n")
    commit_all(repository)
    (repository / "a.txt").write_text("two\n")
    # Git takes note of a new time where the content is the same.
    os.utime(repository / "b.txt", (1, 1))
    index = (repository / ".git" / "index").read_bytes()
    value = await desk.shell(
        "git status --short; git diff --stat; git log --format=%s; git show --stat", cwd=place
    )
    assert value["stdout"].startswith(" M a.txt\n a.txt | 2 +-\n"), value
    assert (value["exit_code"], value["changes"]) == (0, []), value
    assert (repository / ".git" / "index").read_bytes() == index


async def test_python_is_the_same_in_code_and_in_commands(desk: Desk) -> None:
    say = "import sys; print(sys.executable, sys.prefix)"
    in_code = await desk.value("python", say)
    for value in (
        await desk.shell(f'python -c "{say}"'),
        await desk.value("bash", f'python -c "{say}"'),
        await desk.value("python", f"import subprocess\nsubprocess.run(['python', '-c', {say!r}])"),
    ):
        assert value["stdout"] == in_code["stdout"], value
    assert in_code["stdout"] == f"{sys.executable} {sys.prefix}\n"


async def test_the_environment_of_the_workspace_is_the_python_of_both(desk: Desk) -> None:
    place = desk.data / ".venv"
    EnvBuilder(symlinks=True).create(place)
    values = [await desk.value("python", "import sys; print(sys.prefix)")]
    values.append(await desk.shell("python -c 'import sys; print(sys.prefix)'; command -v ls"))
    assert [value["stdout"].splitlines()[0] for value in values] == [str(place)] * 2, values
    assert values[1]["exit_code"] == 0


async def test_a_path_of_one_s_own_is_used_as_it_is(desk: Desk) -> None:
    value = await desk.value("bash", 'echo "$PATH"', env={"PATH": "/nowhere"})
    assert value["stdout"] == "/nowhere\n"


LIMITED = {
    "time": ("while :; do sleep 1; done", "TIMEOUT", ["longer than 1.5 s", "larger `timeout`"]),
    "processes": (
        "for i in {1..2000}; do sleep 600 & done; wait",
        "EXECUTION_ERROR",
        ["more than 128 processes", "start fewer", "`processes`"],
    ),
    "memory": (
        "x=$(head -c 200M /dev/zero | tr '\\0' x); y=$x$x$x$x$x$x$x$x; sleep 600",
        "EXECUTION_ERROR",
        ["more than 64 MB of memory", "hold less", "`memory_mb`"],
    ),
    "output": ("yes", "EXECUTION_ERROR", ["more than 80,000 bytes", "print less"]),
}


@pytest.mark.parametrize("limit", LIMITED)
async def test_code_that_is_ended_is_told_the_number_and_what_next(
    make_project: MakeProject, limit: str
) -> None:
    code, error, words = LIMITED[limit]
    settings = "[tools.run_code]\nlimits = { memory_mb = 64, output_bytes = 10000 }\n"
    async with Room.open(make_project(settings, profile="trusted")) as room:
        arguments: dict[str, Any] = {"language": "bash", "code": code}
        outcome = await room.call("run_code", arguments | ({"timeout": 1.5} if limit == "time" else {}))
    assert isinstance(outcome, Failed), outcome
    assert outcome.code == error, outcome
    assert all(word in outcome.message for word in [*words, "nothing it did was kept"]), outcome.message


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"args": ["fine", "a\0b"]}, "INVALID_ARGUMENTS", "'a\\x00b'"),
        ({"env": {"A=B": "x"}}, "INVALID_ARGUMENTS", "'A=B'"),
        ({"env": {"": "x"}}, "INVALID_ARGUMENTS", "''"),
        ({"env": {"NAME": "a\0b"}}, "INVALID_ARGUMENTS", "NAME"),
        ({"args": ["x" * 200_000]}, "TOO_LARGE", "a file of the workspace"),
    ],
)
async def test_what_cannot_be_given_to_a_program_is_named(
    desk: Desk, arguments: dict[str, Any], error: str, words: str
) -> None:
    outcome = await desk.run("bash", "echo never", **arguments)
    assert isinstance(outcome, Failed), outcome
    assert outcome.code == error
    assert words in outcome.message
