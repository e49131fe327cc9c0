"""Limits that the kernel keeps for all processes of a job, where we may use a cgroup."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from brasstag.sandbox.process.job import Ended, JobLimits

ROOT = Path("/sys/fs/cgroup")
_NEEDED = frozenset({"memory", "pids"})
# The backend's own processes.
_OVERHEAD = 3


@dataclass(frozen=True, slots=True)
class Group:
    """A cgroup of one run."""

    path: Path

    def broken(self) -> Ended | None:
        """Return the limit the kernel has had to enforce, if it had to."""
        if _count(self.path / "memory.events", "oom_kill"):
            return "memory"
        return "processes" if _count(self.path / "pids.events", "max") else None


@lru_cache(maxsize=4)
def delegated(root: Path = ROOT, membership: Path = Path("/proc/self/cgroup")) -> Path | None:
    """Return the cgroup in which we may make others with memory and process limits, or None."""
    try:
        lines = membership.read_text().splitlines()
        own = next(line.partition("::")[2] for line in lines if line.startswith("0::"))
    except (OSError, StopIteration):
        return None
    # Processes live in leaves only, so ours is a sibling of what we make.
    parent = (root / own.lstrip("/")).parent
    if not parent.is_relative_to(root):
        return None
    try:
        controllers = set((parent / "cgroup.subtree_control").read_text().split())
    except OSError:
        return None
    is_ours = os.access(parent, os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK)
    return parent if is_ours and controllers >= _NEEDED else None


@contextmanager
def group_for(limits: JobLimits, parent: Path | None) -> Iterator[Group | None]:
    """Hold a cgroup with these limits; None where we may make none."""
    if parent is None:
        yield None
        return
    path = Path(tempfile.mkdtemp(prefix="brasstag-", dir=parent))
    try:
        (path / "memory.max").write_text(str(limits.memory_bytes))
        (path / "pids.max").write_text(str(limits.processes + _OVERHEAD))
        with suppress(OSError):
            # What is swapped out would not count.
            (path / "memory.swap.max").write_text("0")
        yield Group(path)
    finally:
        with suppress(OSError):
            path.rmdir()


def _count(events: Path, name: str) -> int:
    with suppress(OSError):
        for line in events.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0
