"""The calls in flight: each runs on a thread under a deadline, and a function that is late is left behind.

A deadline moves through these states:

    IDLE ── begin ──▶ RUNNING or DRAFTING ── end ──▶ IDLE ── … ──▶ ENDED
                          └── its time is up ──▶ EXPIRED: another thread records the outcome
"""

import asyncio
import concurrent.futures
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any, TypeVar, cast

from brasstag.sandbox.threads import AnsweredElsewhere, Threads
from brasstag.words.calls import Settled, Tag
from brasstag.words.errors import StoreError, StoreLost

log = logging.getLogger("brasstag")

_T = TypeVar("_T")

FIRST_CHECK = 0.02
"""Seconds before a deadline is checked for the first time; twice as many at most."""

GRACE_SECONDS = 3.0
"""How many seconds a draft that was broken off has to return."""

Late = Callable[[], Settled]
"""Records the end of a call whose function has not returned, and returns that end."""

OnLate = Callable[[Late], None]
"""Lets another thread record the end of a call."""


class LeftBehind(AnsweredElsewhere):
    """Raised in the worker whose function returned too late: its call has already ended, or is run again."""


class State(Enum):
    """What a call is doing, as far as its deadline knows."""

    IDLE = "no function of the call is running"
    RUNNING = "a function is running"
    DRAFTING = "a function is running that only drafts; it is broken off when its caller goes away"
    EXPIRED = "the function did not return in time; another thread records the outcome"
    ENDED = "the call has ended"


def _do_nothing(_late: Late) -> None:
    """The call has ended, so there is nothing left to record."""


class Deadline:
    """Knows how long a call's function has been running, and lets exactly one thread record how it ended."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, seconds_left: float | None, on_late: OnLate = _do_nothing
    ) -> None:
        """Make the deadline of a call whose task has so many seconds left, whatever time its function has itself."""
        self.loop = loop
        self.seconds_left = seconds_left
        self.state = State.IDLE
        self.stopped = False
        """Whether it was ended early because its task was stopped or its caller left; then it was not too slow."""
        self.caller_left = False
        """Whether the caller has gone away, so that a draft is not to land."""
        self.cut_short = False
        """Whether the time of its task ends before its own."""
        self.on_late = on_late
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._seconds = 0.0
        self._late: Late | None = None
        self._on_loop: concurrent.futures.Future[Any] | None = None
        self._break_off: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def elapsed(self) -> float:
        """How many seconds ago the function started."""
        return time.monotonic() - self._started

    @property
    def _left(self) -> float:
        return self._started + self._seconds - time.monotonic()

    def begin(self, seconds: float, late: Late, *, only_drafts: bool = False) -> float:
        """Note that a function starts here; return how many seconds it has. When they are up, it is left behind."""
        with self._lock:
            return self._begin(seconds, late, only_drafts=only_drafts)

    def begin_on_loop(
        self, seconds: float, running: "concurrent.futures.Future[Any]", *, only_drafts: bool = False
    ) -> float:
        """Note that an async function starts on the loop; return how many seconds its caller may wait for it."""
        with self._lock:
            self._on_loop = running
            seconds = self._begin(seconds, None, only_drafts=only_drafts)
            is_stopped = self.stopped
        if is_stopped:
            running.cancel()
        return seconds

    def _begin(self, seconds: float, late: Late | None, *, only_drafts: bool) -> float:
        if self.state is State.EXPIRED:
            raise LeftBehind
        if self._late is not None:
            # It runs inside another function of this call, and has what that one has left.
            return max(self._left, 0.0)
        self.cut_short = self.seconds_left is not None and self.seconds_left < seconds
        if self.seconds_left is not None:
            seconds = max(min(seconds, self.seconds_left), 0.0)
        if only_drafts and self.caller_left:
            self.stopped = True
            seconds = min(seconds, GRACE_SECONDS)
        self.state = State.DRAFTING if only_drafts else State.RUNNING
        self._started, self._seconds, self._late = time.monotonic(), seconds, late
        return seconds

    def end(self) -> None:
        """Note that the function has returned; raise LeftBehind where its time was up before."""
        with self._lock:
            self._late = self._on_loop = None
            if self.state is State.EXPIRED:
                raise LeftBehind
            self.state = State.IDLE

    def close(self) -> None:
        """Note that the call has ended: its timer is cancelled, and nothing of the call is held any more."""
        with self._lock:
            # A function that was left behind may still return; it must find that its time was up.
            if self.state is not State.EXPIRED:
                self.state = State.ENDED
        self.on_late = _do_nothing
        if self._timer is not None:
            self._timer.cancel()

    def on_end(self, break_off: Callable[[], None] | None) -> None:
        """Set how to break off what the function runs, when its time is up; None where it runs nothing now."""
        with self._lock:
            self._break_off = break_off
            too_late = self.stopped or self.state is State.EXPIRED
        if too_late and break_off is not None:
            break_off()

    def stop(self) -> None:
        """End the function's time now: its task was stopped."""
        with self._lock:
            self._seconds = 0.0
            self._end_now()
        self.loop.call_soon_threadsafe(self.check)

    def leave(self) -> None:
        """Note that the caller has gone away: a draft is broken off, and a call that acts goes on to its end."""
        with self._lock:
            self.caller_left = True
            if self.state is not State.DRAFTING or self.stopped:
                return
            self._seconds = min(self._seconds, self.elapsed + GRACE_SECONDS)
            self._end_now()
        self.loop.call_soon_threadsafe(self.check)

    def _end_now(self) -> None:
        self.stopped = True
        if self._break_off is not None:
            self._break_off()
        if self._on_loop is not None:
            self._on_loop.cancel()

    def check(self) -> None:
        """Leave the function behind if its time is up, else set the timer to check again; runs on the loop."""
        with self._lock:
            if self.state in (State.EXPIRED, State.ENDED):
                return
            late, left = self._late, self._left
            if late is None or left > 0:
                wait = max(self._seconds, 1.0) if late is None else max(left, 0.001)
                self._timer = self.loop.call_later(wait, self.check)
                return
            self.state = State.EXPIRED
            if self._break_off is not None:
                self._break_off()
        self.on_late(late)


class InFlight:
    """The calls that this process is running, and the endings that it could not write yet."""

    def __init__(self, threads: Threads) -> None:
        self.unsettled: list[Callable[[], Tag | None]] = []
        """Endings that could not be written; tried again before the next call, as their paths are still held."""
        self._threads = threads
        self._calls: dict[str, Deadline] = {}
        self._first_checks: FirstChecks | None = None

    async def run(
        self, work: Callable[..., _T], *arguments: Any, seconds_left: float | None = None
    ) -> _T | Settled:
        """Run ``work(*arguments, deadline)`` on a thread; a function that does not come back in time is left behind."""
        loop = asyncio.get_running_loop()
        deadline = Deadline(loop, seconds_left)
        future: asyncio.Future[Any] = self._threads.start(_under, deadline, work, arguments)
        deadline.on_late = partial(self._leave_behind, future)
        self._first_checks_on(loop).add(deadline)
        try:
            found = await future
        except asyncio.CancelledError:
            # What acts goes on to its end, and its deadline with it.
            deadline.leave()
            raise
        except BaseException:
            deadline.close()
            raise
        deadline.close()
        return cast("_T | Settled", found)

    def __contains__(self, call_id: str) -> bool:
        """Say whether a worker of this process is running a call, even if its caller waits no longer."""
        return call_id in self._calls

    def enter(self, call_id: str, deadline: Deadline) -> None:
        """Note the deadline under which a call runs now."""
        self._calls[call_id] = deadline

    def enter_if_free(self, call_id: str, deadline: Deadline) -> bool:
        """Note a call, unless another worker of this process is running it."""
        return self._calls.setdefault(call_id, deadline) is deadline

    def leave(self, call_id: str, deadline: Deadline | None = None) -> None:
        """Forget a call; with its deadline, only if it still runs under that one.

        A worker that was left behind may return while another worker runs the same call.
        """
        if deadline is None or self._calls.get(call_id) is deadline:
            self._calls.pop(call_id, None)

    def stop(self, task_id: str) -> None:
        """End the running functions of a task that was stopped; what they did outside is for a person to find out."""
        for call_id, deadline in list(self._calls.items()):
            if call_id.startswith(f"{task_id}:"):
                deadline.stop()

    def write_unsettled(self) -> None:
        """Write down endings that could not be written before."""
        for _ in range(len(self.unsettled)):
            with suppress(IndexError):  # another call is at them, too
                write = self.unsettled.pop(0)
                try:
                    write()
                except StoreLost:
                    self.unsettled.append(write)
                except StoreError as error:
                    log.warning("an ending is given up: %s", error)

    def _leave_behind(self, future: "asyncio.Future[Any]", late: Late) -> None:
        ended = self._threads.start(late)
        ended.add_done_callback(partial(_hand_over, future))
        self._threads.leave_behind(future)

    def _first_checks_on(self, loop: asyncio.AbstractEventLoop) -> "FirstChecks":
        checks = self._first_checks
        if checks is None or checks.loop is not loop:
            # Those of another loop go on there until each of their deadlines was checked.
            checks = self._first_checks = FirstChecks(loop)
        return checks


class FirstChecks:
    """Checks each deadline of one event loop for the first time, with one timer for all that began meanwhile.

    Most calls end before their first check, so a timer for each of them would be wasted.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._young: list[Deadline] = []
        self._due: list[Deadline] = []
        self._is_waiting = False

    def add(self, deadline: Deadline) -> None:
        """Check a deadline the time after next, when it is old enough."""
        self._young.append(deadline)
        if not self._is_waiting:
            self._wait()

    def _wait(self) -> None:
        self._is_waiting = True
        self.loop.call_later(FIRST_CHECK, self._check_due)

    def _check_due(self) -> None:
        due, self._due, self._young = self._due, self._young, []
        self._is_waiting = False
        if self._due:
            self._wait()
        for deadline in due:
            if deadline.state is not State.ENDED:
                # Apart from each other: where one check fails, the others are made.
                self.loop.call_soon(deadline.check)


def _under(deadline: Deadline, work: Callable[..., _T], arguments: tuple[Any, ...]) -> _T:
    try:
        return work(*arguments, deadline)
    finally:
        deadline.state = State.ENDED


def _hand_over(future: "asyncio.Future[Any]", written: "asyncio.Future[Settled]") -> None:
    error = written.exception()
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(written.result())
