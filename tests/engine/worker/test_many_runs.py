"""Many runs of code at once: each lands what it changed, none is held up by another, and nothing is left of them."""

import asyncio
import gc
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from brasstag import Done, Room
from brasstag.sandbox.process.job import Job
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.sandbox.threads import MOST_IDLE, Threads
from brasstag.sandbox.workspace.hidden_from_code import FoundPath, HiddenMoved

AT_ONCE = 200
PATIENCE = 300.0

needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def descendants(pid: int) -> Iterator[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            for child in children.read_text().split():
                yield int(child)
                yield from descendants(int(child))


def descriptors() -> Iterator[str]:
    """Name what is open; connections to the database are kept for the next who needs one."""
    for one in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            yield os.path.basename(os.readlink(f"/proc/self/fd/{one}"))


def threads_now() -> int:
    return len(os.listdir("/proc/self/task"))


def workers_now() -> int:
    return sum(thread.name.startswith("brasstag") for thread in threading.enumerate())


def left_over(sandbox: Sandbox) -> dict[str, int]:
    """Count what a run could leave behind."""
    # What only waits for the collector is not left behind.
    gc.collect()
    return {
        "processes": len(list(descendants(os.getpid()))),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "descriptors": sum(1 for name in descriptors() if not name.startswith("state.db")),
        "threads": threads_now(),
        "layers": len(list(sandbox._scratch.iterdir())),
    }


async def until(holds: Callable[[], bool]) -> None:
    """Wait for threads on their way home; if they never arrive, the test says so itself."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110 - nobody tells when a thread has ended
                await asyncio.sleep(0.01)


@needs_bubblewrap
async def test_runs_at_once_all_land_and_leave_nothing_behind(project: Path) -> None:
    await run_at_once(project, MOST_IDLE + 8)


@needs_bubblewrap
@pytest.mark.slow
async def test_two_hundred_runs_at_once_all_land_and_leave_nothing_behind(project: Path) -> None:
    await run_at_once(project, AT_ONCE)


async def run_at_once(project: Path, count: int) -> None:
    # Rooms of other tests may have left some that wait for good.
    others = workers_now()
    async with Room.open(project) as room:
        sandbox = room._runtime.sandbox
        assert sandbox is not None

        def more_than(before: dict[str, int]) -> dict[str, int]:
            return {what: count for what, count in left_over(sandbox).items() if count > before[what]}

        async def make(name: str) -> None:
            arguments = {"language": "bash", "code": 'echo "$1" > "$1.txt"', "args": [name]}
            outcome = await room.call("run_code", arguments)
            assert isinstance(outcome, Done), outcome

        await asyncio.gather(*(make(f"first-{number}") for number in range(MOST_IDLE + 8)))
        await until(lambda: workers_now() <= MOST_IDLE + others)
        before = left_over(sandbox)
        await asyncio.gather(*(make(f"made-{number}") for number in range(count)))
        await until(lambda: not more_than(before))
        more = more_than(before)
    made = {path.stem: path.read_text().strip() for path in (project / "data").glob("made-*.txt")}
    assert made == {name: name for name in (f"made-{number}" for number in range(count))}
    assert more == {}, sorted(descriptors())


@needs_bubblewrap
async def test_code_does_not_start_where_a_hidden_file_is_gone(project: Path) -> None:
    hidden = project / "data" / "gone.txt"
    hidden.write_text("secret")
    found = FoundPath.of("gone.txt", hidden.stat())
    job = Job(("/bin/sh", "-c", "echo x > made.txt"), hidden=(found,))
    async with Room.open(project) as room:
        sandbox = room._runtime.sandbox
        assert sandbox is not None
        with sandbox.run(job) as work:
            assert [entry.path for entry in work.changes.entries] == ["made.txt"]
        hidden.unlink()
        with pytest.raises(HiddenMoved), sandbox.run(job):
            pass


async def test_after_a_rush_most_workers_go_home() -> None:
    threads = Threads()
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(PATIENCE)

    jobs = [threads.start(wait) for _ in range(MOST_IDLE * 2)]
    before = threads_now()
    gate.set()
    await asyncio.gather(*jobs)
    await until(lambda: threads_now() == before - MOST_IDLE)
    assert threads_now() == before - MOST_IDLE
    threads.close()
