"""What the launcher asks of the kernel, and how it says which step failed."""

import array
import ctypes
import json
import os
import signal
import socket
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MOST_DESCRIPTORS = 16
START = "start"
LAYER = "layer: "
"""What the name of a step begins with that mounts the layer: without one, the program could still be started."""
NETWORK = "network: "
"""What the name of a step begins with that makes a network: without one, the program could still be started."""
MOVED = "moved: "
"""What the name of a step begins with that found another file than the one that was to be hidden or shown."""

_libc = ctypes.CDLL(None, use_errno=True)


class StartFailed(Exception):
    """Something that kept a program from being started: which step, and what the kernel said."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(step)
        self.step = step
        self.number = number


def control_process(step: str, option: int, value: int) -> None:
    """Set a property of this process."""
    _check(step, _libc.prctl(option, value, 0, 0, 0))


def die_with(launcher: int) -> None:
    """Have the kernel kill this process when the launcher ends."""
    control_process("die", PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != launcher:
        os._exit(126)


def leave_namespaces(step: str, kinds: int) -> None:
    """Go into new namespaces of these kinds."""
    _check(step, _libc.unshare(kinds))


def enter_user_namespace(besides: int) -> None:
    """Go into a user namespace, in which this user is the same, and into another namespace that belongs to it."""
    user, group = os.geteuid(), os.getegid()
    leave_namespaces("user namespace", CLONE_NEWUSER | besides)
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{user} {user} 1")
    write("/proc/self/gid_map", f"{group} {group} 1")


def mount(
    step: str, source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None
) -> None:
    """Mount, or change a mount."""
    _check(step, _libc.mount(source, target, kind, ctypes.c_ulong(flags), options))


def write(path: str, text: str) -> None:
    """Write to a file of the kernel."""
    try:
        with open(path, "w") as file:  # noqa: PTH123
            file.write(text)
    except OSError as error:
        raise StartFailed(path, error.errno or 0) from None


def receive(channel: socket.socket) -> tuple[bytes, list[int]]:
    """Return a message and the descriptors that came with it; they are not inherited by what is started."""
    descriptors = array.array("i")
    room = socket.CMSG_LEN(MOST_DESCRIPTORS * descriptors.itemsize)
    # The library's own recv_fds drops the flag.
    message, ancillary, _, _ = channel.recvmsg(4096, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return message, list(descriptors)


def tell(answer: socket.socket, said: dict[str, Any], descriptors: list[int]) -> None:
    """Send a word to the process that asked for a program, with descriptors for it."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    answer.sendmsg([json.dumps(said).encode()], rights)


def _check(step: str, result: int) -> None:
    if result < 0:
        raise StartFailed(step, ctypes.get_errno())
