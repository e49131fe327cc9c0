"""Work off the loop: what is waited for at the end, and what is not."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest

from brasstag.sandbox.threads import FEW, Threads

FOREVER = 3600.0
PATIENCE = 60.0


@pytest.fixture
def hangs() -> Iterator[tuple[Callable[[], str], threading.Event]]:
    """A function that hangs until the test is over, and the sign that it has begun."""
    begun, over = threading.Event(), threading.Event()

    def hang() -> str:
        begun.set()
        over.wait(PATIENCE)
        return "too late"

    yield hang, begun
    over.set()


async def test_work_that_was_left_behind_is_not_waited_for(
    hangs: tuple[Callable[[], str], threading.Event],
) -> None:
    threads = Threads()
    left = threads.start(hangs[0])
    draining = asyncio.create_task(threads.drain(FOREVER))
    await threads.run(hangs[1].wait, PATIENCE)
    assert not draining.done()
    threads.leave_behind(left)
    await asyncio.wait_for(draining, PATIENCE)


async def test_short_jobs_run_a_few_at_a_time_and_never_hold_up_others() -> None:
    threads = Threads()
    arrived, leave = threading.Semaphore(0), threading.Event()

    def stay() -> None:
        arrived.release()
        leave.wait(PATIENCE)

    short = [asyncio.create_task(threads.run_short(stay)) for _ in range(3 * FEW)]
    for _ in range(FEW):
        assert await threads.run(arrived.acquire, True, PATIENCE)
    assert not arrived.acquire(blocking=False)
    leave.set()
    await asyncio.wait_for(asyncio.gather(*short), PATIENCE)
    threads.close()
