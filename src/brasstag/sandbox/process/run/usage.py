"""What a tree of processes uses, read from /proc."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_BLOCK = 512
_PIECE = 1 << 16
# What these are assumed to hold when they are full, or to cost; the real numbers cannot be seen.
_SOCKET_BYTES = 256 << 10
_PIPE_BYTES = 64 << 10
_MAPPING_BYTES = 256
_ENDED = b"ZX"


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What the processes of a tree use together."""

    tasks: int
    """Processes and their threads."""
    cpu_seconds: float
    resident_bytes: int
    """Shared pages counted for every process that has them: never too little, except for what no process has mapped in."""
    faces: dict[int, int]
    """The processes, and for each the thread under whose number /proc tells of it: the first may have ended."""


@dataclass(frozen=True, slots=True)
class DescriptorUsage:
    """What processes hold by their descriptors alone."""

    unlinked_bytes: int
    """What files take that have no name any more."""
    pipe_bytes: int
    """What their pipes may hold: it is the kernel's memory, and no process's own."""


def tree(root: int, most: int) -> list[int]:
    """Return a process and all below it, or enough of them to see that they are too many."""
    found: list[int] = []
    pending = [root]
    # A tree that grows faster than it is walked would never end.
    while pending and len(found) <= most:
        pid = pending.pop()
        found.append(pid)
        with suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                pending += map(int, _read(f"/proc/{pid}/task/{task}/children").split())
    return found


def usage(pids: Iterable[int]) -> ProcessUsage:
    """Add up what processes use; those that have ended meanwhile count nothing."""
    tasks = pages = ticks = 0
    faces: dict[int, int] = {}
    for pid in pids:
        with suppress(OSError, IndexError):
            face, numbers = _face(pid)
            faces[pid] = face
            # user, system, and the same of children that have been waited for
            ticks += sum(map(int, numbers[11:15]))
            tasks += int(numbers[17])
            pages += int(numbers[21])
    return ProcessUsage(tasks, ticks / _TICKS, pages * _PAGE, faces)


def written(pid: int) -> int:
    """Return how many bytes a process, and children it has waited for, have ever written, to anything."""
    counted = dict(line.split(b": ") for line in _read(f"/proc/{pid}/io").splitlines())
    # The first knows what went through calls, the second what was dirtied on a disk, through mappings, too.
    return max(int(counted[b"wchar"]), int(counted[b"write_bytes"]))


def has_ended(pid: int) -> bool:
    """Say whether a process only waits to be waited for."""
    return _numbers(pid)[0] in _ENDED


def private_memory(pids: Iterable[int]) -> int:
    """Return the memory of processes that only they have: pages they share count once, files they only map do not."""
    return sum(_amount(f"/proc/{pid}/smaps_rollup", b"Pss_Anon:") for pid in pids)


def memory_beside(pids: Collection[int], root: int) -> int:
    """Return what no process has mapped in, and the kernel keeps for them all the same.

    These are memory they share, the tables of their mappings, and what may lie in sockets and pipes. Shared memory
    counts with its full size, touched or not: what a process has written and no longer maps is in no process's account.
    """
    tables = 0
    shared: dict[bytes, int] = {}
    for pid in pids:
        tables += _amount(f"/proc/{pid}/status", b"VmPTE:")
        with suppress(OSError):
            lines = _read(f"/proc/{pid}/maps").splitlines()
            tables += len(lines) * _MAPPING_BYTES
            for key, size in _shared(lines):
                shared[key] = max(shared.get(key, 0), size)
    return tables + sum(shared.values()) + _socket_memory(root) + held(pids).pipe_bytes


def held(pids: Iterable[int]) -> DescriptorUsage:
    """Look through the descriptors of processes."""
    unlinked: dict[tuple[int, int], int] = {}
    pipes: set[tuple[int, int]] = set()
    for pid in pids:
        with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat()
                    if stat.S_ISFIFO(status.st_mode):
                        pipes.add((status.st_dev, status.st_ino))
                    elif stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                        unlinked[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK
    return DescriptorUsage(sum(unlinked.values()), len(pipes) * _PIPE_BYTES)


def _face(pid: int) -> tuple[int, list[bytes]]:
    """Return the number under which a process can be looked at, and what its stat says after the name.

    When the first thread of a process ends before the others, /proc shows nothing of their memory under its number.
    """
    numbers = _numbers(pid)
    if numbers[0] in _ENDED and int(numbers[17]) > 1:
        for task in map(int, os.listdir(f"/proc/{pid}/task")):
            with suppress(OSError):
                others = _numbers(task)
                if others[0] not in _ENDED:
                    return task, others
    return pid, numbers


def _numbers(pid: int) -> list[bytes]:
    # The name of a program may hold anything; after its last bracket come plain numbers.
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _socket_memory(pid: int) -> int:
    with suppress(OSError):
        for line in _read(f"/proc/{pid}/net/sockstat").splitlines():
            name, _, numbers = line.partition(b": used ")
            if name == b"sockets":
                return int(numbers) * _SOCKET_BYTES
    return 0


def _amount(path: str, name: bytes) -> int:
    with suppress(OSError):
        _, found, rest = _read(path).partition(b"\n" + name)
        return int(rest.split(None, 1)[0]) * 1024 if found else 0
    return 0


def _shared(lines: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    for line in lines:
        if not line.endswith(b" (deleted)"):
            continue
        span, flags, _, device, inode = line.split(None, 5)[:5]
        if flags.endswith(b"s"):
            start, _, end = span.partition(b"-")
            yield device + inode, int(end, 16) - int(start, 16)


def _read(path: str) -> bytes:
    # Thousands a second: a file object would take three times as long.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        pieces = []
        while piece := os.read(descriptor, _PIECE):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)
