"""Make what a program sees as the workspace; everything goes by descriptor, no link is followed, and all is compared."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .kernel import CLONE_NEWNS, MOVED, StartFailed, enter_user_namespace, leave_namespaces, mount

MS_RDONLY = 1 << 0
MS_NOSUID = 1 << 1
MS_NODEV = 1 << 2
MS_REMOUNT = 1 << 5
MS_BIND = 1 << 12
MS_REC = 1 << 14
MS_PRIVATE = 1 << 18
# Names a path without opening what is there; a link is not followed, but named itself.
_NAME = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


def mount_view(layer: dict[str, Any]) -> None:
    """Make what the program sees as the workspace, which is the current directory, where no other process sees it."""
    if layer["user_namespace"]:
        enter_user_namespace(CLONE_NEWNS)
    else:
        leave_namespaces("mount namespace", CLONE_NEWNS)
    mount("private", None, b"/", None, MS_REC | MS_PRIVATE, None)
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
    mount("bind", _by_number(live), b"merged", None, MS_BIND | MS_REC, None)
    # Volatile: what is in the layer is kept in the blobs or thrown away, so no write has to wait for a disk.
    options = b"lowerdir=merged,upperdir=upper,workdir=work,userxattr"
    try:
        mount("overlay", b"overlay", b"merged", b"overlay", 0, options + b",volatile")
    except StartFailed:
        mount("overlay", b"overlay", b"merged", b"overlay", 0, options)


def _mount_live(live: int) -> None:
    mount("bind", _by_number(live), b"merged", None, MS_BIND | MS_REC, None)


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
    mount("hollow", b"hollow", b"hollow", b"tmpfs", safe, b"size=64k,mode=755")
    os.mkdir("hollow/directory", 0o555)
    os.close(os.open("hollow/file", os.O_CREAT | os.O_WRONLY, 0o444))
    # What is bound from here is as read-only as this.
    mount("hollow", None, b"hollow", None, MS_REMOUNT | MS_BIND | MS_RDONLY | safe, None)
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
        mount("hide", _by_number(source), _by_number(place), None, flags, None)
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
