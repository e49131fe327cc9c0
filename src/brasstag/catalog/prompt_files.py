"""The files of one source of prompt tools: ``prompts.json``, and ``history/`` with a snapshot of each approved version."""

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from brasstag.catalog.snapshots import Snapshot
from brasstag.words.errors import StoreError
from brasstag.words.review.prompt_tools import Target

LIVE = "prompts.json"
HISTORY = "history"
LARGEST = 64_000_000
"""Bytes of a live file, or of a snapshot, that are read."""

_SNAPSHOT = re.compile(r"([0-9]{8}T[0-9]{6}\.[0-9]{6}Z)(?:_([0-9]{4}))?\.json")
"""The time of an approval, and a number where the clock was not later than for the one before. Names sort by both."""
_MOST_AT_ONE_TIME = 9_999
_MODE = 0o644
"""The files are committed with a project, for all its readers."""


@dataclass(frozen=True, slots=True)
class LiveFile:
    """What ``prompts.json`` holds; a problem where it cannot be read as a list."""

    entries: tuple[Any, ...] = ()
    problem: str = ""


class PromptFiles:
    """Reads and writes one source; every write is on disk when it returns."""

    def __init__(self, folder: Path, target: Target, shown: str) -> None:
        self.target = target
        self.shown = shown
        """How messages name the live file."""
        self.folder = folder
        self._live = folder / LIVE
        self._history = folder / HISTORY

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers, of this process and others, away meanwhile; raise StoreError where none can write."""
        lock = FileLock(f"{self.folder}.lock")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except OSError as error:
            raise StoreError(f"{self.folder} cannot be written: {_said(error)}") from error
        try:
            yield
        finally:
            lock.release()

    def stamp(self) -> tuple[int, ...]:
        """Return what changes when the live file does."""
        try:
            found = self._live.stat()
        except OSError:
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def live(self) -> LiveFile:
        """Read the live file."""
        try:
            value = json.loads(_read(self._live))
        except FileNotFoundError:
            return LiveFile()
        except (OSError, ValueError, RecursionError) as error:
            return LiveFile(problem=f"{self.shown} cannot be read: {_said(error)}")
        if not isinstance(value, list):
            return LiveFile(problem=f"{self.shown} is not a JSON array of prompt tools")
        return LiveFile(tuple(value))

    def write_live(self, entries: Sequence[Any]) -> None:
        """Replace the live file as a whole."""
        _write(self._live, _as_json(list(entries)), replace=True)

    def tool_ids(self) -> list[str]:
        """Return the ids that have a history; none where the folder cannot be read."""
        try:
            return sorted(found.name for found in self._history.iterdir() if found.is_dir())
        except OSError:
            return []

    def snapshots(self, tool_id: str) -> list[Snapshot]:
        """Return the snapshots of a tool, oldest first; a file that cannot be read is an empty snapshot."""
        try:
            names = sorted(
                found.name for found in (self._history / tool_id).iterdir() if _SNAPSHOT.fullmatch(found.name)
            )
        except OSError:
            return []
        return [Snapshot(name, self._body(tool_id, name)) for name in names]

    def free_name(self, tool_id: str, at: str) -> str:
        """Return the name of a new snapshot: later than every one that is there."""
        base = "".join(letter for letter in at if letter.isalnum() or letter == ".")
        newest = max((snapshot.name for snapshot in self.snapshots(tool_id)), default="")
        last = _SNAPSHOT.fullmatch(newest)
        if last is None or base > last[1]:
            return f"{base}.json"
        # A clock was put back, or a colleague's goes ahead of ours.
        number = int(last[2] or 0) + 1
        if number > _MOST_AT_ONE_TIME:
            raise StoreError(
                f"no snapshot can come after {HISTORY}/{tool_id}/{newest}; move that file away, and try again"
            )
        return f"{last[1]}_{number:04d}.json"

    def write_snapshot(self, tool_id: str, name: str, body: dict[str, Any]) -> None:
        """Write a snapshot once and for all; the same one again is no change, another one is refused."""
        file = self._history / tool_id / name
        for folder in (self._history, file.parent):
            if folder.is_symlink():
                raise StoreError(
                    f"{folder} is a link, so a snapshot would be written elsewhere; remove the link, and try again"
                )
        data = _as_json(body)
        try:
            if _read(file) == data:
                return
        except FileNotFoundError:
            _write(file, data, replace=False)
            return
        raise StoreError(
            f"the snapshot {HISTORY}/{tool_id}/{name} is there with another content; it is never replaced"
        )

    def _body(self, tool_id: str, name: str) -> dict[str, Any]:
        try:
            value = json.loads(_read(self._history / tool_id / name))
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) and value.get("toolId") == tool_id else {}


def _as_json(value: Any) -> bytes:
    try:
        return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, as a file edited by hand may hold it, can only be written as an escape.
        return f"{json.dumps(value, indent=2)}\n".encode()


def _read(file: Path) -> bytes:
    # Without O_NONBLOCK, to open a FIFO would wait for a writer.
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ValueError("it is no ordinary file")
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    return data


def _write(file: Path, data: bytes, *, replace: bool) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # A new file under a name that cannot be foreseen: a link of that name, come with a pull, would lead elsewhere.
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
    temporary = Path(name)
    with os.fdopen(descriptor, "wb") as stream:
        os.fchmod(descriptor, _MODE)
        stream.write(data)
        stream.flush()
        os.fsync(descriptor)
    if replace:
        temporary.replace(file)
    else:
        # A link is refused where the name is taken, so that no snapshot is ever written over.
        temporary.chmod(0o444)
        try:
            os.link(temporary, file)
        finally:
            temporary.unlink()
    for place in (file.parent, file.parent.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
