"""Workers: serving every run, in the foreground and in the background; leaving in order."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.conftest import MakeProject
from tests.engine.crews import CREW, call, turn, write_script
from tests.surfaces.commands.test_run import asking, delegating
from tests.surfaces.conftest import Pipe
from tests.surfaces.holding import DEADLINE_SECONDS, add_hold, wait_begun


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project(CREW)


class Worker:
    """A worker in a process of its own."""

    def __init__(self, project: Path, *arguments: str) -> None:
        command = [sys.executable, "-P", "-m", "brasstag", "worker", "-o", "json", *arguments]
        self.process = subprocess.Popen(
            command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def hears(self, event: str) -> None:
        """Wait until it says so."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if json.loads(line)["event"] == event:
                return
        raise AssertionError(f"it never said {event}: {self.process.communicate()}")

    def ends(self) -> int:
        """Wait for its end."""
        self.out, self.err = self.process.communicate(timeout=DEADLINE_SECONDS)
        return self.process.returncode


StartWorker = Callable[..., Worker]


@pytest.fixture
def start_worker(project: Path) -> Iterator[StartWorker]:
    with ExitStack() as stack:

        def start(*arguments: str) -> Worker:
            worker = Worker(project, *arguments)
            stack.enter_context(worker.process)
            stack.callback(worker.process.kill)
            return worker

        yield start


def statuses(pipe: Pipe) -> list[str]:
    return [task["status"] for task in pipe("tasks").lines]


def wait_until(pipe: Pipe, expected: list[str]) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while statuses(pipe) != expected:
        assert time.monotonic() < until, pipe("tasks").out
        time.sleep(0.05)


class TestUntilIdle:
    def test_it_works_off_what_there_is_says_so_and_leaves(self, pipe: Pipe, project: Path, ada: str) -> None:
        asking(project)
        last = pipe("run", "Do it").lines[-1]
        pipe("approvals", "approve", last["approvals"][0]["approvalId"])
        pipe("answer", last["questions"][0]["question"], "Blue")
        ended = pipe("worker", "--until-idle")
        assert ended.code == 0
        assert [line["event"] for line in ended.lines] == ["serving", "takes", "leaves", "left"]
        assert ended.lines[2]["status"] == "done"
        assert statuses(pipe) == ["done", "done"]

    def test_what_waits_for_people_does_not_keep_it(self, pipe: Pipe, project: Path) -> None:
        asking(project)
        pipe("run", "Do it")
        assert pipe("worker", "--until-idle").code == 0
        assert statuses(pipe) == ["blocked", "blocked"]

    def test_with_linger_it_waits_for_people(
        self, pipe: Pipe, project: Path, ada: str, start_worker: StartWorker
    ) -> None:
        asking(project)
        last = pipe("run", "Do it").lines[-1]
        worker = start_worker("--until-idle", "--linger", "600")
        worker.hears("serving")
        approved = pipe("approvals", "approve", last["approvals"][0]["approvalId"])
        assert approved.json["served"] is True
        assert pipe("answer", last["questions"][0]["question"], "Blue").json["served"] is True
        assert worker.ends() == 0
        assert statuses(pipe) == ["done", "done"]

    def test_people_read_short_lines(self, pipe: Pipe, project: Path, ada: str) -> None:
        asking(project)
        last = pipe("run", "Do it").lines[-1]
        pipe("answer", last["questions"][0]["question"], "Blue")
        said = pipe("worker", "--until-idle", "-o", "people").out
        assert f"▸ boss       {last['run'][-8:]}  Do it" in said
        assert f"◌ boss       {last['run'][-8:]}  blocked" in said

    @pytest.mark.parametrize(
        "arguments", [["--concurrency", "0"], ["--linger", "-1"], ["--linger", "5"], ["--concurrency", "x"]]
    )
    def test_what_cannot_be_meant_is_a_usage_error(self, pipe: Pipe, arguments: list[str]) -> None:
        assert pipe("worker", *arguments).code == 2


class TestLeaving:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_drains_and_ends_with_0(
        self, pipe: Pipe, project: Path, start_worker: StartWorker, number: signal.Signals
    ) -> None:
        go = add_hold(project)
        write_script(project, {"boss": [turn(call("hold", until=str(go))), turn(text="Held.")]})
        worker = start_worker()
        worker.hears("serving")
        assert pipe("run", "Hold", "--detach").code == 0
        wait_begun(go)
        worker.process.send_signal(number)
        go.touch()
        assert worker.ends() == 0
        assert "Draining" in worker.err
        assert statuses(pipe) == ["ready"]
        assert pipe("worker", "--until-idle").code == 0
        assert statuses(pipe) == ["done"]

    def test_killed_it_is_missed_at_once(self, pipe: Pipe, start_worker: StartWorker) -> None:
        worker = start_worker()
        worker.hears("serving")

        def said() -> str:
            return next(line["found"] for line in pipe("doctor").lines if line["what"] == "worker")

        assert said() == "one serves every run"
        worker.process.kill()
        worker.ends()
        assert said().startswith("none;")


class TestDetached:
    def test_a_run_goes_on_in_the_background_without_our_token(
        self, pipe: Pipe, project: Path, ada: str
    ) -> None:
        delegating(project)
        ended = pipe("run", "Sum up raw.csv", "-d", "raw.csv", "--detach")
        assert ended.code == 0, ended.err
        last = ended.lines[-1]
        assert last["event"] == "detached"
        watched = pipe("watch", last["task"])
        assert watched.code == 0
        assert watched.lines[-1]["result"] == {"sum": 3}
        log = project / ".brasstag" / "worker.log"
        until = time.monotonic() + DEADLINE_SECONDS
        while "Left;" not in log.read_text():
            assert time.monotonic() < until
            time.sleep(0.05)
        assert "takes" not in log.read_text(), "it is written for people"
        assert "▸ boss" in log.read_text()

    def test_a_second_run_goes_to_the_worker_that_is_there(
        self, pipe: Pipe, project: Path, start_worker: StartWorker
    ) -> None:
        delegating(project)
        worker = start_worker()
        worker.hears("serving")
        last = pipe("run", "Sum up raw.csv", "-d", "raw.csv", "--detach").lines[-1]
        assert last["process"] is None
        assert pipe("watch", last["task"]).code == 0

    def test_a_worker_that_cannot_begin_is_told_and_the_run_is_kept(
        self, pipe: Pipe, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        delegating(project)
        monkeypatch.setattr("brasstag.surfaces.cli.follow.background.LINGER_SECONDS", "nonsense")
        ended = pipe("run", "Sum up raw.csv", "-d", "raw.csv", "--detach")
        assert ended.code == 1
        assert "the worker in the background did not begin" in ended.err
        assert "--linger" in ended.err
        assert statuses(pipe) == ["ready"]
        assert pipe("resume", pipe("tasks").json["task"]).code == 0

    def test_resume_can_be_detached_too(self, pipe: Pipe, project: Path, ada: str) -> None:
        asking(project)
        last = pipe("run", "Do it").lines[-1]
        pipe("answer", last["questions"][0]["question"], "Blue")
        pipe("approvals", "approve", last["approvals"][0]["approvalId"])
        assert pipe("resume", last["run"], "--detach").code == 0
        wait_until(pipe, ["done", "done"])


@pytest.fixture(autouse=True)
def _no_worker_is_left(project: Path) -> Iterator[None]:
    """Whatever was started in the background ends with the test."""
    yield
    log = project / ".brasstag" / "worker.log"
    for line in log.read_text().splitlines() if log.exists() else ():
        if line.startswith("Serving ") and "process " in line:
            pid = int(line.rpartition("process ")[2].rstrip("."))
            # Only a child of ours that still runs: the number of one that has ended may be anybody's by now.
            with suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
