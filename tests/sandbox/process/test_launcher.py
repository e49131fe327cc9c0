"""The launcher ends with the process that started it, and leaves nothing of what it started."""

import ast
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from brasstag.sandbox.process.backend import Wires
from brasstag.sandbox.process.changes.layers import open_layer
from brasstag.sandbox.process.confine import launcher
from brasstag.sandbox.process.confine.bubblewrap import Bubblewrap
from brasstag.sandbox.process.confine.start import NotConfined
from brasstag.sandbox.process.detect import programs
from brasstag.sandbox.process.job import Job
from brasstag.sandbox.process.run.job_run import run_job
from tests.sandbox.process.support import REPOSITORY, running_with, until
from tests.sandbox.support import open_workspace

STARTER = """
import os, sys
from brasstag.sandbox.process.confine.spawn import _current, start_program
inside, leash = os.pipe()
_, gate = os.pipe()
wanted = {"argv": sys.argv[1:], "environment": {}, "wires": [0, 1, 2], "limits": [], "layer": None, "door": 0,
          "cgroup": ""}
started = start_program(wanted, [inside, gate, 0, 1, 2])
os.close(inside)
assert started.failure() is None
print(_current().pid, flush=True)
sys.stdin.read()
"""
# What a backend is before it is set up: the first process of a namespace waits for its parent, and does not die with it.
BACKEND = """
import ctypes, os, time
CLONE_NEWUSER, CLONE_NEWPID = 0x10000000, 0x20000000
assert ctypes.CDLL(None).unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0
waiting = os.eventfd(0)
if os.fork() == 0:
    print("waiting", flush=True)
    os.eventfd_read(waiting)
else:
    time.sleep(3600)
"""
RUNS = """
import sys, tempfile
from pathlib import Path
from brasstag.sandbox.process.job import Job
from brasstag.sandbox.process.sandbox import Sandbox
from tests.sandbox.support import open_workspace
project = Path(sys.argv[1])
with open_workspace(project) as workspace:
    sandbox = Sandbox(workspace, project / "data", project / "scratch")
    sandbox.standing()
    print("ready", flush=True)
    while True:
        with sandbox.run(Job(("/bin/sleep", "0.001", sys.argv[2]))) as work:
            pass
"""

# A job that stands at its gate: nothing but its starter's word keeps it from running.
GATED = """
import sys
from contextlib import ExitStack
from pathlib import Path
from brasstag.sandbox.process.changes.layers import open_layer
from brasstag.sandbox.process.confine.bubblewrap import Bubblewrap
from brasstag.sandbox.process.confine.spawn import _current
from brasstag.sandbox.process.confine.start import start_job
from brasstag.sandbox.process.job import Job
from tests.sandbox.support import open_workspace
project, job = Path(sys.argv[1]), Job(("/bin/sh", "-c", "sleep 3600; :", sys.argv[2]))
with open_workspace(project) as workspace, open_layer(workspace, project / "scratch", job) as layer, ExitStack() as held:
    start_job(job, layer, Bubblewrap(Path(sys.argv[3]), "0"), None, held)
    print(_current().pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def mark() -> Iterator[str]:
    mark = f"mark-{uuid.uuid4()}"
    yield mark
    for left in running_with(mark):
        os.kill(left, signal.SIGKILL)


def start(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])},
        start_new_session=True,
    )


def end(starter: subprocess.Popen[bytes]) -> None:
    assert starter.stdin is not None
    assert starter.stdout is not None
    starter.stdin.close()
    starter.stdout.close()
    starter.wait()


def test_it_imports_nothing_but_the_standard_library_and_its_own_files() -> None:
    files = list(Path(launcher.__path__[0]).glob("*.py"))
    assert len(files) > 1
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                assert {one.name for one in node.names} <= sys.stdlib_module_names, file
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or str(node.module).split(".")[0] in sys.stdlib_module_names, file


@pytest.mark.parametrize("how", ["killed", "ended", "killed with the launcher"])
def test_what_waits_for_a_program_that_goes_with_its_starter_goes_too(mark: str, how: str) -> None:
    starter = start(STARTER, sys.executable, "-c", BACKEND, mark)
    assert starter.stdout is not None
    said = {starter.stdout.readline(), starter.stdout.readline()} - {b"waiting\n"}
    # The starter, whose command line holds it, too, the program and its child.
    assert len(running_with(mark)) == 3
    if how == "killed with the launcher":
        os.kill(int(said.pop()), signal.SIGKILL)
        # The program dies with the launcher; its child waits for it.
        until(lambda: len(running_with(mark)) == 2)
    if how != "ended":
        starter.kill()
    end(starter)
    until(lambda: not running_with(mark))


class NeverReady(Bubblewrap):
    """A backend that never gets as far as its first confined process."""

    def command(self, job: Job, _wires: Wires) -> list[str]:
        return [sys.executable, "-c", BACKEND, *job.argv]


def test_a_run_whose_backend_is_killed_before_it_is_set_up_is_refused_and_leaves_nothing(
    tmp_path: Path, mark: str
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "scratch").mkdir()
    job = Job((mark,))

    def kill_backend() -> None:
        until(lambda: len(running_with(mark)) == 2)
        os.kill(min(running_with(mark)), signal.SIGKILL)

    with (
        open_workspace(tmp_path) as workspace,
        open_layer(workspace, tmp_path / "scratch", job) as layer,
        ThreadPoolExecutor(1) as aside,
    ):
        killed = aside.submit(kill_backend)
        with pytest.raises(NotConfined):
            run_job(job, layer, NeverReady(Path("bwrap"), "0"))
        killed.result()
    until(lambda: not running_with(mark))


@pytest.mark.skipif(next(programs(REPOSITORY, ""), None) is None, reason="no bubblewrap here")
def test_a_job_at_its_gate_never_runs_where_launcher_and_starter_are_killed(
    tmp_path: Path, mark: str
) -> None:
    for name in ("data", "scratch"):
        (tmp_path / name).mkdir()
    starter = start(GATED, str(tmp_path), mark, str(next(programs(REPOSITORY, ""))))
    assert starter.stdout is not None
    launcher = int(starter.stdout.readline())
    before = running_with(mark)
    os.kill(launcher, signal.SIGKILL)
    # The backend dies with the launcher; its first confined process waits at the gate.
    until(lambda: len(running_with(mark)) < len(before))
    starter.kill()
    end(starter)
    until(lambda: not running_with(mark))


def storm(project: Path, mark: str, kills: int) -> None:
    """Kill a process that runs one job after the other, each time a little later; nothing of it may be left."""
    (project / "data").mkdir()
    for number in range(kills):
        starter = start(RUNS, str(project), mark)
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"ready\n"
        until(lambda: len(running_with(mark)) > 1)
        for _ in range(number * 200):
            """Be a little later each time, without a clock."""
        starter.kill()
        end(starter)
    until(lambda: not running_with(mark))


@pytest.mark.skipif(next(programs(REPOSITORY, ""), None) is None, reason="no bubblewrap here")
def test_a_starter_that_is_killed_again_and_again_leaves_no_process(tmp_path: Path, mark: str) -> None:
    storm(tmp_path, mark, 4)


@pytest.mark.slow
@pytest.mark.skipif(next(programs(REPOSITORY, ""), None) is None, reason="no bubblewrap here")
def test_a_storm_of_kills_leaves_no_process(tmp_path: Path, mark: str) -> None:
    storm(tmp_path, mark, 200)
