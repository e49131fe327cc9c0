"""Scanning: the workspace compared with what is known of it, and every difference written down."""

import threading
from collections.abc import Sequence

from brasstag.documents.ignoring import Ignoring
from brasstag.documents.intake import Sizes
from brasstag.documents.reports import ScanReport
from brasstag.documents.rounds import Round, Stop, never
from brasstag.documents.walking import Hidden, nobody_hides
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.books import Books
from brasstag.store.documents import take_touched
from brasstag.store.outbox import forget_old_events

__all__ = ["ScanReport", "Scanner"]

MOST_TOUCHED = 10_000
"""How many touched paths one scan takes upon itself."""


class Scanner:
    """Looks at one workspace for the books of its room; any number may do so at once."""

    def __init__(
        self,
        workspace: Workspace,
        books: Books,
        *,
        hidden: Hidden = nobody_hides,
        ignore: Sequence[str] = (),
        sizes: Sizes | None = None,
    ) -> None:
        self._workspace = workspace
        self._books = books
        self._hidden = hidden
        self._ignore = tuple(ignore)
        self._sizes = sizes or Sizes()
        self._owed: list[str] = []
        self._lock = threading.Lock()

    def scan(self, paths: Sequence[str], stop: Stop = never) -> ScanReport:
        """Look at some paths, and at all below those that are directories."""
        scan = self._begin(stop)
        scan.look_at(paths)
        return scan.finish()

    def scan_touched(self, stop: Stop = never) -> ScanReport:
        """Look at what somebody has changed and nobody has looked at since."""
        scan = self._begin(stop)
        self._look_at_touched(scan)
        return scan.finish()

    def scan_all(self, stop: Stop = never) -> ScanReport:
        """Look at everything."""
        scan = self._begin(stop)
        self._look_at_touched(scan)
        scan.walk_all()
        report = scan.finish()
        if report.differences:
            with self._books.database.write() as transaction:
                forget_old_events(transaction)
        return report

    def _begin(self, stop: Stop) -> Round:
        ignoring = Ignoring(self._workspace, self._ignore)
        return Round(self._workspace, self._books, ignoring, self._hidden, self._sizes, stop)

    def _look_at_touched(self, scan: Round) -> None:
        with self._books.database.write() as transaction:
            paths = take_touched(transaction, MOST_TOUCHED)
        with self._lock:
            paths, self._owed = [*self._owed, *paths], []
        try:
            scan.look_at(paths)
            scan.write_what_was_found()
        except BaseException:
            # Nobody else knows that they are to be looked at.
            with self._lock:
                self._owed += paths
            raise
