"""Folding: what the timelines tell of approvals, claims and versions, compared with the tables that serve them.

The tables are there to be asked quickly. The truth is the chain; whatever differs from it was not written by us.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from brasstag.store.schema import approvals, calls, versions
from brasstag.words.events import EntryKind
from brasstag.words.previews import ABSENT

Payload = dict[str, Any]


@dataclass(slots=True)
class _Approval:
    """What the entries say of one approval."""

    call_id: str
    tool: Any
    actor: Any
    role: Any
    arguments: Any
    digest: Any
    state: Any = "open"
    by: Any = None
    original: Any = None


@dataclass(slots=True)
class Folded:
    """Everything the timelines tell, entry by entry."""

    approvals: dict[str, _Approval] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    versions: set[tuple[str, str, str]] = field(default_factory=set)
    redacted: set[str] = field(default_factory=set)
    """Calls of which some entry was redacted: what they tell is not whole any more."""
    doubts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, kind: str, call_id: str, payload: Payload) -> None:
        """Take one sound entry into account."""
        match kind:
            case EntryKind.ASKED:
                self._asked(call_id, payload)
            case EntryKind.DECIDED:
                self._decided(payload)
            case EntryKind.CLAIMED:
                self._claimed(call_id, payload)
            case EntryKind.SETTLED:
                self._settled(call_id, payload)
            case _:
                pass

    def differences(self, connection: Connection) -> Iterator[tuple[str, str]]:
        """Yield where and how the tables differ from the timelines."""
        yield from self.doubts
        yield from self._approval_differences(connection)
        yield from self._claim_differences(connection)
        yield from self._version_differences(connection)

    def _asked(self, call_id: str, payload: Payload) -> None:
        self.approvals[str(payload.get("approval"))] = _Approval(
            call_id, *(payload.get(name) for name in ("tool", "actor", "role", "input", "digest"))
        )

    def _decided(self, payload: Payload) -> None:
        approval = self.approvals.get(str(payload.get("approval")))
        if approval is None:
            return
        approval.state, approval.by = payload.get("state"), payload.get("by")
        approval.digest = payload.get("digest", approval.digest)
        response = payload.get("response")
        if isinstance(response, dict) and "modifiedArgs" in response:
            # What was made of the edit, defaults filled in, is told by the claim.
            approval.original, approval.arguments = approval.arguments, None

    def _claimed(self, call_id: str, payload: Payload) -> None:
        self.claims[call_id] = "claimed"
        name = payload.get("approval")
        if name is None:
            return
        approval = self.approvals.get(str(name))
        if approval is None or approval.state != "approved":
            if call_id not in self.redacted:
                self.doubts.append(
                    (call_id, f"it acted on {name}, which nobody is on record to have approved")
                )
            return
        approval.state, approval.arguments = "consumed", payload.get("input")

    def _settled(self, call_id: str, payload: Payload) -> None:
        self.claims[call_id] = "settled"
        for change in payload.get("changes") or ():
            self.versions.add((call_id, change["path"], change["after"]))
            if change["source"]:
                self.versions.add((call_id, change["source"], ABSENT))

    def _approval_differences(self, connection: Connection) -> Iterator[tuple[str, str]]:
        known = set()
        for row in connection.execute(select(approvals).order_by(approvals.c.id)):
            known.add(row.id)
            if row.call_id in self.redacted:
                continue
            told = self.approvals.get(row.id)
            if told is None:
                yield row.id, "the timelines know nothing of this approval"
                continue
            if (told.state, told.by) != (row.state, row.decided_by):
                yield (
                    row.id,
                    f"the timelines tell {_said(told.state, told.by)}, the table says {_said(row.state, row.decided_by)}",
                )
            held = (row.call_id, row.tool, row.actor, row.role, row.digest)
            if held != (told.call_id, told.tool, told.actor, told.role, told.digest):
                yield row.id, "the table names another call, tool, role or digest than the timelines"
            original = None if row.original_arguments is None else json.loads(row.original_arguments)
            given = json.loads(row.arguments)
            if original != told.original or (told.arguments is not None and given != told.arguments):
                yield row.id, "the table holds other arguments than the timelines tell"
        for missing in sorted(self.approvals.keys() - known):
            yield missing, "the timelines tell of this approval, but it is gone"

    def _claim_differences(self, connection: Connection) -> Iterator[tuple[str, str]]:
        table = {row.id: row.state for row in connection.execute(select(calls.c.id, calls.c.state))}
        for call_id in sorted((table.keys() | self.claims.keys()) - self.redacted):
            if table.get(call_id) != self.claims.get(call_id):
                told, held = self.claims.get(call_id, "nothing"), table.get(call_id, "nothing")
                yield call_id, f"the timelines tell that it {told}, the ledger says {held}"

    def _version_differences(self, connection: Connection) -> Iterator[tuple[str, str]]:
        columns = (versions.c.call_id, versions.c.path, versions.c.state)
        table = {tuple(row) for row in connection.execute(select(*columns).where(versions.c.call_id != ""))}
        for call_id, path, _ in sorted(table ^ self.versions):
            if call_id not in self.redacted:
                yield call_id, f"the timelines and the versions differ about {path}"


def _said(state: Any, by: Any) -> str:
    return f"{state} by {by}" if by else str(state)
