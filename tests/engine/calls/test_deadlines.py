"""Callers that go away: what was only a draft ends with them, and nothing of it lands."""

import asyncio
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Room, Waiting, tool
from brasstag.app import room as rooms
from brasstag.engine import in_flight
from brasstag.engine.calls import landing
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA, CREW, call, turn, write_script
from tests.runtimes import put_in

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

LONG = "echo begun; echo x > made; sleep {seconds}"


def is_running(command: str) -> bool:
    return subprocess.run(["pgrep", "-f", command], capture_output=True, check=False).returncode == 0


async def leave(room: Room, command: str, approval_id: str = "") -> None:
    """Call, or go on with a call, and go away once its program has printed something."""
    begun = asyncio.Event()
    if approval_id:
        calling = room.resume(approval_id, on_output=lambda _: begun.set())
    else:
        calling = room.call("shell", {"command": command, "timeout": 600}, on_output=lambda _: begun.set())
    going = asyncio.create_task(calling)
    await begun.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going


async def last_called(project: Path) -> dict[str, Any]:
    async with Room.open(project) as room:
        called = [
            entry for entry in await room.timeline() if entry.kind in (EntryKind.CALLED, EntryKind.SETTLED)
        ]
        report = await room.verify()
        assert report.ok, report.findings
        return called[-1].payload or {}


async def test_a_draft_ends_with_its_caller_and_the_timeline_says_what_ran(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "DRAIN_SECONDS", 600.0)
    async with asyncio.timeout(300), Room.open(project) as room:
        await leave(room, LONG.format(seconds=4243))
    # The room was closed once the call had ended, and waited for nothing else.
    assert not is_running("sleep 4243")
    assert list((project / "data").iterdir()) == []
    told = await last_called(project)
    assert told["preview"]["runs"] == [LONG.format(seconds=4243)]
    error = told["result"]["error"]
    assert (error["code"], error["details"]["stdout"]) == (Code.CANCELLED, "begun\n")


async def test_an_approved_run_that_its_caller_left_is_over_and_not_run_again(
    make_project: MakeProject,
) -> None:
    project = make_project(profile="locked")
    async with Room.open(project) as room:
        waiting = await room.call("shell", {"command": LONG.format(seconds=4244), "timeout": 600})
        assert isinstance(waiting, Waiting)
        await room.decide(waiting.approval_id, ApprovalResponse(True), ADA)
        await leave(room, "", waiting.approval_id)
    async with Room.open(project) as room:
        assert room.recovered.calls == []
        assert (await room.approval(waiting.approval_id)).state is ApprovalState.CONSUMED
    assert not is_running("sleep 4244")
    assert (await last_called(project))["result"]["error"]["code"] == Code.CANCELLED


async def test_a_program_that_ended_just_before_its_caller_left_lands_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Room.open(project) as room:
        run_function = landing.run_function
        going: list[asyncio.Task[Any]] = []

        def leave_then(*arguments: Any, **chosen: Any) -> Any:
            ended = run_function(*arguments, **chosen)
            loop = arguments[3].loop
            asyncio.run_coroutine_threadsafe(_cancel(going[0]), loop).result()
            return ended

        monkeypatch.setattr(landing, "run_function", leave_then)
        going.append(asyncio.create_task(room.call("shell", {"command": "echo x > made"})))
        with pytest.raises(asyncio.CancelledError):
            await going[0]
    assert list((project / "data").iterdir()) == []
    error = (await last_called(project))["result"]["error"]
    assert (error["code"], error["details"]["ran"]["exit_code"]) == (Code.CANCELLED, 0)


async def _cancel(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    await asyncio.wait({task})


async def test_what_a_worker_breaks_off_is_run_again_by_the_next(make_project: MakeProject) -> None:
    project = make_project(CREW)
    go = project / "data" / "go"
    go.touch()
    command = "echo begun; until [ -s go ]; do sleep 0.02; done; echo x > made"
    write_script(project, {"boss": [turn(call("shell", command=command, timeout=600)), turn(text="Done.")]})
    async with Room.open(project) as room:
        run = await room.start("Wait")
        await anext(one async for one in room.watch(run) if one.output is not None)
        room.runs.drain()
        room.runs.abandon()
    go.write_text("on")
    async with Room.open(project) as room:
        assert EntryKind.CALLED not in {entry.kind for entry in await room.timeline(run)}
        await room.runs.serve_run(run)
        assert (await room.finished(run)).ok
        assert (project / "data" / "made").read_text() == "x\n"


async def test_a_landing_goes_on_when_its_caller_leaves(project: Path) -> None:
    file = project / "data" / "a.md"
    file.write_text("old")
    async with Room.open(project) as room:
        waiting = await room.call("shell", {"command": "echo new > a.md"})
        assert isinstance(waiting, Waiting)
        await room.decide(waiting.approval_id, ApprovalResponse(True), ADA)
        claimed, loop = asyncio.Event(), asyncio.get_running_loop()
        left = asyncio.Event()

        def hold(step: str) -> None:
            if step == "claimed":
                loop.call_soon_threadsafe(claimed.set)
                asyncio.run_coroutine_threadsafe(left.wait(), loop).result()  # type: ignore[arg-type]

        put_in(room, at=hold)
        going = asyncio.create_task(room.resume(waiting.approval_id))
        await claimed.wait()
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        left.set()
    assert file.read_text() == "new\n"
    assert (await last_called(project))["outcome"] == "done"


async def test_a_draft_that_does_not_listen_is_left_behind_after_a_grace(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_flight, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(rooms, "DRAIN_SECONDS", 600.0)
    started, released = threading.Event(), threading.Event()

    @tool(effects="code", requires_approval=False, limits={"timeout_seconds": 600})
    def stubborn() -> str:
        """Hear nothing."""
        started.set()
        released.wait(600)
        return "late"

    async with asyncio.timeout(300), Room.open(project) as room:
        room.register(stubborn)
        going = asyncio.create_task(room.call("stubborn", {}))
        await asyncio.to_thread(started.wait, 60)
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
    released.set()
    assert (await last_called(project))["result"]["error"]["code"] == Code.CANCELLED
