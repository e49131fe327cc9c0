"""Turn a fork into the program that was asked for: its network, its workspace, its descriptors, its limits."""

import errno
import fcntl
import json
import os
import resource
import signal
import socket
import struct
from typing import Any

from .guard import hold, start_guard
from .kernel import (
    CLONE_NEWNET,
    LAYER,
    MOVED,
    NETWORK,
    START,
    StartFailed,
    die_with,
    enter_user_namespace,
    tell,
    write,
)
from .mount import mount_view

SIOCSIFFLAGS = 0x8914
IFF_UP = 1
MOST_WAITING = 128
# Least, usual and most bytes of a buffer: what lies in one is no process's memory, so there must not be much.
BUFFERS = "4096 16384 65536"
# Out of the way of the numbers the program shall have.
_FREE = 64


def become(launcher: int, guard: socket.socket | None, descriptors: list[int]) -> None:
    """Turn this fork into the program that was asked for, or say why that cannot be, and end."""
    request, reply, *wires = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _FREE) for one in descriptors]
    answer = socket.socket(fileno=reply)
    try:
        die_with(launcher)
        with os.fdopen(request, "rb") as file:
            wanted = json.loads(file.read())
        tell(answer, {"pid": os.getpid()}, [os.pidfd_open(os.getpid())])
        hold(guard or start_guard(), wires.pop(0), wires.pop(0))
        _prepare(wanted, wires, answer)
        # Once more: a change of credentials may have taken the signal away.
        die_with(launcher)
        os.execve(wanted["argv"][0], wanted["argv"], wanted["environment"])  # noqa: S606
    except StartFailed as trouble:
        tell(answer, {"step": trouble.step, "errno": trouble.number}, [])
    except (OSError, ValueError) as error:
        # A word that cannot be handed to a program is a ValueError.
        tell(answer, {"step": START, "errno": getattr(error, "errno", None) or errno.EINVAL}, [])
    finally:
        os._exit(126)


def _prepare(wanted: dict[str, Any], wires: list[int], answer: socket.socket) -> None:
    for name in ("SIGCHLD", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    if wanted["cgroup"]:
        write(f"{wanted['cgroup']}/cgroup.procs", "0")
    if wanted["door"]:
        # Closed here at once: the process that serves it is outside, and the program must not get it.
        with _open_door(wanted["door"]) as listener:
            tell(answer, {"door": wanted["door"]}, [listener.fileno()])
    layer = wanted["layer"]
    if layer:
        # The last wire is the workspace, held open: no swap of a name above it matters.
        os.fchdir(wires.pop())
        try:
            mount_view(layer)
        except StartFailed as trouble:
            prefix = "" if trouble.step.startswith(MOVED) else LAYER
            raise StartFailed(f"{prefix}{trouble.step}", trouble.number) from None
    os.chdir("/")
    for source, target in zip(wires, wanted["wires"], strict=True):
        os.dup2(source, target, inheritable=True)
    for name, value in wanted["limits"]:
        _limit(getattr(resource, name), value)


def _open_door(port: int) -> socket.socket:
    """Go into a network in which there is nothing but one socket that listens, and return that."""
    try:
        enter_user_namespace(CLONE_NEWNET)
        for direction in ("rmem", "wmem"):
            write(f"/proc/sys/net/ipv4/tcp_{direction}", BUFFERS)
        listener = socket.socket()
        fcntl.ioctl(listener, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
        listener.bind(("127.0.0.1", port))
        listener.listen(MOST_WAITING)
    except StartFailed as trouble:
        raise StartFailed(f"{NETWORK}{trouble.step}", trouble.number) from None
    except OSError as error:
        raise StartFailed(f"{NETWORK}listen", error.errno or 0) from None
    return listener


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))
