"""Open, hash and list files for one call, by canonical path and descriptor."""

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, Literal, NamedTuple, TypeVar

from brasstag.sandbox.workspace.control import TEMPORARY_PREFIX, ControlGuard, control_error, is_environment
from brasstag.sandbox.workspace.errors import shown
from brasstag.sandbox.workspace.paths import ROOT, join_path, splice, split_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, DIRECTORY, file_state, link_state

Kind = Literal["file", "directory", "symlink", "other"]

CHUNK = 1 << 20
# O_NONBLOCK: opening a FIFO that slipped in since it was looked at must not wait for a writer.
READ_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)

_KIND_BITS, _PERMISSION_BITS = 0o170000, 0o7777
_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}


Known = TypeVar("Known")
"""What a listing says about each name."""


class PathStat(NamedTuple):
    """What a path is, without its content. A walk makes one of every file, so it is of the kind that is made fastest."""

    kind: Kind
    size: int
    timestamp: float
    mode: int
    """Permission bits."""

    @property
    def modified(self) -> datetime:
        """When it was last changed."""
        return _moment(self.timestamp)


@dataclass(frozen=True, slots=True)
class DiskState:
    """What the disk held at a path: its state, and what undo needs to know beside the bytes."""

    state: str
    size: int = 0
    mode: int | None = None


@dataclass(frozen=True, slots=True)
class Listing(Generic[Known]):
    """One directory: what tools may see, by name in order, and how much of it they may not."""

    children: dict[str, Known]
    controls: int = 0
    """Control files; no number of them leaves the workspace, but a directory that holds one stays whole."""
    temporary: tuple[str, ...] = ()
    """Temporary names of calls, which are among the control files."""
    unnamed: int = 0
    """Names that are not UTF-8: no tool could pass them on, so they are left out and counted."""


NOTHING = DiskState(ABSENT)


class Reader:
    """Looks at the disk for one call, and refuses control files under any of their names."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._guard = ControlGuard(workspace.control)

    def resolve(self, path: str, follow_last: bool = True) -> str:
        """Return the canonical path for a parsed one; links that lead out of the workspace are refused."""
        control = self._workspace.control
        control.refuse(path)
        try:
            is_link = self._is_link(path)
        except OSError as error:
            if error.errno != errno.ELOOP:
                # Every part before the one that failed was looked at and is no link.
                return path
        else:
            if not is_link or not follow_last:
                return path
        return splice(path, self.link_at, control.refuse, follow_last)

    def look(self, path: str) -> PathStat | None:
        """Return what a canonical path is, or None where nothing is."""
        try:
            return look_at(self._status(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def open(self, path: str) -> tuple[int, os.stat_result]:
        """Open a regular file for reading without ever waiting; the caller closes it.

        The path has been through ``resolve`` or ``control.refuse``: what it says has been judged already.
        """
        parent, name = split_path(path)
        directory = self._workspace.open_directory(parent)
        try:
            # Looked at before it is opened: opening a device may do something, and closing a control file that is
            # a database would drop its locks.
            seen = os.stat(name, dir_fd=directory, follow_symlinks=False)
            self._refuse_other_than_file(directory, path, seen)
            descriptor = os.open(name, READ_FILE, dir_fd=directory)
            try:
                opened = os.fstat(descriptor)
                if opened.st_ino != seen.st_ino or opened.st_dev != seen.st_dev:
                    self._refuse_other_than_file(directory, path, opened)
            except BaseException:
                os.close(descriptor)
                raise
        finally:
            os.close(directory)
        return descriptor, opened

    def target(self, path: str) -> bytes:
        """Return where a link points."""
        parent, name = split_path(path)
        with self._workspace.directory(parent) as directory:
            return os.readlink(os.fsencode(name), dir_fd=directory)

    def link_at(self, path: str) -> str | None:
        """Return where a link points, or None where there is no link."""
        try:
            return os.fsdecode(self.target(path))
        except OSError:
            # It is not a link, not there, or was swapped since: opening it will show which.
            return None

    def holds(self, path: str, state: str) -> bool:
        """Say whether a canonical path is in a state now."""
        try:
            return self.held(path).state == state
        except (OSError, ToolError):
            return False

    def held(self, path: str) -> DiskState:
        """Return the state of a canonical path, reading a file whole but in bounded memory."""
        try:
            status = self._status(path)
        except (FileNotFoundError, NotADirectoryError):
            return NOTHING
        mode = stat.S_IMODE(status.st_mode)
        match look_at(status).kind:
            case "directory":
                return DiskState(DIRECTORY, 0, mode)
            case "symlink":
                target = self.target(path)
                return DiskState(link_state(sha256(target)), len(target))
        descriptor, status = self.open(path)
        try:
            digest, size = digest_of(descriptor)
        finally:
            os.close(descriptor)
        return DiskState(file_state(digest), size, stat.S_IMODE(status.st_mode))

    def listing(self, path: str) -> Listing[PathStat]:
        """Return what a directory holds, by name in order; links are shown, never followed."""
        children: dict[str, PathStat] = {}
        controls = unnamed = 0
        temporary: list[str] = []
        with self._workspace.directory(path, READ_DIRECTORY) as directory:
            names = sorted(os.listdir(directory))
            may_be_control = self._workspace.control.may_cover(path, names)
            for name in names:
                if not (name.isascii() or _is_text(name)):
                    unnamed += 1
                    continue
                try:
                    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                is_control = may_be_control and self._workspace.control.covers(join_path(path, name))
                if is_control or self._is_disguised(directory, name, status):
                    controls += 1
                    temporary += [name] if name.startswith(TEMPORARY_PREFIX) else []
                else:
                    children[name] = look_at(status)
        return Listing(children, controls, tuple(temporary), unnamed)

    def kinds(self, path: str) -> Listing[Kind]:
        """Return what a directory holds as its own entries tell, without a look at each.

        A control file under another name is among them; it cannot be opened.
        """
        with self._workspace.directory(path, READ_DIRECTORY) as directory, os.scandir(directory) as entries:
            found = {entry.name: entry for entry in entries}
            names = sorted(found)
            may_be_control = self._workspace.control.may_cover(path, names)
            named = [name for name in names if name.isascii() or _is_text(name)]
            children: dict[str, Kind] = {}
            for name in named:
                kind = _kind_of(found[name])
                is_control = may_be_control and self._workspace.control.covers(join_path(path, name))
                if not (is_control or (kind == "directory" and is_environment(directory, name))):
                    children[name] = kind
        return Listing(children, len(named) - len(children), unnamed=len(names) - len(named))

    def _status(self, path: str) -> os.stat_result:
        parent, name = split_path(path)
        with self._workspace.directory(parent) as directory:
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if self._is_control(directory, path, name, status):
                raise control_error(path)
        return status

    def _is_control(self, directory: int, path: str, name: str, status: os.stat_result) -> bool:
        return self._workspace.control.covers(path) or self._is_disguised(directory, name, status)

    def _is_disguised(self, directory: int, name: str, status: os.stat_result) -> bool:
        """Say whether something is a control file although its path does not say so."""
        if stat.S_ISDIR(status.st_mode):
            return name != ROOT and is_environment(directory, name)
        return self._guard.covers(status)

    def _refuse_other_than_file(self, directory: int, path: str, status: os.stat_result) -> None:
        if self._is_disguised(directory, split_path(path)[1], status):
            raise control_error(path)
        if stat.S_ISREG(status.st_mode):
            return
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise ToolError(
            Code.NOT_A_FILE, f"{shown(path)} is a pipe, socket or device; tools use plain files only"
        )

    def _is_link(self, path: str) -> bool:
        return stat.S_ISLNK(self._status(path).st_mode)


def _kind_of(entry: "os.DirEntry[str]") -> Kind:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "symlink" if entry.is_symlink() else "other"


def look_at(status: os.stat_result) -> PathStat:
    """Return a Look from what stat said."""
    mode = status.st_mode
    return PathStat(
        _KINDS.get(mode & _KIND_BITS, "other"), status.st_size, status.st_mtime, mode & _PERMISSION_BITS
    )


def digest_of(descriptor: int) -> tuple[str, int]:
    """Return SHA-256 and size of what an open file holds from its start, in bounded memory."""
    hasher = hashlib.sha256()
    size = 0
    while chunk := os.pread(descriptor, CHUNK, size):
        hasher.update(chunk)
        size += len(chunk)
    return hasher.hexdigest(), size


def read_all(descriptor: int, path: str, expected: int, limit: int | None) -> bytes:
    """Return all an open file of about ``expected`` bytes holds; stop as soon as it is over the limit."""
    pieces: list[bytes] = []
    size, wanted = 0, expected + 1
    while piece := os.read(descriptor, wanted):
        pieces.append(piece)
        size += len(piece)
        if limit is not None and size > limit:
            raise too_large(path, size, limit)
        if size == expected:
            break
        wanted = CHUNK
    return b"".join(pieces)


def too_large(path: str, size: int, limit: int) -> ToolError:
    """Return the error for a file over a limit."""
    return ToolError(
        Code.TOO_LARGE,
        f"{shown(path)} has {size} bytes; at most {limit} are read at once. Ask for a part of it",
        {"size": size, "limit": limit},
    )


def _moment(timestamp: float) -> datetime:
    try:
        return datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError):
        # File systems keep years that calendars here do not have.
        return datetime.max.replace(tzinfo=UTC) if timestamp > 0 else datetime.min.replace(tzinfo=UTC)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
