"""Process locks: each opening of a room holds one; the kernel frees it when the process dies.

Files that a process makes for itself carry the id of its lock, so that others can remove them once it is dead.
"""

import fcntl
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from brasstag.words.ids import new_id

YOUNG_SECONDS = 3600.0
"""A file that names no process lock is left alone for so long: its process may still be at work."""

_OWNER = re.compile(r"boot_[0-9a-z]+")


class ProcessLock:
    """One opening of a room."""

    def __init__(self, folder: Path | None) -> None:
        """Take the lock; a room in memory (``folder`` is None) needs none, as no other process can see it."""
        self.id = new_id("boot")
        self._folder = folder
        self._lock = -1
        self._places: list[Path] = []
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

    def look_after(self, *places: Path) -> None:
        """Sweep these directories, too: each file in them has the id of its owner's process lock in its name."""
        self._places += places

    def sweep(self) -> None:
        """Remove what dead processes left: their files, then their locks. One without a lock file counts as dead."""
        if self._folder is None:
            return
        is_alive = cache(self.is_alive)
        for place in (*self._places, self._folder):
            with suppress(FileNotFoundError):
                for file in place.iterdir():
                    with suppress(OSError):
                        if not self._is_owned(file, is_alive):
                            file.unlink()

    def _is_owned(self, file: Path, is_alive: Callable[[str], bool]) -> bool:
        owner = _OWNER.search(file.name)
        if owner is not None and not file.name.startswith("."):
            return is_alive(owner[0])
        # Earlier releases named no owner. A lock that is not seen yet may be taken in the next moment.
        return time.time() - file.stat().st_mtime < YOUNG_SECONDS

    def end(self) -> None:
        """Let go of the lock."""
        if self._folder is not None and self._lock >= 0:
            _lock_file(self._folder, self.id).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = -1


def _lock_file(folder: Path, boot_id: str) -> Path:
    return folder / f"{boot_id}.lock"
