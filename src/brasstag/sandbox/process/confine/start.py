"""Start a job: its descriptors, its limits, and a gate it waits behind until it is watched."""

import array
import errno
import fcntl
import json
import os
import reprlib
import resource
import select
import signal
import socket
import termios
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from brasstag.sandbox.process.backend import Backend, Wires
from brasstag.sandbox.process.changes.layers import Layer
from brasstag.sandbox.process.confine.cgroups import Group
from brasstag.sandbox.process.confine.launcher.kernel import LAYER, MOVED, NETWORK, START
from brasstag.sandbox.process.confine.seccomp import filter_program
from brasstag.sandbox.process.confine.spawn import Started, start_program
from brasstag.sandbox.process.job import Job, JobLimits
from brasstag.sandbox.process.web_door import PORT
from brasstag.sandbox.workspace.errors import at_path
from brasstag.sandbox.workspace.hidden_from_code import HiddenMoved
from brasstag.sandbox.workspace.paths import parse_path
from brasstag.words.errors import Code, ToolError

WIRES = Wires()

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


class NotConfined(ToolError):
    """The code was not run, because what confines it could not be set up; ``said`` is for the operator."""

    def __init__(self, said: str) -> None:
        super().__init__(
            Code.NOT_SUPPORTED,
            "the code was not run: it cannot be confined here. A person has to find out why",
            hint="`brasstag doctor` says why",
        )
        self.said = said


class NoOverlay(NotConfined):
    """The kernel would not mount a layer over this workspace."""


@dataclass(frozen=True, slots=True)
class Child:
    """A job behind its gate. The caller's stack closes every descriptor."""

    outer: int
    """Names the process of the backend."""
    inner: int
    """Names the first confined process: when it is gone, nothing of the job is left."""
    pid: int
    """The first confined process."""
    stdout: int
    stderr: int
    status: int
    gate: int
    gate_inside: int
    listener: socket.socket | None
    """Where the job looks for its door, if it has a network."""

    def release(self) -> None:
        """Let the job run."""
        os.write(self.gate, b"1")

    def was_released(self) -> bool:
        """Say whether the job came as far as its gate."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self.gate_inside, termios.FIONREAD, waiting)
        return waiting[0] == 0


def start_job(job: Job, layer: Layer, backend: Backend, group: Group | None, held: ExitStack) -> Child:
    """Start a job; raises NotConfined when that cannot be, and NoOverlay when it could on another footing."""
    _refuse_unfit(job, layer)
    with ExitStack() as inside:
        # When this process closes its end, by whatever end of its own, all that was started is killed.
        leash_inside, leash = _pipe(inside, held)
        gate_inside, gate = _pipe(held, held)
        stdout, stdout_inside = _pipe(held, inside)
        stderr, stderr_inside = _pipe(held, inside)
        status, status_inside = _pipe(held, inside)
        wires = {
            0: _memory_file(job.stdin, inside),
            1: stdout_inside,
            2: stderr_inside,
            WIRES.filter: _memory_file(filter_program(network=job.network), inside),
            WIRES.status: status_inside,
            WIRES.gate: gate_inside,
        }
        if job.script is not None:
            wires[WIRES.script] = _memory_file(job.script, inside)
        options = backend.options(job, layer.mounts(), WIRES)
        wires[WIRES.options] = _memory_file(b"".join(os.fsencode(one) + b"\0" for one in options), inside)
        wanted = {
            "argv": backend.command(job, WIRES),
            "environment": {},
            "wires": list(wires),
            "limits": _kernel_limits(job.limits),
            "layer": layer.view(),
            "door": PORT if job.network else 0,
            "cgroup": str(group.path) if group else "",
        }
        started = start_program(wanted, [leash_inside, gate, *wires.values(), layer.root])
    held.callback(started.close)
    # Before the gate is closed, which would open it: whatever went wrong until then, nothing runs unwatched.
    held.callback(_kill, started.pidfd)
    _refuse_trouble(started)
    pid = _first_process(status, started.pidfd)
    if pid is None:
        raise NotConfined(_last_words(stderr))
    try:
        inner = os.pidfd_open(pid)
        held.callback(os.close, inner)
        os.write(leash, str(pid).encode())
    except (ProcessLookupError, BrokenPipeError):
        raise NotConfined(_last_words(stderr)) from None
    with suppress(OSError):
        # Counted inside its own user namespace; outside it would be all processes this user has.
        most = job.limits.processes + 1
        resource.prlimit(pid, resource.RLIMIT_NPROC, (most, most))
    listener = held.enter_context(socket.socket(fileno=started.handed.pop())) if job.network else None
    return Child(started.pidfd, inner, pid, stdout, stderr, status, gate, gate_inside, listener)


def exit_code(status: bytes) -> int | None:
    """Return the exit code among what a backend has reported, if it is there."""
    for line in status.splitlines():
        told = json.loads(line)
        if "exit-code" in told:
            return int(told["exit-code"])
    return None


def _refuse_trouble(started: Started) -> None:
    failure = started.failure()
    if failure is None:
        return
    step, number = failure
    said = f"{step}: {os.strerror(number)}"
    if step == START and number == errno.E2BIG:
        raise ToolError(
            Code.TOO_LARGE,
            "the command line or the environment is too long for the system, which takes 128 KiB in one word; "
            "put what is long into a file of the workspace",
        )
    if step.startswith(NETWORK):
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"the code was not run: it cannot be given a network of its own here ({said}); "
            "run it without `network`, and fetch with web_fetch",
        )
    if step.startswith(MOVED):
        raise HiddenMoved
    raise NoOverlay(said) if step.startswith(LAYER) else NotConfined(said)


def _refuse_unfit(job: Job, layer: Layer) -> None:
    for word in job.argv:
        if "\0" in word:
            raise _unfit(word, "no word of a command can hold a NUL")
    for name, value in job.environment.items():
        if not name or "\0" in name or "=" in name:
            raise _unfit(name, "the name of an environment variable cannot be empty, or hold a NUL or a =")
        if "\0" in value:
            raise _unfit(value, f"no value of an environment variable, such as {name}, can hold a NUL")
    with at_path(job.directory), layer.workspace.directory(parse_path(job.directory)):
        """It is there."""


def _unfit(word: str, why: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, f"{reprlib.repr(word)} cannot be given to a program: {why}")


def _first_process(status: int, backend: int) -> int | None:
    """Wait until the backend says which is its first confined process; None when it ends before."""
    said = b""
    poll = select.poll()
    for descriptor in (status, backend):
        poll.register(descriptor, select.POLLIN)
    while b"\n" not in said:
        # What it left behind may hold its end of the pipe open for ever.
        ready = [descriptor for descriptor, _ in poll.poll()]
        piece = os.read(status, 4096) if status in ready else b""
        if not piece:
            return None
        said += piece
    return int(json.loads(said.splitlines()[0])["child-pid"])


def _last_words(stderr: int) -> str:
    """Return what a backend has said before it ended; what it left behind may hold the pipe open for ever."""
    os.set_blocking(stderr, False)
    try:
        return os.read(stderr, 4096).decode(errors="replace").strip()
    except BlockingIOError:
        return ""


def _kernel_limits(limits: JobLimits) -> list[tuple[str, int]]:
    """Return what the kernel holds each process to; what holds for all together is the watchdog's."""
    return [
        ("RLIMIT_CORE", 0),
        ("RLIMIT_CPU", int(limits.cpu_seconds) + 1),
        ("RLIMIT_DATA", 2 * limits.memory_bytes),
        ("RLIMIT_FSIZE", limits.file_bytes),
        ("RLIMIT_NOFILE", limits.open_files),
    ]


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """Open a pipe; the exit stack of each holder closes its end."""
    ends = os.pipe2(os.O_CLOEXEC)
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends


def _kill(pidfd: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _memory_file(data: bytes, held: ExitStack) -> int:
    descriptor = os.memfd_create("given", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    held.callback(os.close, descriptor)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    # No process can write to it, so the code cannot hide memory in it.
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor
