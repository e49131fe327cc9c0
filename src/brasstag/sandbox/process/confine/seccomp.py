"""The system call filter: what confined code cannot ask of the kernel."""

import errno
import platform
import struct
from collections.abc import Iterable
from functools import cache

SUPPORTED = "x86_64"

_ARCHITECTURE = 0xC000003E
_X32 = 0x40000000

# Where the filter finds things in what the kernel shows it.
_NUMBER, _ARCH, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _MASK = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

_FORBIDDEN = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440, "kcmp": 312,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "keyctl": 250, "add_key": 248, "request_key": 249,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "move_mount": 429, "open_tree": 428,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "open_tree_attr": 467,
    "setns": 308, "unshare": 272,
    "open_by_handle_at": 304, "name_to_handle_at": 303, "pidfd_getfd": 438,
    "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
    "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179, "quotactl_fd": 443,
    "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159,
    "syslog": 103, "iopl": 172, "ioperm": 173, "sethostname": 170, "setdomainname": 171, "vhangup": 153,
    "personality": 135, "lookup_dcookie": 212, "nfsservctl": 180, "fanotify_init": 300,
}  # fmt: skip
"""Refused with EPERM: other processes, other namespaces, the machine itself, and ways around this very filter."""

_UNKNOWN = {"memfd_create": 319, "memfd_secret": 447, "shmget": 29, "msgget": 68, "semget": 64, "clone3": 435}
"""Answered with ENOSYS, so that programs take the older way.

Memory behind a descriptor or a key belongs to no process, so the watchdog could not count it. clone3 hides its flags
from a filter.
"""

_UNFIT = {"vmsplice": 278, "splice": 275, "tee": 276, "sendfile": 40}
"""Answered with EINVAL, as for files that cannot do it, so that programs read and write instead.

They put pages into pipes and sockets by reference. There, one byte keeps a whole huge page in memory, and the watchdog
does not count it.
"""

_NOT_HERE = {"fallocate": 285}
"""Answered with EOPNOTSUPP, as by file systems that cannot do it: room taken this way counts nowhere as written."""

_SOCKET, _SOCKETPAIR, _CLONE, _IOCTL, _FCNTL = 41, 53, 56, 16, 72
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_KINDS = 1, 5, 0xF
_ANY_PROTOCOL, _TCP = 0, 6
_NAMESPACES = 0x7E020000
_INPUT = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C}
_RESERVING = {"FS_IOC_RESVSP": 0x40305828, "FS_IOC_RESVSP64": 0x4030582A, "FS_IOC_ZERO_RANGE": 0x40305839}
_SET_PIPE_SIZE = 1031

_Line = tuple[int, int, int, int]

_FILES_ONLY: list[_Line] = [(_EQUAL, 1, 0, _AF_UNIX), (_RETURN, 0, 0, _ERRNO | errno.EACCES)]


def is_supported() -> bool:
    """Say whether there is a filter for the processor of this machine."""
    return platform.machine() == SUPPORTED


@cache
def filter_program(*, network: bool = False) -> bytes:
    """Return the filter in the form the kernel takes; one for a network lets TCP be spoken, and no more."""
    lines: list[_Line] = [
        _load(_ARCH),
        _jump(_EQUAL, _ARCHITECTURE, 1, 0),
        _give(_KILL),
        _load(_NUMBER),
        _jump(_AT_LEAST, _X32, 0, 1),
        _give(_KILL),
        *_each(_FORBIDDEN.values(), _ERRNO | errno.EPERM),
        *_each(_UNKNOWN.values(), _ERRNO | errno.ENOSYS),
        *_each(_UNFIT.values(), _ERRNO | errno.EINVAL),
        *_each(_NOT_HERE.values(), _ERRNO | errno.EOPNOTSUPP),
        *_when(_CLONE, _FIRST, [_jump(_ANY_BIT, _NAMESPACES, 0, 1), _give(_ERRNO | errno.EPERM)]),
        *_when(
            _IOCTL,
            _SECOND,
            [
                *_each(_INPUT.values(), _ERRNO | errno.EPERM),
                *_each(_RESERVING.values(), _ERRNO | errno.EOPNOTSUPP),
            ],
        ),
        # A pipe counts for the size it has from the start.
        *_when(_FCNTL, _SECOND, _each([_SET_PIPE_SIZE], _ERRNO | errno.EPERM)),
        *_when(_SOCKET, _FIRST, _sockets(network)),
        *_when(_SOCKETPAIR, _FIRST, _pairs(network)),
        _give(_ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _sockets(network: bool) -> list[_Line]:
    """Allow sockets of files, or TCP.

    Never both: a run with a network stands on the bare workspace, and a socket that lies there leads to a process outside.
    """
    if not network:
        return _FILES_ONLY
    return [
        _jump(_EQUAL, _AF_INET, 1, 0),
        _jump(_EQUAL, _AF_INET6, 0, 6),
        _load(_SECOND),
        (_MASK, 0, 0, _SOCK_KINDS),
        _jump(_EQUAL, _SOCK_STREAM, 0, 3),
        _load(_THIRD),
        _jump(_EQUAL, _ANY_PROTOCOL, 2, 0),
        _jump(_EQUAL, _TCP, 1, 0),
        _give(_ERRNO | errno.EACCES),
    ]


def _pairs(network: bool) -> list[_Line]:
    """Allow pairs; with a network, only kinds that cannot connect to another address afterwards."""
    if not network:
        return _FILES_ONLY
    return [
        _jump(_EQUAL, _AF_UNIX, 0, 4),
        _load(_SECOND),
        (_MASK, 0, 0, _SOCK_KINDS),
        _jump(_EQUAL, _SOCK_STREAM, 2, 0),
        _jump(_EQUAL, _SOCK_SEQPACKET, 1, 0),
        _give(_ERRNO | errno.EACCES),
    ]


def _load(offset: int) -> _Line:
    return (_LOAD, 0, 0, offset)


def _give(answer: int) -> _Line:
    return (_RETURN, 0, 0, answer)


def _jump(test: int, value: int, if_true: int, if_false: int) -> _Line:
    return (test, if_true, if_false, value)


def _each(numbers: Iterable[int], answer: int) -> list[_Line]:
    lines: list[_Line] = []
    for number in numbers:
        lines += [_jump(_EQUAL, number, 0, 1), _give(answer)]
    return lines


def _when(number: int, argument: int, body: list[_Line]) -> list[_Line]:
    """Run a body on one argument of one call; where the body gives no answer, the call is allowed."""
    inside = [_load(argument), *body, _give(_ALLOW)]
    return [_jump(_EQUAL, number, 0, len(inside)), *inside]
