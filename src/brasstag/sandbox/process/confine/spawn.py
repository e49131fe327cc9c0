"""Our side of the launcher: started once, asked for one program at a time."""

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brasstag.sandbox.process.confine.launcher.kernel import receive
from brasstag.words.errors import Code, ToolError

# The launcher's folder is taken as a package of its own: the packages above it would import more than it needs, and a fork
# takes the longer the more there is in memory.
LAUNCHER = """
import sys
place, parent = sys.argv[1:]
sys.path.append(place)
from launcher.serve import serve
sys.path.remove(place)
serve(int(parent))
"""
_PLACE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Started:
    """A program the launcher has forked: its process id, and a descriptor that names it for good."""

    pid: int
    pidfd: int
    trouble: socket.socket
    """Silent while all is well; says which step failed if the program could not be started, and ends when it was."""
    handed: list[int] = field(default_factory=list)
    """Descriptors it handed out before it was started."""

    def failure(self) -> tuple[str, int] | None:
        """Return the step that failed and the kernel's number for it; None when the program was started."""
        while True:
            said, descriptors = receive(self.trouble)
            self.handed.extend(descriptors)
            if not said:
                return None
            told = json.loads(said)
            if "step" in told:
                return told["step"], told["errno"]

    def close(self) -> None:
        """Close every descriptor that the caller did not take over."""
        self.trouble.close()
        for descriptor in self.handed:
            os.close(descriptor)
        os.close(self.pidfd)


class Launcher:
    """One launcher process; it ends when this object is closed, or this process is gone in any way."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.owner = os.getpid()
        self._control = ours
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own code, by our own interpreter
                [sys.executable, "-I", "-S", "-c", LAUNCHER, str(_PLACE), str(self.owner)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                # Nothing of ours is handed down: what is not there cannot leak.
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                # A Ctrl-C in the terminal is for the program, which then ends what it runs.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process id of the launcher."""
        return self._process.pid

    def start(self, wanted: dict[str, Any], wires: Sequence[int]) -> Started:
        """Start a program with these descriptors; ConnectionError when the launcher is gone."""
        request = os.memfd_create("request", os.MFD_CLOEXEC)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                os.write(request, json.dumps(wanted).encode())
                os.lseek(request, 0, os.SEEK_SET)
                socket.send_fds(self._control, [b"start"], [request, theirs.fileno(), *wires])
            said, descriptors = receive(ours)
        except BaseException:
            ours.close()
            raise
        finally:
            os.close(request)
        if descriptors:
            return Started(json.loads(said)["pid"], descriptors[0], ours)
        ours.close()
        if not said:
            raise ConnectionResetError
        raise OSError(json.loads(said)["errno"], "the launcher could not fork")

    def close(self) -> None:
        """End the launcher and all it has started."""
        self._control.close()
        self._process.wait()


_lock = threading.Lock()
_launcher: Launcher | None = None


def start_program(wanted: dict[str, Any], wires: Sequence[int]) -> Started:
    """Start a program from this process's launcher, which is started first where there is none."""
    for _ in range(2):
        launcher = _current()
        try:
            return launcher.start(wanted, wires)
        except ConnectionError:
            _forget(launcher)
        except OSError as error:
            # The launcher itself is well, and others still run under it.
            why = os.strerror(error.errno or 0)
            raise ToolError(
                Code.BUSY, f"the code was not run: {why}; call again when less is going on"
            ) from None
    raise ToolError(
        Code.EXECUTION_ERROR,
        "confined programs cannot be started: the launcher ends at once",
        hint="`brasstag doctor` says more",
    )


def stop_launcher() -> None:
    """End this process's launcher; the next program starts a new one."""
    with _lock:
        launcher = _launcher
    if launcher is not None:
        _forget(launcher)


def _current() -> Launcher:
    global _launcher  # noqa: PLW0603 - one for the process, as there is one event loop policy or one signal table
    with _lock:
        # A fork has its parent's object but is not its parent: what it starts must end with itself.
        if _launcher is None or _launcher.owner != os.getpid():
            _launcher = Launcher()
            atexit.register(stop_launcher)
        return _launcher


def _forget(launcher: Launcher) -> None:
    global _launcher  # noqa: PLW0603
    with _lock:
        if _launcher is launcher:
            _launcher = None
    launcher.close()
