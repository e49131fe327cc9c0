"""The disk space of a job: of its named files, and of what it must have written without a name."""

import math
import os
import stat
from contextlib import suppress

from brasstag.sandbox.process.run import usage

_BLOCK = 512
_NAME_BYTES = 4096
# Longer paths are walked on from a directory on the way: the kernel takes no more than 4,096 bytes at once.
_LONG_PATH = 2048
_STAGES = 16


class Growth:
    """Tells that a run fills the disk, however it hides what it writes: the disk got fuller, and the run wrote as much.

    Neither alone says so: others write, too, and what is written may replace what was there.
    """

    def __init__(self, place: str, limit: int) -> None:
        self._place = place
        self._limit = limit
        self._free = _free_bytes(place)
        self._ledger = WriteTotals()

    def is_over(self, faces: dict[int, int]) -> bool:
        """Say whether the limit is broken, beyond doubt."""
        return self._ledger.total(faces) > self._limit and self._free - _free_bytes(self._place) > self._limit


class WriteTotals:
    """What the processes of a run have ever written, with those that have ended."""

    def __init__(self) -> None:
        self._known: dict[int, float] = {}
        self._lost = 0.0

    def total(self, faces: dict[int, int]) -> float:
        """Return the bytes; without end while a process does not let itself be looked at."""
        known: dict[int, float] = {}
        for pid, face in faces.items():
            with suppress(FileNotFoundError, ProcessLookupError):
                known[pid] = self._written(pid, face)
        # The bytes of an ended process are in the account of the process that has waited for it. Where no
        # process waits for it, its bytes are in no account.
        grown = sum(known[pid] - before for pid, before in self._known.items() if pid in known)
        gone = sum(before for pid, before in self._known.items() if pid not in known)
        self._lost += max(0.0, gone - grown)
        total = sum(known.values()) + self._lost
        self._known = {pid: count for pid, count in known.items() if count < math.inf}
        return total

    def _written(self, pid: int, face: int) -> float:
        try:
            return usage.written(face)
        except PermissionError:
            # It forbids to be looked at; or it has ended, and writes no more.
            return self._known.get(pid, math.inf) if usage.has_ended(face) else math.inf


def size_on_disk(place: str, directory: int | None = None, stages: int = _STAGES) -> int:
    """Return what everything below a directory takes on disk; every name counts for a block of its own."""
    try:
        here = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return 0
    try:
        return _size_below(here, stages)
    finally:
        os.close(here)


def _size_below(here: int, stages: int) -> int:
    total = 0
    start = f"/proc/self/fd/{here}"
    pending = [start]
    while pending:
        place = pending.pop()
        if len(place) > _LONG_PATH:
            total += size_on_disk(place[len(start) + 1 :], here, stages - 1) if stages else 0
            continue
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    total += _NAME_BYTES
                    if stat.S_ISDIR(status.st_mode):
                        pending.append(entry.path)
                    else:
                        total += status.st_blocks * _BLOCK
    return total


def _free_bytes(place: str) -> int:
    status = os.statvfs(place)
    return status.f_bfree * status.f_frsize
