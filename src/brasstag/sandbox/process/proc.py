"""What a tree of processes uses, read from /proc."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_BLOCK = 512
_SOCKET_BYTES = 256 << 10
"""What a socket is taken to hold when it is full; nobody can see what it does hold."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of a tree use together."""

    tasks: int
    """Processes and their threads."""
    cpu_seconds: float
    resident_bytes: int
    """Shared pages counted for every process that has them: never too little, except for what no process has mapped in."""


def tree(root: int) -> list[int]:
    """Return a process and all below it."""
    found: list[int] = []
    pending = [root]
    while pending:
        pid = pending.pop()
        found.append(pid)
        with suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                pending += [int(child) for child in _text(f"/proc/{pid}/task/{task}/children").split()]
    return found


def usage(pids: list[int]) -> Usage:
    """Add up what processes use; those that have ended meanwhile count nothing."""
    tasks = pages = ticks = 0
    for pid in pids:
        with suppress(OSError, IndexError):
            # The name of a program may hold anything; after its last bracket come plain numbers.
            numbers = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
            # user, system, and the same of children that have been waited for
            ticks += sum(int(number) for number in numbers[11:15])
            tasks += int(numbers[17])
            pages += int(numbers[21])
    return Usage(tasks, ticks / _TICKS, pages * _PAGE)


def socket_memory(pid: int) -> int:
    """Return what the sockets in the network of a process may hold: it is the kernel's memory, and no process's own."""
    with suppress(OSError):
        for line in _text(f"/proc/{pid}/net/sockstat").splitlines():
            name, _, numbers = line.partition(": used ")
            if name == "sockets":
                return int(numbers) * _SOCKET_BYTES
    return 0


def memory(pids: list[int]) -> int:
    """Return the memory processes really take: pages they share count once, files they only map do not."""
    private = 0
    for pid in pids:
        with suppress(OSError):
            private += _private(pid)
    return private + shared_memory(pids)


def shared_memory(pids: list[int]) -> int:
    """Return how much nameless memory processes share, by its size, touched or not.

    What one of them has written and no longer maps is in nobody's account, so only its size tells.
    """
    shared: dict[tuple[str, str], int] = {}
    for pid in pids:
        with suppress(OSError):
            for key, size in _shared(pid):
                shared[key] = max(shared.get(key, 0), size)
    return sum(shared.values())


def unlinked_bytes(pids: list[int]) -> int:
    """Return what files take that processes hold open and that have no name any more."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat()
                    if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                        found[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK
    return sum(found.values())


def _private(pid: int) -> int:
    for line in _text(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss_Anon:"):
            return int(line.split()[1]) * 1024
    return 0


def _shared(pid: int) -> Iterator[tuple[tuple[str, str], int]]:
    for line in _text(f"/proc/{pid}/maps").splitlines():
        if not line.endswith(" (deleted)"):
            continue
        span, flags, _, device, inode = line.split(None, 5)[:5]
        if flags.endswith("s"):
            start, _, end = span.partition("-")
            yield (device, inode), int(end, 16) - int(start, 16)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - thousands a second
        return file.read()
