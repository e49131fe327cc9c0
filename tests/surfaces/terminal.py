"""A real terminal with the real command in it: keys are typed, the screen is read."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE_SECONDS = 60.0
"""Far more than anything here takes; a test that waits this long has failed."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

# The child is the leader of its own session; taking the terminal as its own makes Ctrl-C a signal to it.
_PROGRAM = (
    "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "from brasstag.surfaces.cli.main import main; main()"
)

CTRL_C = "\x03"
CTRL_D = "\x04"


class Terminal:
    """One command at a terminal of 80 columns."""

    def __init__(self, project: Path, environment: Mapping[str, str], *arguments: str, columns: int = 80) -> None:
        self._master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *arguments],
            cwd=project,
            env=dict(environment) | {"TERM": "xterm-256color"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.screen = ""
        """Everything printed so far, with colours."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        os.close(self._master)

    @property
    def text(self) -> str:
        """The screen without colours and carriage returns."""
        return _COLOURS.sub("", self.screen).replace("\r\n", "\n")

    def until(self, shown: str) -> Self:
        """Wait until something has been printed."""
        start = len(self.text)
        while shown not in self.text:
            assert self._read(), f"{shown!r} was never printed, but:\n{self.text}"
        assert start >= 0
        return self

    def type(self, keys: str) -> Self:
        """Press keys; a line ends with Enter."""
        os.write(self._master, keys.encode())
        return self

    def ends(self) -> int:
        """Wait for the end and return the exit code."""
        while self._read():
            pass
        return self._process.wait(PATIENCE_SECONDS)

    def _read(self) -> bool:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self._master], [], [], 1.0)
            if ready:
                try:
                    data = os.read(self._master, 65536)
                except OSError:  # the other end is closed
                    return False
                self.screen += data.decode(errors="replace")
                return bool(data)
        raise AssertionError(f"nothing more came, after:\n{self.text}")
