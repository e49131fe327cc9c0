"""The watchdog: looks at a run every few milliseconds and says which limit it has broken."""

import os
import stat
import time
from contextlib import suppress

from brasstag.sandbox.process import proc
from brasstag.sandbox.process.jobs import Ended, Limits

TICK_SECONDS = 0.02
_BLOCK = 512
_NAME_BYTES = 4096
# Looking at the disk takes the longer the more there is; it may take a twentieth of the time.
_SHARE = 20


class Watchdog:
    """Watches the processes below one, and the directory their writes end up in."""

    def __init__(self, root: int, limits: Limits, written: str | None, started: float) -> None:
        self._root = root
        self._limits = limits
        self._written = written
        self._started = started
        self._next_deep = 0.0

    def broken(self) -> Ended | None:
        """Return the limit that is broken now, or None."""
        now = time.monotonic()
        if now - self._started > self._limits.wall_seconds:
            return "time"
        pids = proc.tree(self._root)
        used = proc.usage(pids)
        # The first confined process only waits for the others, and is not the job's.
        if used.tasks - 1 > self._limits.processes:
            return "processes"
        if used.cpu_seconds > self._limits.cpu_seconds:
            return "cpu"
        if used.resident_bytes > self._limits.memory_bytes and self._is_out_of_memory(pids):
            return "memory"
        if now < self._next_deep:
            return None
        return self._deep(pids)

    def _deep(self, pids: list[int]) -> Ended | None:
        began = time.monotonic()
        try:
            if proc.shared_memory(pids) + proc.socket_memory(self._root) > self._limits.memory_bytes:
                return "memory"
            if self._written is not None:
                taken = size_on_disk(self._written) + proc.unlinked_bytes(pids)
                if taken > self._limits.disk_bytes:
                    return "disk"
            return None
        finally:
            ended = time.monotonic()
            self._next_deep = ended + max(2 * TICK_SECONDS, _SHARE * (ended - began))

    def _is_out_of_memory(self, pids: list[int]) -> bool:
        return proc.memory(pids) > self._limits.memory_bytes


def size_on_disk(root: str) -> int:
    """Return what everything below a directory takes on disk; every name counts for a block of its own."""
    total = 0
    pending = [root]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    total += _NAME_BYTES
                    if stat.S_ISDIR(status.st_mode):
                        pending.append(entry.path)
                    else:
                        total += status.st_blocks * _BLOCK
    return total
