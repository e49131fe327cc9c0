"""Record what a scan found at some paths in one commit: versions, rows, index and the event.

A path is left for a later scan where a call holds it, or where it got a newer version since its newest one was read:
what this scan found there may be out of date.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brasstag.store.contents.touched import touch
from brasstag.store.contents.versions import OUTSIDE, Version, newest_versions
from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.documents.batch import RowBatch, in_order
from brasstag.store.documents.findings import PathFinding, ScanContext, TakenFile, inode_in
from brasstag.store.documents.moves import Appeared, Origin, moved_by_calls, moved_outside
from brasstag.store.documents.rows import DocumentRow, last_id, rows_at
from brasstag.store.documents.said_types import SaidTypes, types_said_by, was_said
from brasstag.store.events.sequence import announce
from brasstag.store.tasks.ledger import leased_paths, overlaps
from brasstag.words.previews import ABSENT, digest_in

_Former = tuple[Version | None, DocumentRow | None]
"""The first version of a document, and the row it had where calls have moved it from."""

_UNKNOWN: _Former = (None, None)

What = Literal["added", "changed", "moved", "removed", "unchanged"]


@dataclass(frozen=True, slots=True)
class RecordedFindings:
    """What one commit made of what was found."""

    counts: Mapping[What, int]
    left: int
    """How many paths were left for a later scan."""


class Record:
    """One commit."""

    def __init__(self, transaction: Transaction, at: str, context: ScanContext) -> None:
        self._counts: Counter[What] = Counter()
        self._left: list[str] = []
        self._transaction = transaction
        self._view = transaction.connection
        self._at = at
        self._context = context
        self._batch = RowBatch()
        self._said: SaidTypes = {}

    def write(self, findings: Sequence[PathFinding]) -> RecordedFindings:
        """Write down what was found."""
        # No call claims while this is held, so that none can make a version of a path that is written about here.
        self._transaction.lock(Lock.LEASES)
        self._transaction.lock(Lock.DOCUMENTS)
        findings = self._still_true(findings)
        rows = rows_at(self._view, [finding.path for finding in findings])
        origins = self._origins(findings, rows)
        taken_over = {origin.row.id for origin in origins.values()}
        past = self._past(findings, rows, origins, taken_over)
        self._said = types_said_by(self._view, [one.newest for one in findings if one.newest is not None])
        self._batch.next_id = last_id(self._view) + 1
        for finding in findings:
            row = rows.get(finding.path)
            if row is not None and row.id in taken_over:
                # What it was of has moved on; whatever is here now is another document.
                row = None
            if finding.is_dropped:
                self._drop(row)
            elif finding.taken is None:
                self._remove(finding, row)
            else:
                self._keep(
                    finding, finding.taken, row, origins.get(finding.path), past.get(finding.path, _UNKNOWN)
                )
        self._post()
        return RecordedFindings(self._counts, len(self._left))

    def _still_true(self, findings: Sequence[PathFinding]) -> list[PathFinding]:
        leased = leased_paths(self._transaction)
        newest = newest_versions(self._view, [finding.path for finding in findings])
        kept: list[PathFinding] = []
        for finding in findings:
            is_held = any(overlaps(finding.path, path) for path in leased)
            if is_held or _number(newest.get(finding.path)) != _number(finding.newest):
                self._left.append(finding.path)
            else:
                kept.append(finding)
        return kept

    def _origins(self, findings: Sequence[PathFinding], rows: Mapping[str, DocumentRow]) -> dict[str, Origin]:
        appeared = [
            Appeared(finding.path, finding.taken.state, inode_in(finding.taken.fingerprint))
            for finding in findings
            if finding.taken is not None
            and not _is_live(rows.get(finding.path))
            and (finding.newest is None or finding.newest.state == ABSENT)
        ]
        return moved_outside(
            self._view, appeared, self._context.is_gone, self._context.newest_id, self._context.gone_since
        )

    def _past(
        self,
        findings: Sequence[PathFinding],
        rows: Mapping[str, DocumentRow],
        origins: Mapping[str, Origin],
        taken_over: set[int],
    ) -> dict[str, _Former]:
        """Return the past of what calls have made, each row that goes with it once."""
        found: dict[str, _Former] = {}
        for finding in findings:
            if finding.taken is None or finding.newest is None or finding.newest.state == ABSENT:
                # There is nothing, or what there is was not made by a call.
                continue
            if finding.path not in origins and not _is_live(rows.get(finding.path)):
                first, moved = moved_by_calls(self._view, finding.path)
                moved = None if moved is None or moved.id in taken_over else moved
                taken_over.update([moved.id] if moved is not None else ())
                found[finding.path] = first, moved
        return found

    def _keep(
        self,
        finding: PathFinding,
        taken: TakenFile,
        row: DocumentRow | None,
        origin: Origin | None,
        past: _Former,
    ) -> None:
        version = self._version(finding, taken, origin)
        first, moved = past
        if origin is not None:
            moved = origin.row
        base = row if _is_live(row) else moved or row
        taken = replace(taken, media_type=self._media_type(taken.media_type, version, base))
        is_new_text = base is None or base is moved or not base.is_there or not _reads_alike(base, taken)
        number = base.id if base is not None else self._batch.new_id()
        described = _described(number, finding.path, taken, version, base, first or version)
        if base is None:
            self._batch.inserted.append(described)
        elif base is moved:
            self._batch.move(described, row)
        else:
            self._batch.updated.append(described)
        if is_new_text:
            self._batch.put(described, taken.text, is_new=base is None)
        what = _what(base, moved, version)
        self._tell(what, version, source=moved.path if moved is not None and base is moved else "")

    def _media_type(self, found: str, version: Version, base: DocumentRow | None) -> str:
        """Return what its writer says it is, now or earlier, where what was found may be called so; else what was found."""
        fits = self._context.fits
        said = self._said.get((version.call_id, version.path))
        if said is not None and fits(said, found):
            return said
        if base is None or base.media_type == found or not fits(base.media_type, found):
            return found
        is_said = was_said(self._view, base.media_type, base.path, base.version)
        return base.media_type if is_said else found

    def _version(self, finding: PathFinding, taken: TakenFile, origin: Origin | None) -> Version:
        """Return the version of what was found: the newest there is, or a new one made outside."""
        if taken.small is not None and (digest := digest_in(taken.state)):
            self._batch.contents[digest] = taken.small
        if finding.newest is not None and finding.newest.state == taken.state:
            return finding.newest
        made = Version(
            finding.path,
            _number(finding.newest) + 1,
            taken.state,
            taken.mode,
            taken.size,
            OUTSIDE,
            "",
            "",
            self._at,
        )
        if origin is not None:
            made = replace(made, source=origin.row.path, source_version=origin.source_version)
            if not origin.is_recorded:
                self._batch.versions.append(
                    Version(
                        origin.row.path, origin.source_version + 1, ABSENT, None, 0, OUTSIDE, "", "", self._at
                    )
                )
        self._batch.versions.append(made)
        return made

    def _remove(self, finding: PathFinding, row: DocumentRow | None) -> None:
        version = finding.newest
        if version is not None and _is_news(version.state, finding.state):
            number = version.version + 1
            version = Version(finding.path, number, finding.state, None, 0, OUTSIDE, "", "", self._at)
            self._batch.versions.append(version)
        if version is None or row is None or not row.is_there:
            return
        self._batch.updated.append(
            replace(
                row,
                version=version.version,
                state=ABSENT,
                size=0,
                mode=None,
                updated_by=version.by,
                updated_task=version.task_id,
                updated_at=version.at,
                pending="",
                note="",
            )
        )
        self._batch.dropped_texts.append(row.id)
        self._tell("removed", version)

    def _drop(self, row: DocumentRow | None) -> None:
        if row is None:
            return
        if row.words:
            # What was said of it stays, for when it can be seen again; without a fingerprint it is then read anew.
            self._batch.updated.append(
                replace(row, state=ABSENT, size=0, mode=None, fingerprint="", pending="", note="")
            )
        else:
            self._batch.deleted.append(row.id)
        self._batch.dropped_texts.append(row.id)
        self._counts["removed"] += 1
        self._batch.changes.append(
            {"path": row.path, "change": "removed", "version": row.version, "by": OUTSIDE}
        )

    def _tell(self, what: What, version: Version, source: str = "") -> None:
        self._counts[what] += 1
        if what == "unchanged":
            return
        change = {"path": version.path, "change": what, "version": version.version, "by": version.by}
        self._batch.changes.append(change | ({"source": source} if source else {}))

    def _post(self) -> None:
        self._batch.write(self._transaction, self._at)
        touch(self._transaction, self._left)
        if self._batch.changes:
            announce(
                self._transaction, "documents", self._at, payload={"changes": in_order(self._batch.changes)}
            )


def _described(
    number: int, path: str, taken: TakenFile, version: Version, base: DocumentRow | None, first: Version
) -> DocumentRow:
    """Return the row of what was found, with what was known of it before."""
    row = DocumentRow(
        number,
        path,
        version.version,
        taken.state,
        taken.size,
        taken.mode,
        taken.media_type,
        taken.fingerprint,
        first.by,
        first.task_id,
        first.at,
        version.by,
        version.task_id,
        version.at,
        pending=taken.pending,
        note=taken.note,
    )
    if base is None:
        return row
    row = replace(
        row,
        created_by=base.created_by,
        created_task=base.created_task,
        created_at=base.created_at,
        description=base.description,
        tags=base.tags,
    )
    # The index of what stayed as it was may be further than a scan brings it.
    return replace(row, pending=base.pending, note=base.note) if _reads_alike(base, taken) else row


def _reads_alike(base: DocumentRow, taken: TakenFile) -> bool:
    return (base.state, base.media_type) == (taken.state, taken.media_type)


def _what(base: DocumentRow | None, moved: DocumentRow | None, version: Version) -> What:
    if base is not None and base is moved:
        return "moved"
    if base is None or not base.is_there:
        return "added"
    return "unchanged" if (base.state, base.version) == (version.state, version.version) else "changed"


def _number(version: Version | None) -> int:
    return version.version if version is not None else 0


def _is_live(row: DocumentRow | None) -> bool:
    return row is not None and row.is_there


def _is_news(known: str, found: str) -> bool:
    """Say whether it is worth a version that a path holds no file: directories that others make are not."""
    return known != found and known != ABSENT
