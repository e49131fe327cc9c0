"""The launcher: a small process that starts confined programs, one fork each.

It is run as a script, isolated, and imports nothing but the standard library. It has one thread, so it may fork, make
namespaces and mount, which a program with threads cannot; what it starts dies with it, and it ends with its parent.
"""

import array
import ctypes
import errno
import fcntl
import gc
import json
import os
import resource
import select
import signal
import socket
import stat
import struct
import sys
from contextlib import suppress
from typing import Any, NoReturn

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_RDONLY = 1 << 0
MS_NOSUID = 1 << 1
MS_NODEV = 1 << 2
MS_REMOUNT = 1 << 5
MS_BIND = 1 << 12
MS_REC = 1 << 14
MS_PRIVATE = 1 << 18
PR_SET_PDEATHSIG = 1
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
MOST_WAITING = 128
# Least, usual and most bytes of a buffer: what lies in one is no process's memory, so there must not be much.
BUFFERS = "4096 16384 65536"
MOST_DESCRIPTORS = 16
START = "start"
LAYER = "layer: "
"""What the name of a step begins with that mounts the layer: without one, the program could still be started."""
NETWORK = "network: "
"""What the name of a step begins with that makes a network: without one, the program could still be started."""
# Out of the way of the numbers the program shall have.
_FREE = 64

_libc = ctypes.CDLL(None, use_errno=True)


class StartFailed(Exception):
    """Something that kept a program from being started: which step, and what the kernel said."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(step)
        self.step = step
        self.number = number


def serve(control: socket.socket, parent: int) -> None:
    """Start what is asked for on ``control`` until that is closed, or the parent is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
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
    spares = _Spares(control)
    while all(descriptor != watched for descriptor, _ in poll.poll()):
        message, descriptors = receive(control)
        if not message:
            return
        try:
            spares.hand_over(message, descriptors)
        except OSError as error:
            with socket.socket(fileno=os.dup(descriptors[1])) as answer:
                _tell(answer, {"step": "fork", "errno": error.errno or 0}, [])
        for descriptor in descriptors:
            os.close(descriptor)
        spares.refill()


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
        _die_with(launcher)
        _, descriptors = receive(channel)
        channel.close()
        if descriptors:
            _become(launcher, descriptors)
    finally:
        os._exit(126)


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


def _become(launcher: int, descriptors: list[int]) -> None:
    """Turn this fork into the program that was asked for, or say why that cannot be, and end."""
    request, reply, *wires = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _FREE) for one in descriptors]
    answer = socket.socket(fileno=reply)
    try:
        _die_with(launcher)
        with os.fdopen(request, "rb") as file:
            wanted = json.loads(file.read())
        _tell(answer, {"pid": os.getpid()}, [os.pidfd_open(os.getpid())])
        _prepare(wanted, wires, answer)
        # Once more: a change of credentials may have taken the signal away.
        _die_with(launcher)
        os.execve(wanted["argv"][0], wanted["argv"], wanted["environment"])  # noqa: S606
    except StartFailed as trouble:
        _tell(answer, {"step": trouble.step, "errno": trouble.number}, [])
    except (OSError, ValueError) as error:
        # A word that cannot be handed to a program is a ValueError.
        _tell(answer, {"step": START, "errno": getattr(error, "errno", None) or errno.EINVAL}, [])
    finally:
        os._exit(126)


def _die_with(launcher: int) -> None:
    _check("die", _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != launcher:
        os._exit(126)


def _prepare(wanted: dict[str, Any], wires: list[int], answer: socket.socket) -> None:
    for name in ("SIGCHLD", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    if wanted["cgroup"]:
        _write(f"{wanted['cgroup']}/cgroup.procs", "0")
    if wanted["door"]:
        # Closed here at once: the process that serves it is outside, and the program must not get it.
        with _open_door(wanted["door"]) as listener:
            _tell(answer, {"door": wanted["door"]}, [listener.fileno()])
    layer = wanted["layer"]
    if layer:
        # The last wire is the workspace, held open: no swap of a name above it matters.
        os.fchdir(wires.pop())
        try:
            _mount(layer)
        except StartFailed as trouble:
            raise StartFailed(f"{LAYER}{trouble.step}", trouble.number) from None
    os.chdir("/")
    for source, target in zip(wires, wanted["wires"], strict=True):
        os.dup2(source, target, inheritable=True)
    for name, value in wanted["limits"]:
        _limit(getattr(resource, name), value)


def _open_door(port: int) -> socket.socket:
    """Go into a network in which there is nothing but one socket that listens, and return that."""
    try:
        _enter_user_namespace(CLONE_NEWNET)
        for direction in ("rmem", "wmem"):
            _write(f"/proc/sys/net/ipv4/tcp_{direction}", BUFFERS)
        listener = socket.socket()
        fcntl.ioctl(listener, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
        listener.bind(("127.0.0.1", port))
        listener.listen(MOST_WAITING)
    except StartFailed as trouble:
        raise StartFailed(f"{NETWORK}{trouble.step}", trouble.number) from None
    except OSError as error:
        raise StartFailed(f"{NETWORK}listen", error.errno or 0) from None
    return listener


def _enter_user_namespace(besides: int) -> None:
    """Go into a user namespace, in which this user is the same, and into another namespace that belongs to it."""
    user, group = os.geteuid(), os.getegid()
    _check("user namespace", _libc.unshare(CLONE_NEWUSER | besides))
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _mount(layer: dict[str, Any]) -> None:
    """Mount a layer over the current directory, in a namespace that no other process sees."""
    if layer["user_namespace"]:
        _enter_user_namespace(CLONE_NEWNS)
    else:
        _check("mount namespace", _libc.unshare(CLONE_NEWNS))
    _call_mount("private", None, b"/", None, MS_REC | MS_PRIVATE, None)
    # Bound below the scratch directory, so that all names in the options are our own and need no escape.
    scratch = os.fsencode(layer["scratch"])
    _call_mount("bind", b".", scratch + b"/merged", None, MS_BIND | MS_REC, None)
    os.chdir(scratch)
    # Volatile: what is in the layer is kept in the blobs or thrown away, so no write has to wait for a disk.
    options = b"lowerdir=merged,upperdir=upper,workdir=work,userxattr"
    try:
        _call_mount("overlay", b"overlay", b"merged", b"overlay", 0, options + b",volatile")
    except StartFailed:
        _call_mount("overlay", b"overlay", b"merged", b"overlay", 0, options)
    if layer["hidden"]:
        _hide(layer["hidden"], scratch + b"/hollow/")


def _hide(paths: list[str], hollow: bytes) -> None:
    """Put an empty, read-only file or directory over paths of the layer; done here, a thousand paths take no time."""
    safe = MS_NOSUID | MS_NODEV
    _call_mount("hollow", b"hollow", hollow, b"tmpfs", safe, b"size=64k,mode=755")
    os.mkdir(hollow + b"directory", 0o555)
    os.close(os.open(hollow + b"file", os.O_CREAT | os.O_WRONLY, 0o444))
    # What is bound from here is as read-only as this.
    _call_mount("hollow", None, hollow, None, MS_REMOUNT | MS_BIND | MS_RDONLY | safe, None)
    os.chdir("merged")
    for path in paths:
        cover = _cover_for(path)
        if cover:
            _call_mount("hide", hollow + cover, os.fsencode(path), None, MS_BIND, None)


def _cover_for(path: str) -> bytes:
    """Return what to put over a path; over a link nothing, as what it leads to is somewhere else."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        # It has gone since it was listed. It is covered all the same: what the code made there could not be
        # told apart from what it must not see.
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o444))
        except OSError:
            return b""
        return b"file"
    except NotADirectoryError:
        return b""
    if stat.S_ISLNK(mode):
        return b""
    return b"directory" if stat.S_ISDIR(mode) else b"file"


def _call_mount(
    step: str, source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None
) -> None:
    _check(step, _libc.mount(source, target, kind, ctypes.c_ulong(flags), options))


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w") as file:  # noqa: PTH123
            file.write(text)
    except OSError as error:
        raise StartFailed(path, error.errno or 0) from None


def _check(step: str, result: int) -> None:
    if result < 0:
        raise StartFailed(step, ctypes.get_errno())


def _tell(answer: socket.socket, said: dict[str, Any], descriptors: list[int]) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    answer.sendmsg([json.dumps(said).encode()], rights)


if __name__ == "__main__":
    serve(socket.socket(fileno=0), int(sys.argv[1]))
