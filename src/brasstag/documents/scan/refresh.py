"""Refresh: how soon a change in the workspace is known, and which callers wait for it.

What a tool changed is looked at at once. A watch notices what others change. Where there is no watch, the workspace is
walked when a caller asks for documents. Separate threads do this work. So a caller never waits longer than it wants to,
even for the first walk through a large workspace.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Protocol

from brasstag.words.errors import StoreError

log = logging.getLogger("brasstag")

STALE_SECONDS = 1.0
"""Where no watch runs, a walk may be this old; a caller that asks later starts another walk."""
QUICK_SECONDS = 1.0
"""Where the last walk took no longer than this, every caller that asks starts another one."""


class Scans(Protocol):
    """What looks at the workspace."""

    def scan_touched(self, stop: Callable[[], bool]) -> object:
        """Look at what was touched since the last look."""

    def scan_all(self, stop: Callable[[], bool]) -> object:
        """Look at everything, until ``stop`` says so."""


class Refresher:
    """Keeps what is known of the workspace fresh; it has threads only once they are needed."""

    def __init__(self, scans: Scans) -> None:
        self._scans = scans
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._walk: Future[object] | None = None
        self._touched_scan: Future[object] | None = None
        self._walked_at: float | None = None
        self._forgotten = 0
        """How often earlier walks were declared out of date; a walk that was running at that time is done again."""
        self._took = 0.0
        self._is_watched = False

    def look_at_touched(self) -> None:
        """Have what was touched looked at soon; one look that has not begun yet is enough for any number of touches."""
        with self._lock:
            if self._stopped.is_set() or (
                self._touched_scan is not None
                and not self._touched_scan.running()
                and not self._touched_scan.done()
            ):
                return
            self._touched_scan = self._submit(self._scans.scan_touched)

    def refresh(self, seconds: float) -> bool:
        """Have everything looked at that may have changed, and wait up to ``seconds``; say whether all is known now."""
        begun = self.begin()
        done, late = wait_for(begun, timeout=seconds)
        for future in done:
            future.result()
        return bool(begun) and not late

    def begin(self) -> "list[Future[object]]":
        """Have everything looked at that may have changed; only a caller that waits for the result gets its errors."""
        with self._lock:
            if self._stopped.is_set():
                return []
            begun = [self._submit(self._scans.scan_touched)]
            if self._is_stale():
                if self._walk is None or self._walk.done():
                    self._walk = self._submit(self._walk_all)
                begun.append(self._walk)
            return begun

    def watched(self, is_watched: bool) -> None:
        """Say whether a watch runs from now on; then no walk is needed to know what changed."""
        with self._lock:
            self._is_watched = is_watched
            self._forget_walks()

    def doubt(self) -> None:
        """Have everything looked at again when a caller next asks, as other files may be documents now."""
        with self._lock:
            self._forget_walks()

    def close(self) -> None:
        """Stop looking; what was not looked at waits for the next time."""
        with self._lock:
            self._stopped.set()
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def _is_stale(self) -> bool:
        if self._walked_at is None:
            return True
        age = time.monotonic() - self._walked_at
        return not self._is_watched and (self._took <= QUICK_SECONDS or age > STALE_SECONDS)

    def _forget_walks(self) -> None:
        self._walked_at = None
        self._forgotten += 1

    def _walk_all(self, stop: Callable[[], bool]) -> None:
        is_valid = False
        while not is_valid and not stop():
            began, forgotten = time.monotonic(), self._forgotten
            self._scans.scan_all(stop)
            with self._lock:
                is_valid = forgotten == self._forgotten
                if is_valid and not stop():
                    # A caller that asks from now on starts another walk, even before this thread is done.
                    self._walk = None
                    self._walked_at = time.monotonic()
                    self._took = self._walked_at - began

    def _submit(self, look: Callable[[Callable[[], bool]], object]) -> "Future[object]":
        if self._pool is None:
            self._pool = ThreadPoolExecutor(2, "documents")
        return self._pool.submit(_guarded, look, self._stopped.is_set)


def _guarded(look: Callable[[Callable[[], bool]], object], stop: Callable[[], bool]) -> object:
    try:
        return look(stop)
    except StoreError as error:
        # A caller that waits gets the error. Where no caller waits, this log line is the only trace of it.
        log.warning("the documents could not be looked at: %s", error)
        raise
