"""What runs confined, within which limits, and how it ended."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brasstag.sandbox.workspace.hidden_from_code import FoundPath
from brasstag.words.errors import ToolError

WORKSPACE = "/workspace"
"""Where confined code finds the workspace. From its table of mounts it learns some paths of the host."""

SCRIPT = "/confined/code"
"""Where a job's script is: alone in its directory, and by a name no module has, so that it hides none."""

FILES = "/files"
"""Where a job finds the single files of the host that it was handed."""

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where confined code finds the programs of the system."""

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")

Ended = Literal["time", "cpu", "memory", "processes", "disk", "output", "cancelled"]
"""Which limit ended a run, or that its caller stopped it."""

System = Literal["whole", "libraries", "none"]
"""The system with devices and a /tmp; or what programs are linked with, for one that only reads; or nothing."""

Footing = Literal["overlay", "copy", "snapshot", "read-only"]
"""What the code stood on: a layer over the workspace, a copy of it, a copy without the right to write, or the workspace
itself without that right.
"""


@dataclass(frozen=True, slots=True)
class JobLimits:
    """What a run may use, all of its processes together unless it says otherwise."""

    wall_seconds: float = 60.0
    cpu_seconds: float = 60.0
    memory_bytes: int = 1 << 30
    processes: int = 128
    """Threads count as processes do."""
    file_bytes: int = 2 << 30
    """The largest single file; to write more into one fails, and what the program makes of that is up to it."""
    disk_bytes: int = 2 << 30
    """What all it writes into the workspace may take on disk; every name counts for a block."""
    output_bytes: int = 1 << 20
    """How much of each of its two outputs is kept; at eight times as much it is ended."""
    open_files: int = 1024
    """For each process."""
    temporary_bytes: int = 64 << 20
    """The size of /tmp, and of /dev/shm; both are memory and are gone afterwards."""


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run confined in the workspace."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """All it gets beside PATH, HOME, LANG, TMPDIR and settings that keep git from writing; these may be replaced."""
    directory: str = "."
    """Where it starts, as a canonical path of the workspace."""
    stdin: bytes = b""
    limits: JobLimits = field(default_factory=JobLimits)
    overlay: bool = True
    """Whether it may write in the workspace, on a layer of its own; else the workspace is read-only.

    With a network it is a copy, so that the code does not see what others save meanwhile. Without a network it is the
    workspace itself.
    """
    binds: tuple[Path, ...] = ()
    """Directories and files of the host it may read at their own paths, such as an interpreter."""
    system: System = "whole"
    """How much of the system it finds."""
    hidden: tuple[FoundPath, ...] = ()
    """Paths of the workspace that are empty to it, and what was there when that was decided."""
    walked: tuple[FoundPath, ...] = ()
    """The directories that were looked into to decide that."""
    network: bool = False
    """Whether it can connect to the door it is run with, and to nothing else."""
    script: bytes | None = None
    """What it finds as a read-only file at SCRIPT."""
    files: tuple[tuple[str, Path], ...] = ()
    """Files of the host it may read, each under a plain name of its own in FILES."""

    def __post_init__(self) -> None:
        for name, _ in self.files:
            if not _PLAIN.fullmatch(name):
                raise ValueError(
                    f"{name!r} cannot name a file in {FILES}; use letters, digits, dots, _ and -"
                )
        if self.network and self.overlay:
            raise ValueError("a run either changes the workspace or reaches the web; give it no overlay")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended; what it changed is in its layer."""

    stdout: bytes
    stderr: bytes
    stdout_truncated: bool
    stderr_truncated: bool
    exit_code: int | None
    """As a shell counts: 128 and the signal for what a signal ended; None when we ended it."""
    milliseconds: int
    ended_by: Ended | None
    confinement: Mapping[str, str]
    """What it really ran under: backend, overlay, net, fs_read, fs_write, metadata, proc, mem, pids, disk."""
    notes: tuple[str, ...] = ()
    """What of its changes will not be on disk quite as it saw it."""
    refused: ToolError | None = None
    """Why nothing it changed can land; None where all of it can."""


def processor_seconds(seconds: float) -> float:
    """Return all the processor time there is in so many seconds, on every processor this process may use."""
    is_known = hasattr(os, "sched_getaffinity")
    return seconds * (len(os.sched_getaffinity(0)) if is_known else os.cpu_count() or 1)
