"""Process locks: each opening of a room holds one; the kernel frees it when the process dies."""

import fcntl
import os
import time
from pathlib import Path

from brasstag.words.ids import new_id


class ProcessLock:
    """One opening of a room."""

    def __init__(self, folder: Path | None) -> None:
        """Take the lock; a room in memory (``folder`` is None) needs none, as no other process can see it."""
        self.id = new_id("boot")
        self._folder = folder
        self._lock = -1
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            unseen = folder / f".{self.id}"
            self._lock = os.open(unseen, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            # Locked before it is seen, so no other process ever finds it free while this one lives.
            unseen.rename(_lock_file(folder, self.id))

    def is_alive(self, boot_id: str) -> bool:
        """Say whether the process that holds a process lock still runs."""
        if boot_id == self.id:
            return True
        if self._folder is None:
            return False
        try:
            probe = os.open(_lock_file(self._folder, boot_id), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            # Shared, so that two processes that look at the same time do not take each other for its owner.
            fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(probe)
        return False

    def beat(self) -> None:
        """Show that this process not only lives, but does its work."""
        if self._lock >= 0:
            os.utime(self._lock)

    def is_stopped(self, boot_id: str, seconds: float) -> bool:
        """Say whether a live process has given no beat for so many seconds: it is stopped, or hangs."""
        if boot_id == self.id or self._folder is None:
            return False
        try:
            return time.time() - _lock_file(self._folder, boot_id).stat().st_mtime > seconds
        except FileNotFoundError:
            return False

    def sweep(self) -> None:
        """Remove the lock files of dead processes; a process without a lock file counts as dead, too."""
        if self._folder is not None:
            for file in self._folder.glob("boot_*.lock"):
                if not self.is_alive(file.stem):
                    file.unlink(missing_ok=True)

    def end(self) -> None:
        """Let go of the lock."""
        if self._folder is not None and self._lock >= 0:
            _lock_file(self._folder, self.id).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = -1


def _lock_file(folder: Path, boot_id: str) -> Path:
    return folder / f"{boot_id}.lock"
