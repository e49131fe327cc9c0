"""The watch over one call: a function that takes too long is left behind, and its end is written by somebody else."""

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from brasstag.engine.threads import AnsweredElsewhere
from brasstag.words.calls import Settled

GRACE_SECONDS = 3.0
"""How long a draft that was broken off has to say what became of it."""

Late = Callable[[], Settled]
"""Writes the end of a call whose function has not come back, and returns it."""


class LeftBehind(AnsweredElsewhere):
    """Raised in the worker whose function came back after its time: its call has already ended, or is run again."""


def _nobody_looks() -> None:
    """Nobody is there to look."""


class Watch:
    """Knows since when a call's function has been running, and lets exactly one side say how it ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds_left: float | None = None) -> None:
        """Watch a call whose task has so many seconds left, whatever time its function has itself."""
        self.loop = loop
        self.seconds_left = seconds_left
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._seconds = 0.0
        self._since: float | None = None
        self._late: Late | None = None
        self.expired = False
        """Whether the word was taken from the function, so that somebody else says how it ended."""
        self._on_loop: concurrent.futures.Future[Any] | None = None
        self.look: Callable[[], None] = _nobody_looks
        """Looks now, rather than when the time is up."""
        self.hurried = False
        """Whether its task was stopped, so that nothing of it took too long."""
        self.cut_short = False
        """Whether the time of its task ends before its own."""
        self._break_off: Callable[[], None] | None = None
        self._drafts = False
        self._caller_left = False
        self.over = False
        """Whether the worker has come to its end, so that nobody needs to look any more."""

    def start(self, seconds: float) -> float:
        """A function that has so many seconds starts now; return how many of them there really are."""
        self._started = time.monotonic()
        self.cut_short = self.seconds_left is not None and self.seconds_left < seconds
        return seconds if self.seconds_left is None else max(min(self.seconds_left, seconds), 0.0)

    @property
    def elapsed(self) -> float:
        """How many seconds ago the function started."""
        return time.monotonic() - self._started

    def begin(self, seconds: float, late: Late) -> None:
        """The function starts now, and is left behind when its time is up."""
        seconds = self.start(seconds)
        with self._lock:
            if self._drafts and self._caller_left:
                seconds = min(seconds, GRACE_SECONDS)
            self._seconds, self._since, self._late = seconds, time.monotonic(), late

    def end(self) -> None:
        """The function came back; raises LeftBehind if that was too late."""
        with self._lock:
            # Forgotten at once: it holds the whole call, which would outlive its end by holding itself.
            self._since = self._late = None
            if self.expired:
                raise LeftBehind

    def rest(self) -> None:
        """The call has ended, so nobody needs to look any more; what looks holds this watch, and everything the call had."""
        self.look = _nobody_looks

    def on_end(self, break_off: Callable[[], None] | None) -> None:
        """Say how what the function runs is broken off when its time is up; None where it runs nothing now."""
        with self._lock:
            self._break_off = break_off
            too_late = self.expired or self.hurried
        if too_late and break_off is not None:
            break_off()

    @contextmanager
    def drafting(self) -> Iterator[None]:
        """What the function does meanwhile is only a draft, which ends when nobody waits for it any more."""
        with self._lock:
            self._drafts = True
            self.hurried = self.hurried or self._caller_left
        try:
            yield
        finally:
            with self._lock:
                self._drafts = False

    def leave(self) -> None:
        """The caller has gone away: a draft is broken off, and what acts goes on to its end."""
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
        """The function is async, and runs on the loop."""
        with self._lock:
            self._on_loop = running
            too_late = self.hurried
        if too_late:
            running.cancel()

    def hurry(self) -> None:
        """The function's time is up now: its task was stopped."""
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
        """Take the word from a function whose time is up, once; None while it has time, or has come back."""
        with self._lock:
            if self.expired or self._since is None or time.monotonic() < self._since + self._seconds:
                return None
            self.expired = True
            if self._break_off is not None:
                self._break_off()
            return self._late
