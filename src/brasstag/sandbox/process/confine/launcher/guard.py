"""The guard of a program: kills all of it when its starter is gone, by whatever end."""

import os
import signal
import socket
from contextlib import suppress

from .kernel import receive

MOST_OPEN = 1 << 16


def start_guard() -> socket.socket:
    """Fork a guard of this process and those it will start, and return the channel on which it waits for its leash.

    A backend's first confined process does not die with the backend until it is set up, and the launcher may be killed, too.
    The guard is a process: the first one of a namespace does not die of a signal that the kernel sends because of a
    descriptor.
    """
    os.setpgid(0, 0)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            _guard(theirs)
        finally:
            os.killpg(0, signal.SIGKILL)
    theirs.close()
    return ours


def hold(guard: socket.socket, leash: int, gate: int) -> None:
    """Have a guard kill all of its process group when the other end of a pipe, the leash, is closed.

    A gate that all of its holders have closed is open, so the guard holds it until it has killed.
    """
    with guard:
        socket.send_fds(guard, [b"hold"], [leash, gate])
    os.close(leash)
    os.close(gate)


def _guard(channel: socket.socket) -> None:
    """Wait until the leash is closed; then kill the first confined process, if its number was told.

    Behind the gate that one leaves the group, so the guard is told its number before.
    """
    _keep_only(channel.fileno())
    _, held = receive(channel)
    if not held:
        return
    leash, _gate = held
    channel.close()
    confined = [os.pidfd_open(int(told)) for told in iter(lambda: os.read(leash, 64), b"")]
    for one in confined:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(one, signal.SIGKILL)


def _keep_only(kept: int) -> None:
    """Close all other descriptors: those that read what the program writes wait until all of its writers are gone."""
    os.closerange(0, kept)
    os.closerange(kept + 1, MOST_OPEN)
