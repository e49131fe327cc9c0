"""Start what is asked for until the parent is gone, and leave nothing of it."""

import gc
import os
import select
import signal
import socket
from contextlib import suppress
from typing import NoReturn

from .guard import start_guard
from .kernel import PR_SET_CHILD_SUBREAPER, control_process, die_with, receive, tell
from .program import become


def serve(parent: int) -> None:
    """Start what is asked for on descriptor 0 until that is closed, or the parent is gone; nothing of it is left then."""
    control = socket.socket(fileno=0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # What a program leaves behind that is killed is then a child of ours. A backend's first confined process does not
    # die with the backend until it is set up.
    control_process("subreaper", PR_SET_CHILD_SUBREAPER, 1)
    try:
        watched = os.pidfd_open(parent)
    except ProcessLookupError:
        return
    if os.getppid() != parent:
        return
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.register(control, select.POLLIN)
    # Forks share our memory; a collection in one of them would copy it for nothing.
    gc.disable()
    gc.freeze()
    try:
        _start_each(control, watched, poll)
    finally:
        _end_all()


def _start_each(control: socket.socket, watched: int, poll: select.poll) -> None:
    spares = _Spares(control)
    while all(descriptor != watched for descriptor, _ in poll.poll()):
        message, descriptors = receive(control)
        if not message:
            return
        try:
            spares.hand_over(message, descriptors)
        except OSError as error:
            with socket.socket(fileno=os.dup(descriptors[1])) as answer:
                tell(answer, {"step": "fork", "errno": error.errno or 0}, [])
        for descriptor in descriptors:
            os.close(descriptor)
        spares.refill()


def _end_all() -> None:
    """Kill every child, and what each of them leaves to us, until there is none."""
    while children := _children():
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        with suppress(ProcessLookupError):
            gone = select.poll()
            gone.register(os.pidfd_open(children[0]), select.POLLIN)
            gone.poll()


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:  # noqa: PTH123
        return [int(child) for child in file.read().split()]


class _Spares:
    """One fork ahead: it waits for what it shall become, as to fork takes longer than all else here."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._waiting: socket.socket | None = None
        self.refill()

    def refill(self) -> None:
        """Make the next fork; where that cannot be, it is tried again when there is something to do."""
        with suppress(OSError):
            self._waiting = self._waiting or self._fork()

    def hand_over(self, message: bytes, descriptors: list[int]) -> None:
        """Let the fork that waits become what was asked for, or a new one where that has died."""
        waiting, self._waiting = self._waiting or self._fork(), None
        try:
            _send(waiting, message, descriptors)
        except ConnectionError:
            _send(self._fork(), message, descriptors)

    def _fork(self) -> socket.socket:
        launcher = os.getpid()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            ours.close()
            self._control.close()
            _wait(launcher, theirs)
        theirs.close()
        return ours


def _send(waiting: socket.socket, message: bytes, descriptors: list[int]) -> None:
    with waiting:
        socket.send_fds(waiting, [message], descriptors)


def _wait(launcher: int, channel: socket.socket) -> NoReturn:
    """Become what is asked for, once; without a word from the launcher there is nothing to become."""
    try:
        die_with(launcher)
        guard = None
        with suppress(OSError):
            guard = start_guard()
        _, descriptors = receive(channel)
        channel.close()
        if descriptors:
            become(launcher, guard, descriptors)
    finally:
        os._exit(126)
