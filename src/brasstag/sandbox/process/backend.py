"""Backend: a way of confining has to offer a command line that starts a job without what it must not reach."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from brasstag.sandbox.process.job import Job


@dataclass(frozen=True, slots=True)
class Mounts:
    """What the code sees at which place, as paths of the host."""

    workspace: str
    writable: bool
    shown: tuple[str, ...] = ()
    """Names at the top of the workspace that may be read, but not changed."""
    host: str = ""
    """Where the workspace is on the host: what lies in it, such as an interpreter, is bound from what the code sees."""

    def source(self, path: str) -> str:
        """Return where a path of the host is to be bound from."""
        real = os.path.realpath(path)
        below = os.path.relpath(real, self.host) if self.host else ".."
        return path if below.split("/")[0] == ".." else os.path.normpath(f"{self.workspace}/{below}")


@dataclass(frozen=True, slots=True)
class Wires:
    """The numbers of the descriptors a backend is given beside the three of the program itself."""

    filter: int = 10
    """The system call filter, ready to be read."""
    status: int = 11
    """Where the process id of the first confined process is written, then its exit code, as JSON."""
    gate: int = 12
    """Nothing of the job runs before a byte can be read here."""
    script: int = 13
    """The job's script, if it has one, ready to be read."""
    options: int = 14
    """The backend's options, each ended by a NUL, ready to be read: what a command line says, code could read."""


class Backend(Protocol):
    """One way of confining a process."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def report(self, job: Job, hosts: Sequence[str] = ()) -> Mapping[str, str]:
        """Return what it guarantees about net, fs_read, fs_write, metadata and proc; a door leads to the hosts."""

    def command(self, job: Job, wires: Wires) -> list[str]:
        """Return the command line that runs a job; its first word is an absolute path, and none is a path of the host."""

    def options(self, job: Job, mounts: Mounts, wires: Wires) -> list[str]:
        """Return the options it is to read from its wire."""
