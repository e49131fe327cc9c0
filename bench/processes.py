"""Workers in processes of their own, and what the kernel says about them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from brasstag.store.database.postgres_address import DATABASE_VARIABLE

ENDS_WITHIN = 60


@dataclass(frozen=True)
class Usage:
    """What a process uses."""

    megabytes: float
    """Resident memory."""
    threads: int
    cpu_seconds: float


def environment(url: str = "") -> dict[str, str]:
    """Return the variables of a process whose room is in SQLite, or in the Postgres at ``url``."""
    return {**os.environ, **({DATABASE_VARIABLE: url} if url else {})}


@contextmanager
def worker(project: Path, url: str = "", concurrency: int = 8) -> Iterator[int]:
    """Run a real `brasstag worker`; yields its process id once it serves."""
    command = [sys.executable, "-P", "-m", "brasstag", "worker", "-C", str(project), "-o", "json"]
    process = subprocess.Popen(
        [*command, "--concurrency", str(concurrency)],
        env=environment(url),
        stdout=subprocess.PIPE,
        # It says that it leaves when it is told to.
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "serving"
        yield process.pid
    finally:
        process.terminate()
        process.communicate(timeout=ENDS_WITHIN)


def usage_of(process_id: int) -> Usage:
    """Return what a process uses at this moment."""
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    status = dict(line.split(":", 1) for line in lines if ":" in line)
    ticks = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[11:15]
    return Usage(
        megabytes=int(status["VmRSS"].split()[0]) / 1024,
        threads=int(status["Threads"]),
        cpu_seconds=sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
    )
