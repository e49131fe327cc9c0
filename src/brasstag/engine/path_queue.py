"""The queue of calls that wait for the same path: each comes to its turn, in the order in which they came.

A call enters the queue when another call holds its path, or has changed it since the look. While a call stands first in the
queue, calls that come later stand behind it, and do not claim before it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from brasstag.store.database.fair_lock import HeldFile
from brasstag.words.errors import LeaseHeld

LONGEST_WAIT = 3.0
"""Seconds a call stands in the queue; one that has waited longer tries without its turn: the first may have stopped."""

FILES = 64
"""How many files the queues of all paths share; calls at different paths rarely share one."""


class PathQueue:
    """The queues of one workspace, shared by all processes that work in it."""

    def __init__(self, folder: Path | None = None) -> None:
        """Keep the files of the queues in ``folder``; without one, calls do not queue."""
        self._folder = folder
        self._first: set[str] = set()
        """The calls of this process that have their turn, or have waited long enough for it."""
        self._stuck: dict[str, HeldFile] = {}
        """The queues whose first was waited for too long, by path: while it is stopped, no other call waits for it."""

    def require_turn(self, call_id: str, paths: Sequence[str]) -> None:
        """Raise LeaseHeld where other calls wait for the first of these paths, and this call has not waited yet."""
        if self._folder is None or call_id in self._first or not self._folder.is_dir():
            return
        path = min(paths)
        if not self._is_stuck(path) and HeldFile(self._file(self._folder, path)).is_taken():
            raise LeaseHeld(path)

    @contextmanager
    def turn(self, call_id: str, path: str) -> Iterator[None]:
        """Wait for the turn of a call at a path, and have it to the end of this block."""
        if self._folder is None or call_id in self._first:
            yield
            return
        file = HeldFile(self._file(self._folder, path))
        self._first.add(call_id)
        try:
            if not self._is_stuck(path) and not file.take(LONGEST_WAIT) and file.is_stuck:
                self._stuck[path] = file
            yield
        finally:
            self._first.discard(call_id)
            file.close()

    def _is_stuck(self, path: str) -> bool:
        file = self._stuck.get(path)
        if file is not None and not file.is_stuck:
            self._stuck.pop(path, None)
            return False
        return file is not None

    def _file(self, folder: Path, path: str) -> Path:
        number = hashlib.sha256(path.encode()).digest()[0] % FILES
        return folder / f"{number:02}.lock"
