"""Rows of proposals: each move is one step, taken once, and the timeline holds the digest of the row it left."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from brasstag.store.database.base import Transaction
from brasstag.store.database.lookup import rows_named
from brasstag.store.database.schema import proposals
from brasstag.words.canonical import stored_digest, stored_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import not_one
from brasstag.words.review.proposals import (
    FINAL_STATES,
    Proposal,
    ProposalAuthor,
    ProposalContent,
    ProposalDecision,
    ProposalState,
)

_COLUMNS = tuple(column.name for column in proposals.columns)


def row_digest(row: Row[Any]) -> str:
    """Return the digest of everything a row says."""
    return stored_digest([getattr(row, name) for name in _COLUMNS])


def insert_proposal(transaction: Transaction, proposal: Proposal) -> str:
    """Write a new proposal down; return the digest of its row."""
    transaction.execute(insert(proposals).values(_values(proposal)))
    return _digest_of(transaction, proposal.id)


def move_proposal(transaction: Transaction, proposal: Proposal) -> str:
    """Write the next step of a proposal; raise ToolError where another writer took that step first."""
    moved = transaction.execute(
        update(proposals)
        .where(proposals.c.id == proposal.id, proposals.c.steps == proposal.steps - 1)
        .values(_values(proposal))
    )
    if moved.rowcount != 1:
        found = get_proposal(transaction.connection, proposal.id)
        raise ToolError(
            Code.PROPOSAL_STALE,
            f"{proposal.id} was changed meanwhile: it is {found.state.value} now, in revision {found.revision}; "
            "look at it again",
            {"state": found.state.value, "revision": found.revision},
        )
    return _digest_of(transaction, proposal.id)


def _digest_of(transaction: Transaction, proposal_id: str) -> str:
    return row_digest(transaction.execute(select(proposals).where(proposals.c.id == proposal_id)).one())


def get_proposal(connection: Connection, name: str) -> Proposal:
    """Return the proposal with this id, or with the only id that ends so."""
    return _proposal(proposal_row(connection, name))


def proposal_row(connection: Connection, name: str) -> Row[Any]:
    """Return the row of a proposal, by its id or the end of it."""
    found = rows_named(connection, proposals.c.id, name)
    if len(found) != 1:
        raise ToolError(
            Code.PROPOSAL_NOT_FOUND,
            not_one("proposal", name, several=len(found) > 1),
            hint="`brasstag prompts list --proposals` names them",
        )
    return found[0]


def list_proposals(
    connection: Connection, states: Sequence[ProposalState] = (), tool_id: str = ""
) -> list[Proposal]:
    """Return proposals, oldest first: in these states, and of this tool, where given."""
    # The id of an agent's proposal follows from its call, and says nothing of time.
    query = select(proposals).order_by(proposals.c.opened_at, proposals.c.id)
    if states:
        query = query.where(proposals.c.state.in_([state.value for state in states]))
    if tool_id:
        query = query.where(proposals.c.tool_id == tool_id)
    return [_proposal(row) for row in connection.execute(query)]


def open_proposals(connection: Connection, tool_id: str = "") -> list[Proposal]:
    """Return the proposals that are not final, of one tool or of all, oldest first."""
    states = [state for state in ProposalState if state not in FINAL_STATES]
    return list_proposals(connection, states, tool_id)


def newest_approvals(connection: Connection) -> dict[tuple[str, str], tuple[str, str]]:
    """Return, by target and tool, the snapshot and the content digest of what this room approved last."""
    query = select(proposals).where(proposals.c.state == ProposalState.APPROVED.value)
    found: dict[tuple[str, str], tuple[str, str]] = {}
    # Later approvals have later snapshots, even where the clock was put back.
    for row in sorted(connection.execute(query), key=lambda row: str(row.snapshot)):
        content = ProposalContent.from_json(json.loads(row.content))
        digest = "" if content.type == "retire" else content.tool.digest
        found[content.target, row.tool_id] = (row.snapshot, digest)
    return found


def unapplied_proposals(connection: Connection) -> list[Proposal]:
    """Return the approved proposals whose change has not reached the live file, oldest decision first."""
    query = (
        select(proposals)
        .where(proposals.c.state == ProposalState.APPROVED.value, proposals.c.applied == 0)
        .order_by(proposals.c.decided_at, proposals.c.id)
    )
    return [_proposal(row) for row in connection.execute(query)]


def _values(proposal: Proposal) -> dict[str, Any]:
    decided = proposal.decision
    return {
        "id": proposal.id,
        "tool_id": proposal.content.tool.id,
        "state": proposal.state.value,
        "revision": proposal.revision,
        "steps": proposal.steps,
        "content": stored_json(proposal.content.as_json()),
        "author": stored_json(proposal.author.as_json()),
        "base": proposal.base,
        "screening": stored_json(dict(proposal.screening)),
        "harness": stored_json(dict(proposal.harness)),
        "assessment": stored_json(dict(proposal.assessment)),
        "issue_id": proposal.issues[0],
        "review_id": proposal.issues[1],
        "opened_at": proposal.opened_at,
        "updated_at": proposal.updated_at,
        "decided_at": decided.at if decided else None,
        "decided_by": decided.by if decided else None,
        "note": decided.note if decided else "",
        "snapshot": decided.snapshot if decided else "",
        "applied": int(proposal.applied),
    }


def _proposal(row: Row[Any]) -> Proposal:
    decision = None
    if row.decided_at is not None:
        decision = ProposalDecision(row.decided_by, row.decided_at, row.note, row.snapshot)
    return Proposal(
        id=row.id,
        state=ProposalState(row.state),
        content=ProposalContent.from_json(json.loads(row.content)),
        author=ProposalAuthor(**json.loads(row.author)),
        base=row.base,
        revision=row.revision,
        steps=row.steps,
        screening=json.loads(row.screening),
        harness=json.loads(row.harness),
        assessment=json.loads(row.assessment),
        issues=(row.issue_id, row.review_id),
        opened_at=row.opened_at,
        updated_at=row.updated_at,
        decision=decision,
        applied=bool(row.applied),
    )
