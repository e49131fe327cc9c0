"""Save proposals: new ones, revisions, drafts, and what reviewers and the harness found out.

Nothing here asks a model. The caller hands in what was found out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brasstag.catalog.gate.gate import Gate
from brasstag.catalog.gate.issue_texts import proposal_issue, review_issue
from brasstag.catalog.gate.read import read_draft, read_proposal
from brasstag.catalog.gate.screened import require_unblocked, screening_of
from brasstag.catalog.sealed_core import refuse_core
from brasstag.store.catalog.proposals import open_proposals
from brasstag.store.catalog.writer import Move
from brasstag.store.database.base import View
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import new_id
from brasstag.words.review.proposals import (
    AGENT,
    Proposal,
    ProposalAuthor,
    ProposalContent,
    ProposalState,
    ProposalStep,
    after,
)

MOST_OPEN = 3
"""How many open proposals the agents of one role may have."""


def prepare(
    gate: Gate, document: Any, author: ProposalAuthor, *, revises: str = "", named: str = "", epoch: int = 0
) -> Move:
    """Return the move that saves a document as a proposal, or as the next revision of one; nothing is written yet.

    A new proposal is ``named`` so where a name is given, as an agent's is. Raises ToolError for what is missing, locked
    or screened out.
    """
    content = read_proposal(document, gate.catalog)
    content = content if content.owner else replace(content, owner=author.name)
    screening = require_unblocked(content).as_json()
    before = _revised(gate, content, author, revises)
    at, base = gate.store.now(), gate.base(content)
    if before is None:
        proposal = new_proposal(gate, content, author, ProposalState.PROPOSED, named)
    else:
        proposal = replace(
            before,
            state=after(before.state, ProposalStep.PROPOSE, before.id),
            content=content,
            author=author,
            base=base,
            revision=before.revision + 1,
            steps=before.steps + 1,
            screening=screening,
            harness={},
            assessment={},
            updated_at=at,
            decision=None,
        )
    proposal, issues = proposal_issue(proposal, author.name, at)
    return Move(proposal, EntryKind.PROPOSED, saved(proposal), issues, epoch)


def new_proposal(
    gate: Gate, content: ProposalContent, author: ProposalAuthor, state: ProposalState, named: str = ""
) -> Proposal:
    """Return a proposal that was not there before, made against the live tool as it is now."""
    at = gate.store.now()
    return Proposal(
        named or new_id("prp"),
        state,
        content,
        author,
        gate.base(content),
        screening=screening_of(content).as_json(),
        opened_at=at,
        updated_at=at,
    )


def saved(proposal: Proposal) -> dict[str, Any]:
    """Return what the entry of a saved proposal says."""
    content, author = proposal.content, proposal.author
    return {
        "by": author.name,
        "author": author.as_json(),
        "content": content.as_json(),
        "digest": content.digest,
        "base": proposal.base,
    }


def require_few_open(view: View, author: ProposalAuthor, proposal_id: str) -> None:
    """Raise ToolError where the agents of a role have as many open proposals as they may, beside this one."""
    mine = [one for one in open_proposals(view) if one.author.name == author.name and one.id != proposal_id]
    if len(mine) >= MOST_OPEN:
        raise ToolError(
            Code.TOO_MANY_PROPOSALS,
            f"{author.name} has {len(mine)} open proposals, as many as it may; wait until a person has decided on "
            f"{', '.join(one.content.tool.id for one in mine)}",
        )


def propose(gate: Gate, task_id: str, document: Any, author: ProposalAuthor, revises: str = "") -> Proposal:
    """Save a document as a proposal, or as the next revision of one."""
    move = prepare(gate, document, author, revises=revises)
    gate.store.catalog.move(task_id, move)
    return move.proposal


def draft(gate: Gate, task_id: str, document: Mapping[str, Any], author: ProposalAuthor) -> Proposal:
    """Save a document that is not complete; it goes on once it is proposed.

    Raises ToolError: INVALID_PROPOSAL where what is there is not in the form, CORE_LOCKED.
    """
    content = read_draft(document)
    refuse_core(content.tool.id)
    content = content if content.owner else replace(content, owner=author.name)
    proposal = new_proposal(gate, content, author, ProposalState.DRAFT)
    gate.store.catalog.move(task_id, Move(proposal, EntryKind.PROPOSED, saved(proposal)))
    return proposal


def review(
    gate: Gate, task_id: str, proposal: Proposal, assessment: Mapping[str, Any], harness: Mapping[str, Any]
) -> Proposal:
    """Write down what the Chief of Staff and the harness found out."""
    at = gate.store.now()
    reviewed = replace(
        proposal,
        state=after(proposal.state, ProposalStep.REVIEW, proposal.id),
        assessment=dict(assessment),
        harness=dict(harness),
        steps=proposal.steps + 1,
        updated_at=at,
    )
    reviewed, issues = review_issue(reviewed, at)
    payload = {"assessment": dict(assessment), "harness": dict(harness), "digest": reviewed.digest}
    gate.store.catalog.move(task_id, Move(reviewed, EntryKind.REVIEWED, payload, issues))
    return reviewed


def record_harness(gate: Gate, task_id: str, proposal: Proposal, harness: Mapping[str, Any]) -> Proposal:
    """Write down another harness result; a review that was made on the old one has to be made again."""
    if proposal.is_final:
        after(proposal.state, ProposalStep.PROPOSE, proposal.id)
    changed = replace(
        proposal,
        harness=dict(harness),
        steps=proposal.steps + 1,
        updated_at=gate.store.now(),
        state=ProposalState.PROPOSED if proposal.state is ProposalState.CHIEF_REVIEWED else proposal.state,
    )
    payload = {"harness": dict(harness), "content_digest": proposal.content.digest}
    gate.store.catalog.move(task_id, Move(changed, EntryKind.PROPOSED, payload))
    return changed


def _revised(
    gate: Gate, content: ProposalContent, author: ProposalAuthor, proposal_id: str
) -> Proposal | None:
    """Return the open proposal that a document revises: the one named, the author's own, or for a person a draft."""
    if proposal_id:
        found = gate.get(proposal_id)
        if found.content.tool.id != content.tool.id:
            raise ToolError(
                Code.INVALID_PROPOSAL,
                f"{found.id} is about {found.content.tool.id}, not {content.tool.id}; make a proposal of its own",
            )
        return found
    known = gate.store.read(lambda view: open_proposals(view, content.tool.id))
    completes = not author.name.startswith(AGENT)
    mine = [
        one
        for one in known
        if one.content.target == content.target
        and (one.author.name == author.name or (completes and one.state is ProposalState.DRAFT))
    ]
    return mine[-1] if mine else None
