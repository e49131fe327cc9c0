"""Watch the workspace: changes are noticed as they happen and scanned in small batches.

The next walk finds what a watch misses or cannot watch. So a watch makes scans quicker, and correct results do not
depend on it.
"""

import asyncio
import errno
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from brasstag.documents.scan.ignore import Ignoring
from brasstag.documents.scan.scanner import Scanner
from brasstag.sandbox.workspace.paths import ROOT
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import StoreError

log = logging.getLogger("brasstag")

GATHER_MILLISECONDS = 50
"""How long changes are gathered before they are looked at."""
MOST_PATHS = 5000
"""With more of them at once, walking is quicker than looking at each."""

_QUIET_MILLISECONDS = 10
_WAKE_MILLISECONDS = 200

NOT_INSTALLED = "watchfiles is not installed; add it with `pip install 'brasstag[watch]'`"
GONE = "the workspace is no longer where it was; open the room again"
_REASONS = {
    errno.ENOSPC: "the system allows no more watched directories; raise fs.inotify.max_user_watches",
    errno.EMFILE: "the system allows no more watches; raise fs.inotify.max_user_instances",
    errno.EACCES: "the account Brasstag runs under may not watch a directory of the workspace",
}


def nothing() -> None:
    """Do nothing, for callers who need no notice."""


class WorkspaceWatch:
    """Watches one workspace for a scanner."""

    def __init__(
        self, folder: Path, workspace: Workspace, scanner: Scanner, ignore: Sequence[str] = ()
    ) -> None:
        self._folder = str(folder.resolve())
        self._workspace = workspace
        self._scanner = scanner
        self._ignore = tuple(ignore)

    async def run(self, began: Callable[[], None] = nothing) -> str:
        """Watch until cancelled; where that is not possible, or no longer possible, return why.

        ``began`` is called, in this loop, as soon as every later change will be noticed.
        """
        loop = asyncio.get_running_loop()
        stop = threading.Event()
        pool = ThreadPoolExecutor(1, "watch")
        watching = loop.run_in_executor(pool, self._follow, stop, lambda: loop.call_soon_threadsafe(began))
        try:
            return await asyncio.shield(watching)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([watching])
            raise
        finally:
            pool.shutdown()

    def _follow(self, stop: threading.Event, began: Callable[[], object]) -> str:
        try:
            from watchfiles import watch  # noqa: PLC0415 - an extra
        except ImportError:
            return NOT_INSTALLED
        if not self._is_there():
            return GONE
        events = watch(
            self._folder,
            watch_filter=None,
            debounce=GATHER_MILLISECONDS,
            step=_QUIET_MILLISECONDS,
            stop_event=stop,
            rust_timeout=_WAKE_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=False,
            ignore_permission_denied=True,
        )
        try:
            self._look(({path for _, path in batch} for batch in events), stop, began)
        except (OSError, RuntimeError) as error:
            # The library has an error of its own for what the kernel refuses, which is a RuntimeError.
            return _reason(error)
        return "" if stop.is_set() else GONE

    def _is_there(self) -> bool:
        """Say whether the workspace still has the path at which it is watched."""
        with self._workspace.directory(ROOT) as directory, suppress(OSError):
            return os.path.samestat(os.fstat(directory), os.stat(self._folder))
        return False

    def _look(self, batches: Iterable[set[str]], stop: threading.Event, began: Callable[[], object]) -> None:
        # An empty batch from time to time shows that the watch runs.
        owed: set[str] = set()
        has_begun = False
        for changed in batches:
            if not self._is_there():
                return
            owed |= set(self._wanted(changed))
            if owed:
                try:
                    self._scan(owed, stop)
                    owed = set()
                except StoreError as error:
                    log.warning("what changed in the workspace is looked at later: %s", error)
            if not has_begun:
                has_begun = True
                began()

    def _scan(self, paths: set[str], stop: threading.Event) -> None:
        if len(paths) > MOST_PATHS:
            self._scanner.scan_all(stop.is_set)
        else:
            self._scanner.scan(sorted(paths), stop.is_set)

    def _wanted(self, changed: Iterable[str]) -> Iterator[str]:
        ignoring = Ignoring(self._workspace, self._ignore)
        for place in changed:
            path = place.removeprefix(self._folder).strip(os.sep)
            if path and not self._workspace.control.covers(path) and not ignoring.ignores(path):
                yield path


def _reason(error: OSError | RuntimeError) -> str:
    told = str(error)
    for number, reason in _REASONS.items():
        if getattr(error, "errno", None) == number or f"os error {number}" in told:
            return reason
    if "watch limit" in told:
        return _REASONS[errno.ENOSPC]
    return f"the workspace cannot be watched: {getattr(error, 'strerror', None) or type(error).__name__}"
