"""One scan, from the first file to the last commit.

For each path its newest version is read first, then the disk, then the version again in the commit: what others do meanwhile
is never taken for something it is not. Work is done in batches, so that memory is bounded and no commit lasts long; what has
gone is looked at last, when all that has appeared is known.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby

from brasstag.documents.formats.limits import Sizes
from brasstag.documents.formats.media_types import fits
from brasstag.documents.scan.ignore import Ignoring, is_ignore_file
from brasstag.documents.scan.intake import Intake
from brasstag.documents.scan.report import ScanReport
from brasstag.documents.scan.walk import FileStat, Hidden, ScanProblem, Walk
from brasstag.sandbox.workspace.errors import shown, tool_error
from brasstag.sandbox.workspace.paths import ROOT, parse_path, split_path
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.versions import Version, newest_versions, paths_of_calls, standing_directories
from brasstag.store.documents.findings import PathFinding, ScanContext, TakenFile
from brasstag.store.documents.rows import Known, known_at, known_rows, last_id, rows_at
from brasstag.store.store import Store
from brasstag.words.errors import ToolError
from brasstag.words.previews import ABSENT
from brasstag.words.times import stamp

MOST_FILES = 1000
"""How many files are written about in one commit."""
MOST_BYTES = 8_000_000
"""About how many bytes of them."""
MOST_GONE = 50_000
"""How many vanished paths wait for the end of a scan."""
MOVE_SECONDS = 10
"""How long after a path was found empty what it held may turn up elsewhere and count as moved."""

Stop = Callable[[], bool]


def never() -> bool:
    """Go on to the end."""
    return False


class Scan:
    """One scan under way."""

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        ignoring: Ignoring,
        hidden: Hidden,
        sizes: Sizes,
        stop: Stop,
    ) -> None:
        self.report = ScanReport()
        self._workspace = workspace
        self._store = store
        self._sizes = sizes
        self._stop = stop
        self._walk = Walk(workspace, ignoring, hidden, self.report.problems.append)
        began = datetime.fromisoformat(store.now())
        self._context = ScanContext(
            self._is_gone, store.read(last_id), stamp(began - timedelta(seconds=MOVE_SECONDS)), fits
        )
        self._batch: list[tuple[FileStat, Known | None]] = []
        self._bytes = 0
        self._gone: list[str] = []

    def walk_all(self) -> None:
        """Look at everything there is, and at everything that is known."""
        for file, known in _side_by_side(self._walk.below(ROOT), known_rows(self._store.database)):
            if file is not None and known is not None and file.fingerprint == known.fingerprint:
                self.report.unchanged += 1
            else:
                self._meet(file, known)
            if self._is_stopped():
                return
        directories = self._store.read(standing_directories)
        self._gone += [path for path in directories if not self._walk.is_directory(path)]

    def look_at(self, paths: Sequence[str]) -> None:
        """Look at some paths, and at all below them."""
        roots = sorted(set(self._parsed(paths)))
        for start in range(0, len(roots), MOST_FILES):
            some = roots[start : start + MOST_FILES]
            known = self._store.read(partial(known_at, paths=some))
            for root in some:
                self._look_at_one(root, known.get(root))
                if self._is_stopped():
                    return

    def write_found(self) -> ScanReport:
        """Write down all that was found so far, what has gone last of all, and return the report on it."""
        self._flush()
        while self._gone and not self._is_stopped():
            some, self._gone = self._gone[:MOST_FILES], self._gone[MOST_FILES:]
            self._write(list(self._missing(list(dict.fromkeys(some)))))
            self._flush()
        return self.report

    def _parsed(self, paths: Iterable[str]) -> Iterator[str]:
        for path in paths:
            try:
                parsed = parse_path(path)
            except ToolError as error:
                self.report.problems.append(ScanProblem(shown(path), error.code, error.message))
                continue
            # An ignore file applies to everything beside it and below it.
            yield split_path(parsed)[0] if is_ignore_file(parsed) else parsed

    def _look_at_one(self, path: str, known: Known | None) -> None:
        if path == ROOT:
            self.walk_all()
            return
        file = None if self._walk.is_out_of_reach(path) else self._seen(path)
        if file is not None:
            self._meet(file, known, is_doubtful=self._walk.ignoring.ignores(path))
            return
        # Whatever its row says: a call may have made something of it since that is gone again.
        self._gone.append(path)
        for one, row in _side_by_side(self._walk_from(path), known_rows(self._store.database, path)):
            self._meet(one, row)
            if self._is_stopped():
                return

    def _walk_from(self, path: str) -> Iterator[FileStat]:
        """Yield what lies below a path that was named, where it is a directory that may be walked."""
        if self._walk.is_directory(path) and not (
            self._walk.is_out_of_reach(path) or self._walk.ignoring.ignores(path, is_directory=True)
        ):
            yield from self._walk.below(path)

    def _seen(self, path: str) -> FileStat | None:
        try:
            return self._walk.look(path)
        except OSError as error:
            self._report_problem(tool_error(error, path), path)
        except ToolError:
            # A control file: it is shown to no role.
            return None
        return None

    def _meet(self, file: FileStat | None, known: Known | None, *, is_doubtful: bool = False) -> None:
        """Take in a path that has to be looked at."""
        if file is None:
            if known is not None and known.state != ABSENT:
                self._gone.append(known.path)
                if len(self._gone) >= MOST_GONE:
                    self.write_found()
            return
        if is_doubtful:
            self._settle_doubts([(file, known)])
            return
        self._batch.append((file, known))
        self._bytes += file.size
        if len(self._batch) >= MOST_FILES or self._bytes >= MOST_BYTES:
            self._flush()

    def _flush(self) -> None:
        """Read what was met, and write down what was found."""
        # Paths that were named, and met once more below another, are written about once.
        batch = list({file.path: (file, known) for file, known in self._batch}.values())
        self._batch, self._bytes = [], 0
        if not batch:
            return
        newest = self._store.read(lambda view: newest_versions(view, [file.path for file, _ in batch]))
        changed = [file for file, known in batch if not _is_known(file, known, newest.get(file.path))]
        self.report.unchanged += len(batch) - len(changed)
        self._write(self._taken(changed, newest))

    def _taken(self, files: Sequence[FileStat], newest: dict[str, Version]) -> list[PathFinding]:
        findings: list[PathFinding] = []
        try:
            with self._store.blobs.batch() as kept:
                intake = Intake(self._store.blobs, kept, self._sizes, self._walk.look)
                for parent, some in groupby(files, key=_parent):
                    findings += self._taken_in(parent, some, intake, newest)
        except OSError as error:
            # What goes into the database is as it was; what goes into files could not be kept.
            large = [finding for finding in findings if finding.taken and finding.taken.small is None]
            for finding in large:
                self._report_problem(tool_error(error, finding.path), finding.path)
            findings = [finding for finding in findings if finding not in large]
        return findings

    def _taken_in(
        self, parent: str, files: Iterable[FileStat], intake: Intake, newest: dict[str, Version]
    ) -> Iterator[PathFinding]:
        try:
            directory = self._workspace.open_directory(parent)
        except (OSError, ToolError):
            # Gone since it was walked; what was in it is found missing the next time.
            return
        try:
            for file in files:
                version = newest.get(file.path)
                try:
                    taken: TakenFile | None = intake.take(directory, file, version)
                except OSError as error:
                    self._report_problem(tool_error(error, file.path), file.path)
                except ToolError as error:
                    self._report_problem(error, file.path)
                else:
                    yield PathFinding(file.path, version, taken)
        finally:
            os.close(directory)

    def _missing(self, paths: Sequence[str]) -> Iterator[PathFinding]:
        """Yield what became of paths that were not met; those that are there after all are met now."""
        newest = self._store.read(lambda view: newest_versions(view, paths))
        doubtful: list[tuple[FileStat, Known | None]] = []
        for path in paths:
            if self._walk.is_out_of_reach(path):
                yield PathFinding(path, newest.get(path), None, is_dropped=True)
                continue
            try:
                file = self._walk.look(path)
            except ToolError:
                yield PathFinding(path, newest.get(path), None, is_dropped=True)
            except OSError as error:
                if not any(path.startswith(f"{closed}/") for closed in self._walk.closed):
                    self._report_problem(tool_error(error, path), path)
            else:
                if file is None:
                    is_directory = self._walk.is_directory(path)
                    yield PathFinding(path, newest.get(path), None, is_directory=is_directory)
                elif self._walk.ignoring.ignores(path):
                    doubtful.append((file, None))
                else:
                    self._meet(file, None)
        self._settle_doubts(doubtful)

    def _settle_doubts(self, doubtful: Sequence[tuple[FileStat, Known | None]]) -> None:
        """Keep an ignored path only where a call has made it, or where it has a description or tags."""
        if not doubtful:
            return
        paths = [file.path for file, _ in doubtful]
        with self._store.database.read() as view:
            rows = rows_at(view, paths)
            wanted = paths_of_calls(view, paths) | {path for path, row in rows.items() if row.words}
            newest = newest_versions(view, paths)
        for file, known in doubtful:
            if file.path in wanted:
                self._meet(file, known)
        self._write(
            [
                PathFinding(path, newest.get(path), None, is_dropped=True)
                for path in paths
                if path in rows and path not in wanted
            ]
        )

    def _write(self, findings: Sequence[PathFinding]) -> None:
        if findings:
            self.report.add(self._store.documents.record_scan(findings, self._context))

    def _is_gone(self, path: str) -> bool:
        try:
            return self._walk.look(path) is None
        except (OSError, ToolError):
            return False

    def _is_stopped(self) -> bool:
        if self._stop():
            self.report.is_whole = False
        return not self.report.is_whole

    def _report_problem(self, error: ToolError, path: str) -> None:
        self.report.problems.append(ScanProblem(shown(path), error.code, error.message))


def _side_by_side(
    files: Iterable[FileStat], rows: Iterator[Known]
) -> Iterator[tuple[FileStat | None, Known | None]]:
    """Pair what is on disk with what is known; both come in the order of their paths."""
    known = next(rows, None)
    for file in files:
        while known is not None and known.path < file.path:
            yield None, known
            known = next(rows, None)
        if known is not None and known.path == file.path:
            yield file, known
            known = next(rows, None)
        else:
            yield file, None
    while known is not None:
        yield None, known
        known = next(rows, None)


def _is_known(file: FileStat, known: Known | None, newest: Version | None) -> bool:
    return (
        known is not None
        and newest is not None
        and (known.fingerprint, known.version) == (file.fingerprint, newest.version)
    )


def _parent(file: FileStat) -> str:
    return split_path(file.path)[0]
