"""Two kernel calls that Python has no name for, and their flags. Both raise OSError; neither decides anything."""

import ctypes
import errno
import os
import sys
from functools import lru_cache

RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08

RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2

# O_PATH needs no right to read the directory, and closing it releases no locks; macOS does not have it.
PIN = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a directory is held open to reach what is in it."""

MISSING = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
"""What a kernel or a file system answers that does not know a call or one of its flags."""

# One number on every architecture Linux has had since the call was added.
_OPENAT2 = 437
_TRIES = 100


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)


def openat2(dirfd: int, path: bytes, flags: int, mode: int, resolve: int) -> int:
    """Open ``path`` below ``dirfd`` under the RESOLVE flags; return a descriptor that is not inherited."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    how = _open_how(flags | os.O_CLOEXEC, mode, resolve)
    for _ in range(_TRIES):
        descriptor = int(_libc.syscall(_OPENAT2, dirfd, path, ctypes.byref(how), ctypes.sizeof(how)))
        if descriptor >= 0:
            return descriptor
        # EAGAIN: a rename went on somewhere while the kernel checked that the path stays beneath.
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    raise _failure()


def renameat2(olddir: int, old: bytes, newdir: int, new: bytes, flags: int) -> None:
    """Rename in one step, either refusing to replace or exchanging the two names."""
    call = getattr(_libc, "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(olddir, old, newdir, new, ctypes.c_uint(flags)) != 0:
        raise _failure()


@lru_cache(maxsize=64)
def _open_how(flags: int, mode: int, resolve: int) -> _OpenHow:
    return _OpenHow(flags, mode, resolve)


def _failure() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
