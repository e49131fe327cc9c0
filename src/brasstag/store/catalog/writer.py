"""Everything that is written about proposals and issues: one method, one commit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brasstag.store.catalog.issues import change_issue, insert_issue
from brasstag.store.catalog.proposals import insert_proposal, move_proposal, proposal_row, row_digest
from brasstag.store.database.base import Transaction, View
from brasstag.store.tasks.writer import Desks, Payload
from brasstag.store.timeline.timeline import proven_entries, read_entries
from brasstag.words.calls import Tag
from brasstag.words.errors import Unproven
from brasstag.words.events import EntryKind
from brasstag.words.review.issues import Issue, IssueEvent
from brasstag.words.review.proposals import Proposal


@dataclass(frozen=True, slots=True)
class NewIssue:
    """An issue that a commit opens."""

    issue: Issue
    by: str


@dataclass(frozen=True, slots=True)
class IssueChange:
    """What a commit changes of an issue."""

    issue_id: str
    event: IssueEvent
    changes: Mapping[str, Any] = field(default_factory=dict)


IssueWrites = Sequence[NewIssue | IssueChange]


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a proposal: the row it leaves, the entry that tells of it, and what becomes of its issues."""

    proposal: Proposal
    kind: EntryKind
    payload: Payload
    issues: IssueWrites = ()
    epoch: int = 0
    """For a task of an agent: under which hold it is written."""


class CatalogWriter:
    """Writes proposals and issues in the name of one opening of a room."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks
        self.now: Callable[[], str] = desks.now

    def move(self, task_id: str, move: Move) -> Tag:
        """Write one step of a proposal."""
        with self._desks.writing(task_id) as transaction:
            return self.write_move(transaction, task_id, move)

    def write_move(self, transaction: Transaction, task_id: str, move: Move) -> Tag:
        """Write one step of a proposal in a commit that writes more."""
        write_issues(transaction, move.issues)
        proposal = move.proposal
        write = move_proposal if proposal.steps else insert_proposal
        payload = move.payload | {
            "type": "proposal",
            "tool": proposal.content.tool.id,
            "proposal": proposal.id,
            "state": proposal.state.value,
            "revision": proposal.revision,
            "step": proposal.steps,
            "row": write(transaction, proposal),
        }
        return self._desks.timeline.append(
            transaction, task_id, move.kind, proposal.id, payload, epoch=move.epoch
        )

    def note(self, task_id: str, proposal_id: str, payload: Payload) -> Tag:
        """Write down a step that was tried and refused; the proposal stays as it is."""
        with self._desks.writing(task_id) as transaction:
            return self._desks.timeline.append(
                transaction, task_id, EntryKind.RESOLVED, proposal_id, {"type": "proposal", **payload}
            )

    def write_issues(self, writes: IssueWrites) -> None:
        """Open and change issues, all in one commit."""
        with self._desks.database.write() as transaction:
            write_issues(transaction, writes)

    def require_proven(self, view: View, proposal_id: str) -> None:
        """Raise Unproven unless the row of a proposal is what the timelines, every hash checked, say of it."""
        row = proposal_row(view, proposal_id)
        told = [entry for entry in read_entries(view, call_id=row.id) if "step" in (entry.payload or {})]
        last = max(told, key=lambda entry: entry.payload["step"], default=None)  # type: ignore[index]
        proven = last and {
            entry.tag: entry for entry in proven_entries(view, last.task_id, self._desks.sealer.key)
        }.get(last.tag)
        if not proven or (proven.payload or {}).get("row") != row_digest(row):
            raise Unproven(
                f"{row.id} is not what the timeline says of it, so nothing is done on its word.",
                hint="`brasstag timeline verify` says what does not fit",
            )


def write_issues(transaction: Transaction, writes: IssueWrites) -> None:
    """Open and change issues in a commit that writes more."""
    for write in writes:
        match write:
            case NewIssue(issue, by):
                insert_issue(transaction, issue, by)
            case IssueChange(issue_id, event, changes):
                change_issue(transaction, issue_id, event, **changes)
