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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
PR_SET_CHILD_SUBREAPER = 36
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
MOST_WAITING = 128
# Least, usual and most bytes of a buffer: what lies in one is no process's memory, so there must not be much.
BUFFERS = "4096 16384 65536"
MOST_DESCRIPTORS = 16
MOST_OPEN = 1 << 16
START = "start"
LAYER = "layer: "
"""What the name of a step begins with that mounts the layer: without one, the program could still be started."""
NETWORK = "network: "
"""What the name of a step begins with that makes a network: without one, the program could still be started."""
MOVED = "moved: "
"""What the name of a step begins with that found another file than the one that was to be hidden or shown."""
# Out of the way of the numbers the program shall have.
_FREE = 64
# Names a path without opening what is there; a link is not followed, but named itself.
_NAME = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

_libc = ctypes.CDLL(None, use_errno=True)


class StartFailed(Exception):
    """Something that kept a program from being started: which step, and what the kernel said."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(step)
        self.step = step
        self.number = number


def serve(control: socket.socket, parent: int) -> None:
    """Start what is asked for on ``control`` until that is closed, or the parent is gone; nothing of it is left then."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # What a program leaves behind that is killed is then a child of ours. A backend's first confined process does not
    # die with the backend until it is set up.
    _check("subreaper", _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
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
                _tell(answer, {"step": "fork", "errno": error.errno or 0}, [])
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
    _tie_to(wires.pop(0), wires.pop(0))
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
            prefix = "" if trouble.step.startswith(MOVED) else LAYER
            raise StartFailed(f"{prefix}{trouble.step}", trouble.number) from None
    os.chdir("/")
    for source, target in zip(wires, wanted["wires"], strict=True):
        os.dup2(source, target, inheritable=True)
    for name, value in wanted["limits"]:
        _limit(getattr(resource, name), value)


def _tie_to(leash: int, gate: int) -> None:
    """Have a guard kill all of this process group when the other end of a pipe is closed, by whatever end of its holder.

    A backend's first confined process does not die with the backend until it is set up, and the launcher may be killed, too.
    A gate that all of its holders have closed is open, so the guard holds it until it has killed. It is a process: the first
    one of a namespace does not die of a signal that the kernel sends because of a descriptor. Behind the gate that one
    leaves the group, so the guard is told its number before.
    """
    os.setpgid(0, 0)
    if os.fork() == 0:
        try:
            _guard(leash, gate)
        finally:
            os.killpg(0, signal.SIGKILL)
    os.close(leash)
    os.close(gate)


def _guard(leash: int, gate: int) -> None:
    """Wait until the leash is closed; then kill the first confined process, if its number was told."""
    _keep_only(leash, gate)
    confined = [os.pidfd_open(int(told)) for told in iter(lambda: os.read(leash, 64), b"")]
    for one in confined:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(one, signal.SIGKILL)


def _keep_only(*kept: int) -> None:
    """Close all other descriptors: those that read what the program writes wait until all of its writers are gone."""
    start = 0
    for one in sorted(kept):
        os.closerange(start, one)
        start = one + 1
    os.closerange(start, MOST_OPEN)


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
    """Make what the program sees as the workspace, which is the current directory, where no other process sees it."""
    if layer["user_namespace"]:
        _enter_user_namespace(CLONE_NEWNS)
    else:
        _check("mount namespace", _libc.unshare(CLONE_NEWNS))
    _call_mount("private", None, b"/", None, MS_REC | MS_PRIVATE, None)
    # Only now: what was opened outside this namespace cannot be mounted in it.
    live = os.open(".", _NAME | os.O_DIRECTORY)
    os.chdir(layer["scratch"])
    _FOOTINGS[layer["footing"]](live)
    view = os.open(layer["view"], _NAME | os.O_DIRECTORY)
    is_copy = layer["footing"] == "copy"
    for name, *identity in layer["shown"]:
        _pin(live if is_copy else view, view, name)
        _compare(live, name, identity)
    if layer["hidden"] or layer["temporary"]:
        covers = _make_covers()
        for path in layer["temporary"]:
            _hide_temporary(view, path, covers)
        _hide(live, view, layer["hidden"], covers)


def _mount_overlay(live: int) -> None:
    # Bound below the scratch directory, so that all names in the options are our own and need no escape.
    _call_mount("bind", _by_number(live), b"merged", None, MS_BIND | MS_REC, None)
    # Volatile: what is in the layer is kept in the blobs or thrown away, so no write has to wait for a disk.
    options = b"lowerdir=merged,upperdir=upper,workdir=work,userxattr"
    try:
        _call_mount("overlay", b"overlay", b"merged", b"overlay", 0, options + b",volatile")
    except StartFailed:
        _call_mount("overlay", b"overlay", b"merged", b"overlay", 0, options)


def _mount_live(live: int) -> None:
    _call_mount("bind", _by_number(live), b"merged", None, MS_BIND | MS_REC, None)


def _mount_nothing(_live: int) -> None:
    """The copy is there already."""


_FOOTINGS = {"overlay": _mount_overlay, "live": _mount_live, "copy": _mount_nothing}


def _pin(source: int, view: int, name: str) -> None:
    """Put what has a name in one directory at that name in the view: the name stays, whatever others do to it."""
    with _named(source, name) as shown, _named(view, name) as place:
        if stat.S_ISLNK(os.fstat(shown).st_mode) or stat.S_ISLNK(os.fstat(place).st_mode):
            raise StartFailed(f"{MOVED}{name}", errno.ELOOP)
        _bind(name, shown, place, MS_BIND | MS_REC)
        with _named(view, name) as now:
            _expect(name, now, _identity(shown))


def _make_covers() -> list[int]:
    """Return an empty, read-only file and directory."""
    safe = MS_NOSUID | MS_NODEV
    _call_mount("hollow", b"hollow", b"hollow", b"tmpfs", safe, b"size=64k,mode=755")
    os.mkdir("hollow/directory", 0o555)
    os.close(os.open("hollow/file", os.O_CREAT | os.O_WRONLY, 0o444))
    # What is bound from here is as read-only as this.
    _call_mount("hollow", None, b"hollow", None, MS_REMOUNT | MS_BIND | MS_RDONLY | safe, None)
    return [os.open(f"hollow/{name}", _NAME) for name in ("file", "directory")]


def _hide(live: int, view: int, paths: list[list[Any]], covers: list[int]) -> None:
    """Put an empty, read-only file or directory over paths; done here, a thousand paths take no time.

    Others may move and replace files meanwhile. So each path is opened name by name, no link is followed, and the mount
    goes by the descriptor. Afterwards each path has to be the cover, and beneath it what was found when paths were listed.
    """
    for path, is_directory, *_ in paths:
        with _named(view, path) as place:
            mode = os.fstat(place).st_mode
            if stat.S_ISLNK(mode) or stat.S_ISDIR(mode) != is_directory:
                raise StartFailed(f"{MOVED}{path}", errno.ENOENT)
            _bind(path, covers[is_directory], place, MS_BIND)
    expected = [_identity(cover) for cover in covers]
    for path, is_directory, *identity in paths:
        _compare(view, path, expected[is_directory])
        _compare(live, path, identity)


def _hide_temporary(view: int, path: str, covers: list[int]) -> None:
    """Cover a temporary file of another call, if it is still there: calls replace and remove these all the time."""
    try:
        with _named(view, path) as place:
            mode = os.fstat(place).st_mode
            if not stat.S_ISLNK(mode):
                _bind(path, covers[stat.S_ISDIR(mode)], place, MS_BIND)
    except StartFailed as trouble:
        if not trouble.step.startswith(MOVED):
            raise


def _bind(path: str, source: int, place: int, flags: int) -> None:
    try:
        _call_mount("hide", _by_number(source), _by_number(place), None, flags, None)
    except StartFailed as trouble:
        # It was removed after it was opened.
        if trouble.number == errno.ENOENT:
            raise StartFailed(f"{MOVED}{path}", errno.ENOENT) from None
        raise


@contextmanager
def _named(directory: int, path: str) -> Iterator[int]:
    """Hold what a path below a directory names; no link on the way is followed."""
    here = os.dup(directory)
    try:
        *above, last = path.split("/")
        for name in above:
            here = _step(here, name, _NAME | os.O_DIRECTORY)
        here = _step(here, last, _NAME)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StartFailed(f"{MOVED}{path}", error.errno or 0) from None
    except OSError as error:
        raise StartFailed("hide", error.errno or 0) from None
    try:
        yield here
    finally:
        os.close(here)


def _step(here: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=here)
    finally:
        os.close(here)


def _compare(directory: int, path: str, identity: list[int]) -> None:
    with _named(directory, path) as now:
        _expect(path, now, identity)


def _expect(path: str, descriptor: int, identity: list[int]) -> None:
    if _identity(descriptor) != identity:
        raise StartFailed(f"{MOVED}{path}", errno.ESTALE)


def _identity(descriptor: int) -> list[int]:
    status = os.fstat(descriptor)
    return [status.st_dev, status.st_ino]


def _by_number(descriptor: int) -> bytes:
    return b"/proc/self/fd/%d" % descriptor


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
