"""Real processes for tests: forked from a server that has the imports already, so that many of them are cheap."""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from brasstag.app.room import Room
from brasstag.words.calls import Outcome
from tests.pages import ROOT
from tests.runtimes import put_in

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.preload"])

KILLED = -signal.SIGKILL


def start_server() -> None:
    """Start the server that processes are forked from, unless it runs, where it finds what it has to read before."""
    here = Path.cwd()
    # Some versions of Python look for that nowhere but in the working directory, and say nothing where it is not.
    os.chdir(ROOT)
    try:
        forkserver.ensure_running()
    finally:
        os.chdir(here)


def start(work: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """Start ``work`` in a process of its own, in this one's environment as it is now."""
    process = _context.Process(target=_work_in, args=(dict(os.environ), work, arguments))
    start_server()
    process.start()
    return process


def _work_in(environment: dict[str, str], work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    # The server the process is forked from still has the environment of the test that came first.
    os.environ.clear()
    os.environ.update(environment)
    work(*arguments)


def end(process: BaseProcess) -> int:
    """Wait for a process and return its exit code; a negative one is the signal that ended it."""
    process.join(300)
    if process.is_alive():
        process.kill()
        raise AssertionError("the process hung")
    assert process.exitcode is not None
    return process.exitcode


class Killer:
    """Ends its own process, as kill -9 would, when the call has come to its n-th step."""

    def __init__(self, step: int) -> None:
        self._left = step

    def __call__(self, _step: str) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


def call_and_die(
    project: Path, user: Path, step: int, calls: list[tuple[str, dict[str, Any]]], approve: bool = False
) -> None:
    """Open a room, make calls, and die at the n-th step of the last one."""
    os.environ["BRASSTAG_USER_DIR"] = str(user)
    asyncio.run(_call_and_die(project, step, calls, approve))


async def _call_and_die(
    project: Path, step: int, calls: list[tuple[str, dict[str, Any]]], approve: bool
) -> None:
    from brasstag import ApprovalResponse, Approver, Waiting

    async with Room.open(project) as room:
        for number, (name, arguments) in enumerate(calls):
            if number == len(calls) - 1:
                put_in(room, at=Killer(step))
            outcome: Outcome = await room.call(name, arguments)
            if approve and isinstance(outcome, Waiting):
                await room.decide(outcome.approval_id, ApprovalResponse(True), Approver("ada", "terminal"))
                await room.resume(outcome.approval_id)
