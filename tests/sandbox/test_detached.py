"""A process that outlives the command that started it."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from brasstag.sandbox import detached
from brasstag.sandbox.detached import exit_code, start_detached
from brasstag.words.errors import Code, ToolError

DEADLINE_SECONDS = 60.0


def ended(pid: int) -> int:
    until = time.monotonic() + DEADLINE_SECONDS
    while (code := exit_code(pid)) is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    return code


def test_what_it_prints_is_added_to_the_log_for_its_owner_only(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    assert ended(start_detached(["--version"], log)) == 0
    assert ended(start_detached(["nonsense"], log)) == 2
    said = log.read_text()
    assert said.startswith("before\n")
    assert "No such command 'nonsense'" in said
    new = tmp_path / "new"
    ended(start_detached(["--version"], new))
    assert new.stat().st_mode & 0o777 == 0o600


def test_it_leads_a_session_of_its_own_so_that_a_closed_terminal_does_not_reach_it(
    project: Path, tmp_path: Path
) -> None:
    pid = start_detached(["worker", "-C", str(project)], tmp_path / "log")
    try:
        assert os.getsid(pid) == pid != os.getsid(0)
    finally:
        os.kill(pid, signal.SIGKILL)
        ended(pid)


def test_what_it_must_not_know_is_not_handed_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRASSTAG_APPROVER_TOKEN", "nobody's")
    for without, said in (
        ([], "the token in BRASSTAG_APPROVER_TOKEN is not known"),
        (["BRASSTAG_APPROVER_TOKEN"], "a decision needs a person"),
    ):
        log = tmp_path / f"log{len(without)}"
        assert ended(start_detached(["approvers", "add", "eve"], log, without=without)) == 4
        assert said in log.read_text()


def test_it_imports_nothing_from_the_directory_it_is_started_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "typer.py").write_text("raise SystemExit('planted')")
    (tmp_path / "brasstag.py").write_text("raise SystemExit('planted')")
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log"
    assert ended(start_detached(["--version"], log)) == 0
    assert "planted" not in log.read_text()


def test_a_log_that_has_grown_too_large_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detached, "LARGEST_LOG", 10)
    log = tmp_path / "log"
    log.write_text("x" * 11)
    ended(start_detached(["--version"], log))
    assert "x" not in log.read_text()


def test_where_nothing_can_be_started_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(ToolError, match="no process could be started") as caught:
        start_detached(["--version"], tmp_path / "log")
    assert caught.value.code is Code.NOT_SUPPORTED
    assert caught.value.hint == "run `brasstag worker` yourself"
