"""Compare what timelines say of approvals, permissions, claims, versions, documents and memories with the tables.

The tables exist for quick queries. The chain is the truth; a row that differs from it was not written by Brasstag.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, select

from brasstag.store.catalog.proposals import row_digest
from brasstag.store.database.schema import approvals, calls, leases, proposals
from brasstag.store.maintenance.fold_documents import FoldedDocuments
from brasstag.store.maintenance.fold_memories import FoldedMemories
from brasstag.store.maintenance.fold_permissions import FoldedPermissions
from brasstag.store.maintenance.fold_versions import FoldedVersions, are_close
from brasstag.store.tasks.approvals import request_digest
from brasstag.store.timeline.seals import Key
from brasstag.words.events import ABOUT_PERMISSIONS, ABOUT_PROPOSALS, EntryKind

Payload = dict[str, Any]


@dataclass(slots=True)
class _FoldedApproval:
    """What the entries say of one approval: what was asked, by its digest, and what became of it."""

    request: Any
    state: Any = "open"
    by: Any = None
    note: Any = ""
    at: str | None = None
    """When it was decided."""


@dataclass(slots=True)
class _Claim:
    """What the entries say of one claim."""

    task_id: str
    tool: Any
    changes: Any
    state: str = "claimed"

    def holds(self, path: str) -> bool:
        """Say whether it has not ended, and would change this path."""
        named = (path in (change.get("path"), change.get("source")) for change in self.changes)
        return self.state == "claimed" and bool(path) and any(named)


@dataclass(slots=True)
class Folded:
    """Everything the timelines tell, entry by entry."""

    approvals: dict[str, _FoldedApproval] = field(default_factory=dict)
    claims: dict[str, _Claim] = field(default_factory=dict)
    versions: FoldedVersions = field(default_factory=FoldedVersions)
    documents: FoldedDocuments = field(default_factory=FoldedDocuments)
    memories: FoldedMemories = field(default_factory=FoldedMemories)
    permissions: FoldedPermissions = field(default_factory=FoldedPermissions)
    redacted: set[str] = field(default_factory=set)
    """Calls of which some entry was redacted: what they tell is no longer complete."""
    unsound: set[str] = field(default_factory=set)
    """Calls of which some entry does not hold; that is reported already, so what follows from it is left out."""
    proposals: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """The last step of each proposal, and the digest of the row that it left."""
    doubts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, entry: Row[Any], payload: Payload) -> None:
        """Take one sound entry into account."""
        call_id = entry.call_id
        match entry.kind:
            case EntryKind.ASKED:
                self._asked(call_id, payload)
                self.permissions.called(entry, payload)
            case EntryKind.DECIDED:
                self._decided(entry.at, payload)
            case EntryKind.CLAIMED:
                self._claimed(entry, payload)
                self.permissions.called(entry, payload)
            case EntryKind.SETTLED:
                if call_id in self.claims:
                    self.claims[call_id].state = "settled"
                self.versions.settled(entry.task_id, call_id, entry.at, payload)
            case EntryKind.CALLED | EntryKind.DELEGATED | EntryKind.QUESTIONED:
                self._use_up(call_id, payload.get("approval"))
                self.documents.called(entry.at, payload)
                self.memories.called(entry, payload)
                self.permissions.called(entry, payload)
            case EntryKind.REDACTED:
                self.memories.redacted(entry.at, payload)
            case kind if kind in ABOUT_PERMISSIONS:
                self.permissions.given_or_revoked(entry, payload)
            case kind if kind in ABOUT_PROPOSALS:
                self._moved(payload)
            case _:
                pass

    def differences(self, connection: Connection, keys: Mapping[str, Key]) -> Iterator[tuple[str, str]]:
        """Yield where and how the tables differ from the timelines."""
        yield from self.doubts
        yield from self._approval_differences(connection)
        yield from self._claim_differences(connection)
        yield from self.versions.differences(connection, self._is_untold)
        yield from self.documents.differences(connection, are_words_told=not self.redacted | self.unsound)
        yield from self.memories.differences(connection, keys, self._is_untold)
        yield from self.permissions.differences(connection, self._is_untold)
        yield from self._proposal_differences(connection)

    def _is_untold(self, call_id: str) -> bool:
        return call_id in self.redacted or call_id in self.unsound

    def _asked(self, call_id: str, payload: Payload) -> None:
        self._use_up(call_id, payload.get("used"))
        self.approvals[str(payload.get("approval"))] = _FoldedApproval(payload.get("request"))

    def _decided(self, at: str, payload: Payload) -> None:
        approval = self.approvals.get(str(payload.get("approval")))
        if approval is not None:
            approval.request = payload.get("request")
            approval.state, approval.by = payload.get("state"), payload.get("by")
            approval.note, approval.at = payload.get("note", ""), at

    def _claimed(self, entry: Row[Any], payload: Payload) -> None:
        preview = payload.get("preview")
        changes = preview.get("changes", []) if isinstance(preview, dict) else []
        self.claims[entry.call_id] = _Claim(entry.task_id, payload.get("tool"), changes)
        self.versions.claimed(entry.call_id, payload)
        self._use_up(entry.call_id, payload.get("approval"))

    def _use_up(self, call_id: str, name: Any) -> None:
        if name is None:
            return
        approval = self.approvals.get(str(name))
        if approval is not None and approval.state == "approved":
            approval.state = "consumed"
        elif not self._is_untold(call_id):
            self.doubts.append(
                (call_id, f"it acted on {name}, but the timeline has no person who approved that")
            )

    def _moved(self, payload: Payload) -> None:
        step, proposal = payload.get("step"), str(payload.get("proposal"))
        if isinstance(step, int) and step >= self.proposals.get(proposal, (0, None))[0]:
            self.proposals[proposal] = (step, payload.get("row"))

    def _proposal_differences(self, connection: Connection) -> Iterator[tuple[str, str]]:
        known = set()
        for row in connection.execute(select(proposals).order_by(proposals.c.id)):
            known.add(row.id)
            told = self.proposals.get(row.id)
            if not self._is_untold(row.id) and told != (row.steps, row_digest(row)):
                yield row.id, "the timelines tell nothing of this proposal, or something else"
        for missing in sorted(self.proposals.keys() - known):
            yield missing, "the timelines tell of this proposal, but it is gone"

    def _approval_differences(self, connection: Connection) -> Iterator[tuple[str, str]]:
        known = set()
        for row in connection.execute(select(approvals).order_by(approvals.c.id)):
            known.add(row.id)
            told = self.approvals.get(row.id)
            if self._is_untold(row.call_id):
                continue
            if told is None:
                yield row.id, "the timelines know nothing of this approval"
                continue
            if (told.state, told.by, told.note) != (row.state, row.decided_by, row.note):
                held = _said(row.state, row.decided_by)
                yield row.id, f"the timelines tell {_said(told.state, told.by)}, the table says {held}"
            if not _are_same_moment(told.at, row.decided_at):
                yield (
                    row.id,
                    f"the table has another time of the decision ({row.decided_at}) than the timelines",
                )
            if told.request != request_digest(row):
                yield row.id, "the table asks something else than the timelines tell"
        for missing in sorted(self.approvals.keys() - known):
            yield missing, "the timelines tell of this approval, but it is gone"

    def _claim_differences(self, connection: Connection) -> Iterator[tuple[str, str]]:
        known = set()
        for row in connection.execute(select(calls).order_by(calls.c.id)):
            known.add(row.id)
            told = self.claims.get(row.id)
            if self._is_untold(row.id):
                continue
            if told is None or (told.state, told.tool) != (row.state, row.tool):
                yield (
                    row.id,
                    f"the ledger says {row.state}, the timelines tell {told.state if told else 'nothing'}",
                )
            elif told.changes != json.loads(row.changes):
                yield row.id, "the ledger holds other changes than the timelines tell"
            elif told.task_id != row.task_id:
                yield row.id, f"the ledger gives it to {row.task_id}, but it is a call of {told.task_id}"
        for missing in sorted(self.claims.keys() - known):
            yield missing, "the timelines tell of this claim, but it is gone"
        for row in connection.execute(select(leases).order_by(leases.c.path)):
            told = self.claims.get(row.call_id)
            if not self._is_untold(row.call_id) and (told is None or not told.holds(row.path)):
                yield row.call_id, f"it holds {row.path} without a claim"


def _said(state: Any, by: Any) -> str:
    return f"{state} by {by}" if by else str(state)


def _are_same_moment(told: str | None, held: str | None) -> bool:
    return told is held is None or (told is not None and held is not None and are_close(told, held))
