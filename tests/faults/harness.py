"""A world of worker processes on one project, and somebody who answers, decides, and hires a new worker for a dead one."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

from brasstag import ApprovalResponse, Room
from brasstag.words.approvals import ApprovalState
from brasstag.words.errors import StoreLost, ToolError
from tests.engine.crews import ADA
from tests.faults.checking import violations
from tests.faults.mill import FILES, Mill
from tests.faults.workers import Fate, Place, work
from tests.processes import KILLED, start

PATIENCE = 300.0
"""Seconds to wait for anything at all; two cores may be busy with much else."""


async def until(look: Callable[[], Awaitable[bool]] | Callable[[], bool], what: str) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found if isinstance(found, bool) else await found:
            return
        assert time.monotonic() < deadline, f"it never came to this: {what}"
        await asyncio.sleep(0.02)


class World:
    """Processes at work in one project."""

    def __init__(self, mill: Mill, url: str = "") -> None:
        self.mill = mill
        here = mill.project.parent
        self.place = Place(
            mill.project, Path(os.environ["BRASSTAG_USER_DIR"]), url, here / "said", here / "trouble"
        )
        self.workers: list[BaseProcess] = []
        self.deaths = 0
        self.strange: list[str] = []
        """Workers that ended as no worker should."""

    def hire(self, *fates: Fate) -> list[BaseProcess]:
        """Start workers."""
        hired = [start(work, self.place, fate) for fate in fates or (Fate(),)]
        self.workers += hired
        return hired

    def bury(self) -> int:
        """Let go of workers that are dead; return how many were."""
        dead = [worker for worker in self.workers if not worker.is_alive()]
        for worker in dead:
            self.workers.remove(worker)
            self.deaths += worker.exitcode == KILLED
            if worker.exitcode not in (KILLED, 0):
                self.strange.append(f"worker {worker.pid} ended with {worker.exitcode}")
        return len(dead)

    async def play(self, room: Room, runs: Iterable[str], next_fates: Iterable[Fate] = ()) -> None:
        """Say yes to everything, twice, and replace whoever dies, until these runs have ended."""
        fates = iter(next_fates)
        left = list(runs)

        async def over() -> bool:
            for _ in range(self.bury()):
                self.hire(next(fates, Fate()))
            await say_yes(room)
            with suppress(StoreLost):
                left[:] = [run for run in left if await room.runs.ended(run) is None]
            return not left

        await until(over, f"the end of {left}")

    async def dismiss(self) -> None:
        """Send every worker home, and wait until it has gone."""
        for worker in self.workers:
            worker.terminate()
        await until(lambda: not any(worker.is_alive() for worker in self.workers), "all gone home")
        self.bury()

    def kill(self) -> None:
        """End whoever is left, at once."""
        for worker in self.workers:
            worker.kill()
            worker.join()

    def said(self, words: str) -> int:
        """Return how often workers have warned of something."""
        return self.place.said.read_text().count(words) if self.place.said.exists() else 0

    async def violations(self, room: Room) -> list[str]:
        """Return whatever does not hold, of the books, of the workspace and of the workers."""
        trouble = self.place.trouble
        return [
            *await violations(room, self.mill),
            *self.strange,
            *(trouble.read_text().splitlines()[:20] if trouble.exists() else ()),
        ]

    async def whole(self, room: Room, run: str) -> list[str]:
        """Return what does not hold after a run of the whole script."""
        found = await self.violations(room)
        ended = await room.runs.ended(run)
        if ended is None or ended.result != "built":
            found.append(f"the run ended with {ended and ended.result}")
        if self.mill.files() != FILES:
            found.append(f"the workspace holds {self.mill.files()}")
        return found


async def say_yes(room: Room) -> None:
    """Approve and answer whatever waits, each twice at the same time; the second is told so."""
    with suppress(StoreLost):
        approvals = await room.approvals(ApprovalState.OPEN)
        questions = [one.id for one in await room.tasks() if one.role == "person" and not one.has_ended]
        acts = [room.decide(one.id, ApprovalResponse(True), ADA) for one in approvals for _ in range(2)]
        answers = [room.answer(name, "yes", ADA) for name in questions for _ in range(2)]
        for outcome in await asyncio.gather(*acts, *answers, return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, ToolError | StoreLost):
                raise outcome
