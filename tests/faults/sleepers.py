"""Workers that get SIGSTOP: waiting until one sleeps, and waking it."""

import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

from brasstag import Room
from tests.faults.harness import World, say_yes, until
from tests.faults.workers import Fate

QUICK = 1.0
"""How soon the others of these tests take tasks from a worker that has stopped."""


async def stopped_worker(world: World, room: Room, fate: Fate) -> BaseProcess:
    """Start a worker and wait until it sleeps where its fate says; whatever it asks for it gets."""
    (worker,) = world.hire(fate)

    async def sleeps() -> bool:
        await say_yes(room)
        return is_stopped(worker)

    await until(sleeps, f"a worker stopped by {fate}")
    return worker


def is_stopped(worker: BaseProcess) -> bool:
    """Say whether a process has been stopped, as the kernel sees it."""
    return Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def wake(worker: BaseProcess) -> None:
    """Let a stopped worker go on."""
    os.kill(worker.pid or 0, signal.SIGCONT)
