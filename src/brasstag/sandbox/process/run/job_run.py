"""Run one job, watched from its first instruction until nothing of it is left."""

import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from types import TracebackType

from brasstag.sandbox.process.backend import Backend
from brasstag.sandbox.process.changes.layers import Layer
from brasstag.sandbox.process.confine.cgroups import Group, delegated, group_for
from brasstag.sandbox.process.confine.start import Child, NoOverlay, NotConfined, exit_code, start_job
from brasstag.sandbox.process.job import Ended, Job, Ran
from brasstag.sandbox.process.output import KeptOutput, OnOutput, Stream
from brasstag.sandbox.process.run.watchdog import Watchdog
from brasstag.sandbox.process.web_door import Door
from brasstag.words.errors import Code, ToolError

# What a backend says, and a shell answers, when there is no such program.
_NOT_FOUND = b"bwrap: execvp"
_EXIT_NOT_FOUND = 127
_SLOWEST = 0.25
_SHARE = 0.001
_URGENT = -20


def ignore_output(_stream: Stream, _data: bytes) -> None:
    """Do nothing: no caller wants the output as it comes."""


class Stop:
    """Ends a run from another thread, at once; can be pulled before the run begins, and more than once."""

    def __init__(self) -> None:
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._lock = threading.Lock()

    def __enter__(self) -> "Stop":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            os.close(self.descriptor)
            self.descriptor = -1

    def pull(self) -> None:
        """End the run now; after it, nothing happens."""
        with self._lock:
            if self.descriptor >= 0:
                os.eventfd_write(self.descriptor, 1)


def run_job(
    job: Job,
    layer: Layer,
    backend: Backend,
    tell: OnOutput = ignore_output,
    stop: Stop | None = None,
    door: Door | None = None,
) -> Ran:
    """Run a job to its end; nothing of it is left when this returns, or raises."""
    if job.network != (door is not None):
        raise ValueError("a job has a door if it has a network, and only then")
    with ExitStack() as held:
        group = held.enter_context(group_for(job.limits, delegated()))
        try:
            child = start_job(job, layer, backend, group, held)
        except NoOverlay:
            if not layer.fall_back():
                raise
            child = start_job(job, layer, backend, group, held)
        with _served(child, door):
            return _JobRun(job, layer, backend, group, child, tell, door).watch(stop)


def _served(child: Child, door: Door | None) -> AbstractContextManager[None]:
    return door.serve(child.listener) if door and child.listener else nullcontext()


_active: set[int] = set()


def _pace(dog: Watchdog) -> float:
    """Return how long to wait between two looks: many runs at once share what looking costs."""
    return min(_SLOWEST, dog.pace + _SHARE * (len(_active) - 1))


@contextmanager
def _first_in_line() -> Iterator[None]:
    """Let this thread run before others where it may: hundreds of forks would leave it no turn in which to end them."""
    thread = threading.get_native_id()
    before = os.getpriority(os.PRIO_PROCESS, thread)
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, thread, _URGENT)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, thread, before)


class _JobRun:
    def __init__(
        self,
        job: Job,
        layer: Layer,
        backend: Backend,
        group: Group | None,
        child: Child,
        tell: OnOutput,
        door: Door | None,
    ) -> None:
        self._job = job
        self._layer = layer
        self._backend = backend
        self._group = group
        self._child = child
        self._door = door
        self._out = KeptOutput("stdout", child.stdout, job.limits.output_bytes, tell)
        self._err = KeptOutput("stderr", child.stderr, job.limits.output_bytes, tell)
        self._outputs = {kept.descriptor: kept for kept in (self._out, self._err)}
        self._ended_by: Ended | None = None
        self._status = b""
        # The backend's own process closes its end before it releases its mounts. No run waits for that.
        self._left = {child.status, child.inner}

    def watch(self, stop: Stop | None) -> Ran:
        started = time.monotonic()
        dog = Watchdog(self._child.pid, self._job.limits, self._layer.written, started)
        try:
            _active.add(self._child.pid)
            with _first_in_line():
                self._layer.require_unmoved()
                self._child.release()
                self._until_gone(dog, stop)
        finally:
            _active.discard(self._child.pid)
            self._kill()
            self._wait()
            dog.close()
        elapsed = time.monotonic() - started
        return self._ran(round(elapsed * 1000))

    def _until_gone(self, dog: Watchdog, stop: Stop | None) -> None:
        poll = select.poll()
        for descriptor in (*self._outputs, *self._left, *([stop.descriptor] if stop else [])):
            poll.register(descriptor, select.POLLIN)
        next_look = 0.0
        while self._left:
            for descriptor, _ in poll.poll(_pace(dog) * 1000):
                if not self._read_chunk(descriptor):
                    poll.unregister(descriptor)
            if self._ended_by is None and time.monotonic() >= next_look:
                self._end(dog.broken())
                next_look = time.monotonic() + _pace(dog)
        for kept in self._outputs.values():
            while kept.read():
                """Read what is left in the pipe; no process writes to it any more."""

    def _read_chunk(self, descriptor: int) -> bool:
        """Take in what a descriptor has to say; False when it has nothing more."""
        kept = self._outputs.get(descriptor)
        if kept is not None:
            has_more = kept.read()
            if kept.is_flood:
                self._end("output")
            return has_more
        if descriptor == self._child.status and (told := os.read(descriptor, 4096)):
            self._status += told
            return True
        if descriptor in self._left:
            self._left.discard(descriptor)
        else:
            self._end("cancelled")
        return False

    def _end(self, why: Ended | None) -> None:
        if why is not None and self._ended_by is None:
            self._ended_by = why
            self._kill()

    def _kill(self) -> None:
        # The first process of a process namespace takes all others with it, and is gone only after them.
        for descriptor in (self._child.inner, self._child.outer):
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    def _wait(self) -> None:
        gone = select.poll()
        gone.register(self._child.inner, select.POLLIN)
        gone.poll()

    def _ran(self, milliseconds: int) -> Ran:
        # One that was ended first may not have come as far as its gate; that says nothing about its confinement.
        if self._ended_by is None and not self._child.was_released():
            raise NotConfined(self._err.data.decode(errors="replace"))
        code = None if self._ended_by else self._exit_code()
        return Ran(
            self._out.data,
            self._err.data,
            self._out.is_truncated,
            self._err.is_truncated,
            code,
            milliseconds,
            self._ended_by or (self._group.broken() if self._group and code else None),
            self._confinement(),
        )

    def _exit_code(self) -> int:
        code = exit_code(self._status)
        if code is not None:
            return code
        if self._err.data.startswith(_NOT_FOUND):
            return _EXIT_NOT_FOUND
        raise ToolError(
            Code.EXECUTION_ERROR, "the run was cut off from outside before its end; nothing it did was kept"
        )

    def _confinement(self) -> dict[str, str]:
        return {
            "backend": self._backend.name,
            "overlay": self._layer.footing,
            **self._backend.report(self._job, self._door.hosts if self._door else ()),
            "mem": "cgroup and watchdog" if self._group else "watchdog",
            "pids": "cgroup and watchdog" if self._group else "watchdog",
            "disk": "watchdog",
        }
