"""What this machine can confine: the real command line is tried with code that must fail to escape."""

import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from brasstag.sandbox.process.backend import Backend
from brasstag.sandbox.process.changes.layers import empty_workspace, held_directory, open_layer
from brasstag.sandbox.process.confine import seccomp
from brasstag.sandbox.process.confine.bubblewrap import Bubblewrap
from brasstag.sandbox.process.confine.start import NotConfined
from brasstag.sandbox.process.interpreters import running_python
from brasstag.sandbox.process.job import Job, JobLimits, Ran
from brasstag.sandbox.process.programs import trusted_programs, version_in
from brasstag.sandbox.process.run.job_run import run_job
from brasstag.words.errors import ToolError

OLDEST = (0, 8)
"""The first bubblewrap that can keep user namespaces out of reach."""

_PLACES = ("/usr/bin", "/usr/local/bin", "/bin")
_INSTALL = {
    "apt-get": "apt-get install bubblewrap",
    "dnf": "dnf install bubblewrap",
    "apk": "apk add bubblewrap",
    "pacman": "pacman -S bubblewrap",
}
_NAMESPACES = (
    "Let ordinary users make user namespaces: on Ubuntu 24.04 and later give bwrap an AppArmor profile, or set "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it so that it may make them."
)
_CANARY = """
import json, socket, sys
found = {}
def attempt(name, work):
    try:
        work()
        found[name] = "open"
    except Exception as error:
        found[name] = type(error).__name__
attempt("read", lambda: open(sys.argv[1]).read())
attempt("socket", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 1).close())
attempt("write", lambda: open("canary.txt", "w").close())
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What this machine can confine, and what would let it do so where it cannot."""

    backend: Backend | None
    reason: str = ""
    """Why there is no backend, in a sentence."""
    mend: str = ""
    """What a person can do about it."""
    report: Mapping[str, str] = field(default_factory=dict)
    """What a run here is confined by, as every result reports it."""


def find_confinement(workspace: Path, scratch: Path) -> Confinement:
    """Find out what can confine code that works in a workspace; what was found to work is tried once in a process."""
    key = (str(workspace.resolve()), str(scratch), os.environ.get("PATH", ""))
    found = _found.get(key)
    if found is None:
        found = _find(*key)
        if found.backend is not None:
            # What is missing may be installed while we run; what works goes on working.
            _found[key] = found
    return found


_found: dict[tuple[str, str, str], Confinement] = {}


def _find(workspace: str, scratch: str, path: str) -> Confinement:
    if sys.platform != "linux":
        return Confinement(
            None,
            "code can be confined on Linux only",
            "Run Brasstag on Linux, in a virtual machine for example.",
        )
    if not seccomp.is_supported():
        return Confinement(
            None,
            f"there is no system call filter for {platform.machine()} yet",
            f"Run Brasstag on {seccomp.SUPPORTED}.",
        )
    program = next(programs(Path(workspace), path), None)
    if program is None:
        return Confinement(None, "bubblewrap is not installed", f"Install it: `{how_to_install()}`.")
    version = _version(program)
    if version is None:
        return Confinement(
            None,
            f"{program} does not say its version, so it is not known what it can do",
            f"Run `{program} --version` to see why, and install it again: `{how_to_install()}`.",
        )
    if version < OLDEST:
        return Confinement(
            None,
            f"the bubblewrap here is older than {'.'.join(map(str, OLDEST))}",
            "Install a newer one, from a newer release of the system for example.",
        )
    return _tried(Bubblewrap(program, ".".join(map(str, version))), Path(scratch))


def programs(workspace: Path, path: str) -> Iterator[Path]:
    """Find bubblewraps that a person or program working in the workspace cannot have put there."""
    return trusted_programs("bwrap", [*_PLACES, *path.split(os.pathsep)], workspace)


def how_to_install() -> str:
    """Return the command that installs bubblewrap on this system."""
    for manager, command in _INSTALL.items():
        if any(Path(place, manager).exists() for place in ("/usr/bin", "/usr/sbin", "/sbin")):
            return command
    return "the package bubblewrap of your system"


def _version(program: Path) -> tuple[int, ...] | None:
    try:
        said = subprocess.run(  # noqa: S603 - code in the workspace cannot have written this file
            [str(program), "--version"],
            capture_output=True,
            timeout=10,
            check=False,
            env={},
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return version_in(said)


def _tried(backend: Backend, scratch: Path) -> Confinement:
    try:
        with held_directory(scratch) as place:
            ran, changed = _release_canary(backend, place)
    except NotConfined as error:
        return Confinement(None, f"bubblewrap cannot work here: {error.said}", _NAMESPACES)
    except (OSError, ToolError) as error:
        return Confinement(None, f"confinement could not be tried: {error}", "Correct that, then try again.")
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        said = ran.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return Confinement(
            None, f"Python does not run confined here: {said}", "Use a Python that is whole in one place."
        )
    if found["read"] == "open" or found["socket"] == "open" or not changed:
        return Confinement(
            None, f"confinement does not hold here: {found}", "Tell the people who make Brasstag."
        )
    return Confinement(backend, report=ran.confinement)


def _release_canary(backend: Backend, place: Path) -> tuple[Ran, bool]:
    secret = place / "secret.txt"
    secret.write_text("if code inside can read this, nothing is confined")
    scratch = place / "scratch"
    scratch.mkdir()
    python = running_python()
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as server,
        empty_workspace(place) as workspace,
    ):
        port = str(server.getsockname()[1])
        job = Job(
            (python.program, "-I", "-S", "-c", _CANARY, str(secret), port),
            limits=JobLimits(wall_seconds=20.0),
            binds=python.binds,
        )
        with open_layer(workspace, scratch, job) as layer:
            ran = run_job(job, layer, backend)
            return ran, [entry.path for entry in layer.changes().entries] == ["canary.txt"]
