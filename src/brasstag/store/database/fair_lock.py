"""A lock between the processes of one host that is given in the order in which it was asked for.

It is a courtesy, not a guard: who does not get it in time goes on without it, so that a stopped process delays others for
a while and never stops them. The kernel frees it when its process dies.

Two files make it fair. Who waits for the lock holds the queue meanwhile. So a process that lets go of the lock and wants
it again at once has to wait behind the first in the queue.
"""

import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path


class FairLock:
    """One lock, used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Name the file of the lock; the file of its queue is beside it."""
        self._lock = HeldFile(path)
        self._queue = HeldFile(path.with_name(f"{path.stem}-queue{path.suffix}"))

    def acquire(self, seconds: float) -> bool:
        """Wait for the lock, for so long at most; return whether it was had."""
        deadline = time.monotonic() + seconds
        if not self._queue.take(seconds):
            return False
        try:
            return self._lock.take(deadline - time.monotonic())
        finally:
            self._queue.give_back()

    def release(self) -> None:
        """Let go of the lock, if it was had."""
        self._lock.give_back()

    def close(self) -> None:
        """Close the files."""
        self._lock.close()
        self._queue.close()


class HeldFile:
    """A file that one opening at a time holds; those that wait for it are served in the order in which they came."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._left: _Waiter | None = None

    def take(self, seconds: float) -> bool:
        """Take the file, and wait for it so long at most; False where it was not had."""
        if self.is_stuck:
            return False
        try:
            if self._descriptor < 0:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._wait(seconds)
        except OSError:
            # Some file systems have no locks; then there is no queue.
            return False
        return True

    @property
    def is_stuck(self) -> bool:
        """Whether an earlier wait took too long and is not over: the holder is stopped, and is not waited for again."""
        return self._left is not None and not self._left.is_over

    def is_taken(self) -> bool:
        """Say whether another opening holds the file now."""
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            # As in take: where there are no locks, there is no queue.
            return False
        finally:
            os.close(descriptor)
        return False

    def give_back(self) -> None:
        """Let go of the file, if it was had."""
        if self._descriptor >= 0:
            _unlock(self._descriptor)

    def close(self) -> None:
        """Let go of the file, and close it."""
        if self._descriptor >= 0:
            _let_go(self._descriptor)
            self._descriptor = -1

    def _wait(self, seconds: float) -> bool:
        """Wait in the kernel's queue, on another thread: a wait there cannot be given a limit."""
        try:
            waiter = _Waiter(self._descriptor)
        except RuntimeError:
            # No further thread can be started: there are too many, or Python is about to end.
            return False
        if waiter.wait(max(seconds, 0.0)):
            return True
        # From here on the descriptor is the waiter's.
        self._left, self._descriptor = waiter, -1
        return False


class _Waiter:
    def __init__(self, descriptor: int) -> None:
        self.is_over = False
        self._descriptor = descriptor
        self._is_left = False
        self._lock = threading.Lock()
        self._taken = threading.Event()
        threading.Thread(target=self._run, name="brasstag-queue", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Return whether the file was taken in time; else it is let go of as soon as it is taken."""
        self._taken.wait(seconds)
        with self._lock:
            self._is_left = not self._taken.is_set()
        return not self._is_left

    def _run(self) -> None:
        with suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        with self._lock:
            self.is_over = True
            self._taken.set()
            if self._is_left:
                _let_go(self._descriptor)


def _unlock(descriptor: int) -> None:
    """Let go of a lock; what a lock on a network drive says then is no reason to fail: the work is done."""
    try:  # noqa: SIM105 - every call passes here, and `suppress` takes longer than the unlocking
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except OSError:
        pass


def _let_go(descriptor: int) -> None:
    """Unlock a file and close it: closed alone, it would stay locked while a fork of this process lives."""
    _unlock(descriptor)
    os.close(descriptor)
