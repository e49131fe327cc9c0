"""Scanning: the workspace compared with what is known of it, and every difference written down."""

from collections.abc import Sequence
from functools import partial

from brasstag.documents.bodies import Sizes
from brasstag.documents.ignoring import Ignoring
from brasstag.documents.indexing import notice_missing
from brasstag.documents.reports import ScanReport
from brasstag.documents.rounds import Round, Stop, never
from brasstag.documents.walking import Hidden, nobody_hides
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.books import Books
from brasstag.store.outbox import forget_old_events
from brasstag.store.touched import forget_touched, touched_paths

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
        self.sizes = sizes or Sizes()

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
        notice_missing(self._books)
        if report.differences:
            with self._books.database.write() as transaction:
                forget_old_events(transaction)
        return report

    def _begin(self, stop: Stop) -> Round:
        ignoring = Ignoring(self._workspace, self._ignore)
        return Round(self._workspace, self._books, ignoring, self._hidden, self.sizes, stop)

    def _look_at_touched(self, scan: Round) -> None:
        noted = self._books.read(partial(touched_paths, most=MOST_TOUCHED))
        if not noted:
            return
        scan.look_at(list(dict.fromkeys(noted.values())))
        scan.write_what_was_found()
        if not scan.report.is_whole:
            return
        # Only now: should we die before, somebody else looks, and whoever asks meanwhile looks as well.
        with self._books.database.write() as transaction:
            forget_touched(transaction, noted)
