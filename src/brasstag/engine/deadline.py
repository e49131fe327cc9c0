"""The deadline of one call: a function that is late is left behind, and another thread records the outcome."""

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, cast

from brasstag.engine.threads import AnsweredElsewhere, Threads
from brasstag.words.calls import Settled

_T = TypeVar("_T")

FIRST_LOOK = 0.02
"""Seconds before a deadline is checked for the first time; twice as many at most."""

GRACE_SECONDS = 3.0
"""How many seconds a draft that was broken off has to return."""

Late = Callable[[], Settled]
"""Records the end of a call whose function has not returned, and returns that end."""


class LeftBehind(AnsweredElsewhere):
    """Raised in the worker whose function returned too late: its call has already ended, or is run again."""


def _no_check() -> None:
    """Do nothing: the call has ended, or has not started."""


class Deadline:
    """Knows how long a call's function has been running, and lets exactly one thread record how it ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds_left: float | None = None) -> None:
        """Make the deadline of a call whose task has so many seconds left, whatever time its function has itself."""
        self.loop = loop
        self.seconds_left = seconds_left
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._seconds = 0.0
        self._since: float | None = None
        self._late: Late | None = None
        self.expired = False
        """Whether the function was too late, so that another thread records how the call ended."""
        self._on_loop: concurrent.futures.Future[Any] | None = None
        self.look: Callable[[], None] = _no_check
        """Looks now, rather than when the time is up."""
        self.hurried = False
        """Whether it was ended early because its task was stopped or its caller left; then it was not too slow."""
        self.cut_short = False
        """Whether the time of its task ends before its own."""
        self._break_off: Callable[[], None] | None = None
        self._drafts = False
        self._caller_left = False
        self.over = False
        """Whether the worker has finished, so that the deadline needs no further look."""

    def start(self, seconds: float) -> float:
        """Start the time of a function; return how many seconds it really has, as its task may have fewer left."""
        self._started = time.monotonic()
        self.cut_short = self.seconds_left is not None and self.seconds_left < seconds
        return seconds if self.seconds_left is None else max(min(self.seconds_left, seconds), 0.0)

    @property
    def elapsed(self) -> float:
        """How many seconds ago the function started."""
        return time.monotonic() - self._started

    def begin(self, seconds: float, late: Late) -> None:
        """Note that the function starts now; it is left behind when its time is up."""
        seconds = self.start(seconds)
        with self._lock:
            if self._drafts and self._caller_left:
                seconds = min(seconds, GRACE_SECONDS)
            self._seconds, self._since, self._late = seconds, time.monotonic(), late

    def end(self) -> None:
        """Note that the function returned; raise LeftBehind if that was too late."""
        with self._lock:
            # Dropped at once: ``late`` refers to the whole call, and would keep it in memory after its end.
            self._since = self._late = None
            if self.expired:
                raise LeftBehind

    def rest(self) -> None:
        """The call has ended: drop the check, because it holds this deadline and everything the call had."""
        self.look = _no_check

    def on_end(self, break_off: Callable[[], None] | None) -> None:
        """Set how to break off what the function runs, when its time is up; None where it runs nothing now."""
        with self._lock:
            self._break_off = break_off
            too_late = self.expired or self.hurried
        if too_late and break_off is not None:
            break_off()

    @contextmanager
    def drafting(self) -> Iterator[None]:
        """Mark what the function does meanwhile as only a draft: it is broken off when its caller goes away."""
        with self._lock:
            self._drafts = True
            self.hurried = self.hurried or self._caller_left
        try:
            yield
        finally:
            with self._lock:
                self._drafts = False

    def leave(self) -> None:
        """Note that the caller has gone away: a draft is broken off, and a call that acts goes on to its end."""
        with self._lock:
            self._caller_left = True
            if not self._drafts or self.hurried:
                return
            if self._since is not None:
                self._seconds = min(self._seconds, time.monotonic() - self._since + GRACE_SECONDS)
            self._end_now()
        self.loop.call_soon_threadsafe(self.look)

    @property
    def is_unwanted(self) -> bool:
        """Whether the caller has gone away, so that a draft is not to land."""
        return self._caller_left

    def await_on_loop(self, running: "concurrent.futures.Future[Any]") -> None:
        """Note that the function is async, and runs on the loop."""
        with self._lock:
            self._on_loop = running
            too_late = self.hurried
        if too_late:
            running.cancel()

    def hurry(self) -> None:
        """End the function's time now: its task was stopped."""
        with self._lock:
            self._seconds = 0.0
            self._end_now()
        self.loop.call_soon_threadsafe(self.look)

    def _end_now(self) -> None:
        self.hurried = True
        if self._break_off is not None:
            self._break_off()
        if self._on_loop is not None:
            self._on_loop.cancel()

    def left(self) -> float:
        """Return how many seconds are left before it makes sense to look again."""
        with self._lock:
            if self._since is None:
                return max(self._seconds, 1.0)
            return self._since + self._seconds - time.monotonic()

    def expire(self) -> Late | None:
        """Return ``late``, once, for a function whose time is up; None while it has time, or if it has returned."""
        with self._lock:
            if self.expired or self._since is None or time.monotonic() < self._since + self._seconds:
                return None
            self.expired = True
            if self._break_off is not None:
                self._break_off()
            return self._late


class Deadlines:
    """Runs work on threads, each piece under a deadline of its own."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._first_checks: FirstChecks | None = None

    async def run(
        self, work: Callable[..., _T], *arguments: Any, seconds_left: float | None = None
    ) -> _T | Settled:
        """Run ``work(*arguments, deadline)`` on a thread; a function that does not come back in time is left behind."""
        loop = asyncio.get_running_loop()
        deadline = Deadline(loop, seconds_left)
        future: asyncio.Future[Any] = self._threads.start(_under, deadline, work, arguments)
        deadline.look = partial(self._check, deadline, future)
        self._first_checks_on(loop).add(deadline)
        try:
            found = await future
        except asyncio.CancelledError:
            # What acts goes on to its end, and its deadline with it.
            deadline.leave()
            raise
        except BaseException:
            deadline.rest()
            raise
        deadline.rest()
        return cast("_T | Settled", found)

    def _first_checks_on(self, loop: asyncio.AbstractEventLoop) -> "FirstChecks":
        checks = self._first_checks
        if checks is None or checks.loop is not loop:
            # Those of another loop go on there until each of their deadlines was checked.
            checks = self._first_checks = FirstChecks(loop)
        return checks

    def _check(self, deadline: Deadline, future: "asyncio.Future[Any]") -> None:
        if deadline.over or deadline.expired:
            return
        late = deadline.expire()
        if late is None:
            deadline.loop.call_later(max(deadline.left(), 0.001), deadline.look)
            return
        ended = self._threads.start(late)
        ended.add_done_callback(lambda written: _hand_over(written, future))
        self._threads.leave_behind(future)


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
        self.loop.call_later(FIRST_LOOK, self._check_due)

    def _check_due(self) -> None:
        due, self._due, self._young = self._due, self._young, []
        self._is_waiting = False
        if self._due:
            self._wait()
        for deadline in due:
            # Apart from each other: where one check fails, the others are made.
            self.loop.call_soon(deadline.look)


def _under(deadline: Deadline, work: Callable[..., _T], arguments: tuple[Any, ...]) -> _T:
    try:
        return work(*arguments, deadline)
    finally:
        deadline.over = True


def _hand_over(written: "asyncio.Future[Settled]", future: "asyncio.Future[Any]") -> None:
    error = written.exception()
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(written.result())
