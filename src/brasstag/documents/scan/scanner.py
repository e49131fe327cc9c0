"""The scanner: it compares the workspace with what is known, and records every difference."""

from collections.abc import Sequence
from functools import partial

from brasstag.documents.formats.kinds import CONVERTED
from brasstag.documents.formats.limits import Sizes
from brasstag.documents.scan.ignore import Ignoring
from brasstag.documents.scan.report import ScanReport
from brasstag.documents.scan.scan import Scan, Stop, never
from brasstag.documents.scan.walk import Hidden, hides_nothing
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.touched import touched_paths
from brasstag.store.maintenance.rebuild_index import notice_missing
from brasstag.store.store import Store

__all__ = ["ScanReport", "Scanner"]

MOST_TOUCHED = 10_000
"""How many touched paths one scan looks at."""


class Scanner:
    """Looks at one workspace for the store of its room; any number of scanners may do so at once."""

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        *,
        hidden: Hidden = hides_nothing,
        ignore: Sequence[str] = (),
        sizes: Sizes | None = None,
    ) -> None:
        self._workspace = workspace
        self._store = store
        self._hidden = hidden
        self._ignore = tuple(ignore)
        self.sizes = sizes or Sizes()

    def scan(self, paths: Sequence[str], stop: Stop = never) -> ScanReport:
        """Look at some paths, and at all below those that are directories."""
        scan = self._begin(stop)
        scan.look_at(paths)
        return scan.write_found()

    def scan_touched(self, stop: Stop = never) -> ScanReport:
        """Look at paths that are noted as changed and that no scan has looked at since."""
        scan = self._begin(stop)
        self._look_at_touched(scan)
        return scan.write_found()

    def scan_all(self, stop: Stop = never) -> ScanReport:
        """Look at everything."""
        scan = self._begin(stop)
        self._look_at_touched(scan)
        scan.walk_all()
        report = scan.write_found()
        notice_missing(self._store.database, CONVERTED)
        return report

    def _begin(self, stop: Stop) -> Scan:
        ignoring = Ignoring(self._workspace, self._ignore)
        return Scan(self._workspace, self._store, ignoring, self._hidden, self.sizes, stop)

    def _look_at_touched(self, scan: Scan) -> None:
        noted = self._store.read(partial(touched_paths, most=MOST_TOUCHED))
        if not noted:
            return
        scan.look_at(list(dict.fromkeys(noted.values())))
        scan.write_found()
        if not scan.report.is_whole:
            return
        # Only now: if this process dies before, another scan looks at these paths. Until now, every scan that
        # another caller starts looks at them as well.
        self._store.documents.forget_touched(noted)
