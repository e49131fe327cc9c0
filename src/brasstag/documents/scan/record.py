"""Record what a scan found at some paths in one commit: versions, rows, index and outbox.

A path is left for a later scan where a call holds it, or where it got a newer version since its newest one was read:
what this scan found there may be out of date.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brasstag.documents.scan.batch import RowBatch, in_order
from brasstag.documents.scan.intake import Taken
from brasstag.documents.scan.moves import Appeared, Origin, moved_by_calls, moved_outside
from brasstag.documents.scan.walk import inode_in
from brasstag.store.contents.touched import touch
from brasstag.store.contents.versions import OUTSIDE, Version, newest_versions
from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.documents.outbox import DOCUMENTS, announce
from brasstag.store.documents.rows import DocumentRow, last_id, rows_at
from brasstag.store.tasks.ledger import leased_paths, overlaps
from brasstag.words.previews import ABSENT, DIRECTORY, digest_in

_Former = tuple[Version | None, DocumentRow | None]
"""The first version of a document, and the row it had where calls have moved it from."""

_UNKNOWN: _Former = (None, None)

What = Literal["added", "changed", "moved", "removed", "unchanged"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found at one path."""

    path: str
    newest: Version | None
    """Its newest version, read before the disk was looked at."""
    taken: Taken | None
    """None where there is no file and no link."""
    is_directory: bool = False
    is_dropped: bool = False
    """Whether it is to be a document no longer, whatever the disk holds."""

    @property
    def state(self) -> str:
        """What the disk held."""
        if self.taken is not None:
            return self.taken.state
        return DIRECTORY if self.is_directory else ABSENT


@dataclass(frozen=True, slots=True)
class Scene:
    """What is the same for all batches of one scan."""

    is_gone: Callable[[str], bool]
    """Says of a path that it holds neither a file nor a link."""
    newest_id: int
    """The last row there was when the scan began; what it added itself cannot have been moved."""
    gone_since: str
    """From when on a path that was found empty may be where something was moved from."""


class Record:
    """One commit."""

    def __init__(self, transaction: Transaction, at: str, scene: Scene) -> None:
        self.told: list[tuple[What, str]] = []
        """What became of each path."""
        self.left: list[str] = []
        """Paths that were left for later."""
        self._transaction = transaction
        self._view = transaction.connection
        self._at = at
        self._scene = scene
        self._sheet = RowBatch()

    def write(self, findings: Sequence[Finding]) -> None:
        """Write down what was found."""
        # No call claims while this is held, so that none can make a version of a path that is written about here.
        self._transaction.lock(Lock.LEASES)
        self._transaction.lock(Lock.DOCUMENTS)
        findings = self._still_true(findings)
        rows = rows_at(self._view, [finding.path for finding in findings])
        origins = self._origins(findings, rows)
        taken_over = {origin.row.id for origin in origins.values()}
        past = self._past(findings, rows, origins, taken_over)
        self._sheet.next_id = last_id(self._view) + 1
        for finding in findings:
            row = rows.get(finding.path)
            if row is not None and row.id in taken_over:
                # What it was of has moved on; whatever is here now is another document.
                row = None
            if finding.is_dropped:
                self._drop(finding, row)
            elif finding.taken is None:
                self._remove(finding, row)
            else:
                self._keep(
                    finding, finding.taken, row, origins.get(finding.path), past.get(finding.path, _UNKNOWN)
                )
        self._post()

    def _still_true(self, findings: Sequence[Finding]) -> list[Finding]:
        leased = leased_paths(self._transaction)
        newest = newest_versions(self._view, [finding.path for finding in findings])
        kept: list[Finding] = []
        for finding in findings:
            is_held = any(overlaps(finding.path, path) for path in leased)
            if is_held or _number(newest.get(finding.path)) != _number(finding.newest):
                self.left.append(finding.path)
            else:
                kept.append(finding)
        return kept

    def _origins(self, findings: Sequence[Finding], rows: Mapping[str, DocumentRow]) -> dict[str, Origin]:
        appeared = [
            Appeared(finding.path, finding.taken.state, inode_in(finding.taken.fingerprint))
            for finding in findings
            if finding.taken is not None
            and not _is_live(rows.get(finding.path))
            and (finding.newest is None or finding.newest.state == ABSENT)
        ]
        return moved_outside(
            self._view, appeared, self._scene.is_gone, self._scene.newest_id, self._scene.gone_since
        )

    def _past(
        self,
        findings: Sequence[Finding],
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
        self, finding: Finding, taken: Taken, row: DocumentRow | None, origin: Origin | None, past: _Former
    ) -> None:
        version = self._version(finding, taken, origin)
        first, moved = past
        if origin is not None:
            moved = origin.row
        base = row if _is_live(row) else moved or row
        is_new_text = base is None or base is moved or not base.is_there or not _reads_alike(base, taken)
        number = base.id if base is not None else self._sheet.new_id()
        described = _described(number, finding.path, taken, version, base, first or version)
        if base is None:
            self._sheet.inserted.append(described)
        elif base is moved:
            self._sheet.move(described, row)
        else:
            self._sheet.updated.append(described)
        if is_new_text:
            self._sheet.put(described, taken.text, is_new=base is None)
        what = _what(base, moved, version)
        self._tell(what, version, source=moved.path if moved is not None and base is moved else "")

    def _version(self, finding: Finding, taken: Taken, origin: Origin | None) -> Version:
        """Return the version of what was found: the newest there is, or a new one made outside."""
        if taken.small is not None and (digest := digest_in(taken.state)):
            self._sheet.contents[digest] = taken.small
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
                self._sheet.versions.append(
                    Version(
                        origin.row.path, origin.source_version + 1, ABSENT, None, 0, OUTSIDE, "", "", self._at
                    )
                )
        self._sheet.versions.append(made)
        return made

    def _remove(self, finding: Finding, row: DocumentRow | None) -> None:
        version = finding.newest
        if version is not None and _is_news(version.state, finding.state):
            number = version.version + 1
            version = Version(finding.path, number, finding.state, None, 0, OUTSIDE, "", "", self._at)
            self._sheet.versions.append(version)
        if version is None or not _is_live(row):
            return
        assert row is not None  # noqa: S101 - a row that is live is one
        self._sheet.updated.append(
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
        self._sheet.dropped_texts.append(row.id)
        self._tell("removed", version)

    def _drop(self, finding: Finding, row: DocumentRow | None) -> None:
        if row is None:
            return
        self._sheet.deleted.append(row.id)
        self._sheet.dropped_texts.append(row.id)
        self.told.append(("removed", finding.path))
        self._sheet.changes.append(
            {"path": row.path, "change": "removed", "version": row.version, "by": OUTSIDE}
        )

    def _tell(self, what: What, version: Version, source: str = "") -> None:
        self.told.append((what, version.path))
        if what == "unchanged":
            return
        change = {"path": version.path, "change": what, "version": version.version, "by": version.by}
        self._sheet.changes.append(change | ({"source": source} if source else {}))

    def _post(self) -> None:
        self._sheet.write(self._transaction, self._at)
        touch(self._transaction, self.left)
        if self._sheet.changes:
            announce(self._transaction, DOCUMENTS, {"changes": in_order(self._sheet.changes)}, self._at)


def _described(
    number: int, path: str, taken: Taken, version: Version, base: DocumentRow | None, first: Version
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


def _reads_alike(base: DocumentRow, taken: Taken) -> bool:
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
