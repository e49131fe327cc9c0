"""A real terminal with the command in it, in a process of its own: keys are typed, the screen is read.

The processes are forked from a server that has the imports already, so that many of them are cheap.
"""

import codecs
import fcntl
import multiprocessing
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.processes import start_server

PATIENCE_SECONDS = 300.0
"""Far more than anything here takes; a test that waits this long has failed."""

CTRL_C, CTRL_D = "\x03", "\x04"

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.preload"])


def _become_command(
    tty: str, project: Path, environment: Mapping[str, str], arguments: tuple[str, ...]
) -> None:
    """Run the command on a terminal that is this process's own, so that Ctrl-C is a signal to it."""
    # As in a shell; tests that run in the background may have been told to ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    terminal = os.open(tty, os.O_RDWR)
    for descriptor, stream in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(terminal, descriptor)
        setattr(sys, stream, os.fdopen(descriptor, "r" if descriptor == 0 else "w", closefd=False))
    os.chdir(project)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["brasstag", *arguments]
    from brasstag.surfaces.cli.main import main

    main()


class Terminal:
    """One command at a terminal."""

    def __init__(
        self, project: Path, environment: Mapping[str, str], *arguments: str, columns: int = 80
    ) -> None:
        self._keyboard, tty = pty.openpty()
        fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.screen = ""
        """Everything printed so far, with colours."""
        # A character may come in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._process = _context.Process(
            target=_become_command, args=(os.ttyname(tty), project, dict(environment), arguments)
        )
        start_server()
        self._process.start()
        # Closed only once the other side has it open, else what is printed in between has nowhere to go.
        self._tty: int | None = tty

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process.is_alive():
            self._process.kill()
        self._process.join(PATIENCE_SECONDS)
        os.close(self._keyboard)
        if self._tty is not None:
            os.close(self._tty)

    @property
    def pid(self) -> int:
        """The process at this terminal."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def text(self) -> str:
        """All that was shown, as it is read: without colours and moves of the cursor."""
        return _CONTROLS.sub("", self.screen).replace("\r\n", "\n")

    def until(self, shown: str, times: int = 1) -> Self:
        """Wait until something has been printed, so many times."""
        while self.text.count(shown) < times:
            assert self._read(), f"{shown!r} was not printed {times} times, but:\n{self.text}"
        return self

    def type(self, keys: str) -> Self:
        """Press keys; a line ends with Enter."""
        os.write(self._keyboard, keys.encode())
        return self

    def ends(self) -> int:
        """Wait for the end and return the exit code."""
        while self._read():
            pass
        self._process.join(PATIENCE_SECONDS)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def _read(self) -> bool:
        """Read what there is; say whether anything may still come."""
        ready, _, _ = select.select([self._keyboard, self._process.sentinel], [], [], PATIENCE_SECONDS)
        assert ready, f"nothing more came, after:\n{self.text}"
        if self._keyboard not in ready:
            return False
        self.screen += self._decoder.decode(os.read(self._keyboard, 65536))
        return True
