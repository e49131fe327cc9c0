"""The watchdog: checks a job every few milliseconds and says which limit it broke."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from brasstag.sandbox.process.job import Ended, JobLimits
from brasstag.sandbox.process.run import usage
from brasstag.sandbox.process.run.disk import Growth, size_on_disk

TICK_SECONDS = 0.02
_FASTEST = 0.002
_QUIET_TICK_SECONDS = 0.05
_PATIENCE_SECONDS = 0.01
# What share of the time looks may take: long ones, and those that follow each other as fast as they can.
_SHARE = 20
_SHARE_IN_NEED = 3
# The backend's processes, and some that may end while the others are found.
_SPARE = 16


class Watchdog:
    """Watches the processes below one, and the directory their writes end up in."""

    def __init__(self, root: int, limits: JobLimits, written: str | None, started: float) -> None:
        self.pace = TICK_SECONDS
        """How long to wait before the next look."""
        self._root = root
        self._limits = limits
        self._started = started
        self._last = usage.ProcessUsage(0, 0.0, 0, {})
        looks: list[Callable[[usage.ProcessUsage], Ended | None]] = [self._memory]
        if written is not None:
            self._written = written
            self._growth = Growth(written, limits.disk_bytes)
            looks += [self._grown, self._disk]
        self._pool = ThreadPoolExecutor(len(looks), "watchdog")
        self._looks = [_SlowCheck(self._pool, look, started) for look in looks]

    def close(self) -> None:
        """Wait for looks that are under way; nothing holds them up once the processes have ended."""
        self._pool.shutdown()

    def broken(self) -> Ended | None:
        """Return the limit that is broken now, or None."""
        began = time.monotonic()
        used = usage.usage(usage.tree(self._root, self._limits.processes + _SPARE))
        found = self._quick(began, used)
        if used.resident_bytes > self._limits.memory_bytes:
            self._looks[0].hasten()
        for look in self._looks:
            found = found or look.take(used, is_quiet=used == self._last)
        if used.tasks > self._last.tasks:
            # A program that starts more and more processes does so much faster than a tick.
            self.pace = min(TICK_SECONDS, max(_FASTEST, _SHARE_IN_NEED * (time.monotonic() - began)))
        else:
            self.pace = min(_QUIET_TICK_SECONDS if used == self._last else TICK_SECONDS, 2 * self.pace)
        self._last = used
        return found

    def _quick(self, now: float, used: usage.ProcessUsage) -> Ended | None:
        if now - self._started > self._limits.wall_seconds:
            return "time"
        # The first confined process only waits for the others, and is not the job's.
        if used.tasks - 1 > self._limits.processes:
            return "processes"
        return "cpu" if used.cpu_seconds > self._limits.cpu_seconds else None

    def _memory(self, used: usage.ProcessUsage) -> Ended | None:
        pids = used.faces.values()
        rest = self._limits.memory_bytes - usage.memory_beside(pids, self._root)
        is_over = used.resident_bytes > rest and usage.private_memory(pids) > rest
        return "memory" if is_over else None

    def _grown(self, used: usage.ProcessUsage) -> Ended | None:
        return "disk" if self._growth.is_over(used.faces) else None

    def _disk(self, used: usage.ProcessUsage) -> Ended | None:
        taken = size_on_disk(self._written) + usage.held(used.faces.values()).unlinked_bytes
        return "disk" if taken > self._limits.disk_bytes else None


class _SlowCheck:
    """A look that takes long, or that a process can delay.

    The kernel lets no other process see a process's memory while its mappings change. So this look runs beside the
    other looks, which go on.
    """

    def __init__(
        self, pool: ThreadPoolExecutor, look: Callable[[usage.ProcessUsage], Ended | None], started: float
    ) -> None:
        self._pool = pool
        self._look = look
        self._going: Future[Ended | None] | None = None
        # Most runs have ended before.
        self._next = started + TICK_SECONDS

    def hasten(self) -> None:
        """Take the next look now: a quick look has found something that only this look can confirm."""
        self._next = 0.0

    def take(self, used: usage.ProcessUsage, *, is_quiet: bool) -> Ended | None:
        """Return what the look has found, if it is over; begin one if it is time."""
        if self._going is None:
            if time.monotonic() < self._next + (10 * TICK_SECONDS if is_quiet else 0.0):
                return None
            self._going = self._pool.submit(self._timed, used)
            wait([self._going], _PATIENCE_SECONDS)
        if not self._going.done():
            return None
        found = self._going.result()
        self._going = None
        return found

    def _timed(self, used: usage.ProcessUsage) -> Ended | None:
        began = time.monotonic()
        found = self._look(used)
        ended = time.monotonic()
        self._next = ended + max(TICK_SECONDS, _SHARE * (ended - began))
        return found
