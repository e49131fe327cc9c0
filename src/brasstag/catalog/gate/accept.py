"""Live entries that no approval accounts for: hand edits become drafts; what colleagues approved is accepted together."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from brasstag.catalog.gate.apply import require_readable
from brasstag.catalog.gate.decide import PersonsDecision, decide, require_person
from brasstag.catalog.gate.four_eyes import COLLEAGUE, require_other_person
from brasstag.catalog.gate.gate import Gate
from brasstag.catalog.gate.read import read_approved, read_draft
from brasstag.catalog.gate.save import draft, new_proposal, saved
from brasstag.catalog.gate.screened import require_unblocked
from brasstag.catalog.merge import Unaccounted
from brasstag.catalog.snapshots import Snapshot
from brasstag.store.catalog.proposals import list_proposals
from brasstag.store.catalog.writer import Move
from brasstag.words.approvals import Approver
from brasstag.words.canonical import stored_digest, why_not_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.review.prompt_tools import FIELDS
from brasstag.words.review.proposals import (
    Proposal,
    ProposalAuthor,
    ProposalContent,
    ProposalState,
    ProposalStep,
    ProposalType,
    after,
)

HAND_EDIT = ProposalAuthor("hand edit", "hand edit")
"""The author of a draft that was found in a live file."""


def adopt_hand_edits(gate: Gate, task_id: str) -> list[Proposal]:
    """Make a draft of each live entry that no approval accounts for; each content once."""
    edited = [one for one in gate.catalog.now.unaccounted if one.origin == "hand edit"]
    made = []
    for one in edited:
        document = _edited_document(one)
        known = gate.store.read(lambda view, one=one: list_proposals(view, (), one.tool_id))  # type: ignore[misc]
        content = read_draft(document)
        same = (content.tool.digest, content.type, content.target)
        if not any((p.content.tool.digest, p.content.type, p.content.target) == same for p in known):
            made.append(draft(gate, task_id, document, HAND_EDIT))
    return made


def from_colleagues(gate: Gate) -> list[Unaccounted]:
    """Return what colleagues approved and this room has not accepted yet."""
    return [one for one in gate.catalog.now.unaccounted if one.origin == "colleague"]


def accept(gate: Gate, task_id: str, by: Approver, seen: str) -> list[Proposal]:
    """Accept everything that colleagues approved, by one person's decision bound to the digest they have seen."""
    found = from_colleagues(gate)
    if seen != accept_digest(found):
        raise ToolError(
            Code.PROPOSAL_STALE, "what colleagues approved is not what you have seen; look at it again"
        )
    require_person(by)
    for target in {one.target for one in found}:
        require_readable(gate.catalog.files[target])
    contents = [_colleagues_content(one) for one in found]
    # Everything is looked at before anything is written: it is accepted as a whole.
    for one, content in zip(found, contents, strict=True):
        require_unblocked(content)
        if gate.four_eyes():
            require_other_person(_author(one), by)
    return [
        _accept_one(gate, task_id, one, content, by) for one, content in zip(found, contents, strict=True)
    ]


def _accept_one(
    gate: Gate, task_id: str, one: Unaccounted, content: ProposalContent, by: Approver
) -> Proposal:
    snapshot = one.snapshot
    if snapshot is None:
        raise ValueError(f"{one.tool_id} has no snapshot of a colleague")
    proposal = new_proposal(gate, content, _author(one), ProposalState.PROPOSED)
    payload = saved(proposal) | {"snapshot": snapshot.name}
    gate.store.catalog.move(task_id, Move(proposal, EntryKind.PROPOSED, payload))
    assessment = {"by": f"the snapshot of {snapshot.approver}", "recommendation": "approve", "items": []}
    reviewed = replace(
        proposal,
        state=after(proposal.state, ProposalStep.REVIEW, proposal.id),
        assessment=assessment,
        harness=dict(snapshot.body["harness"]),
        steps=1,
    )
    payload = {"assessment": assessment, "digest": reviewed.digest}
    gate.store.catalog.move(task_id, Move(reviewed, EntryKind.REVIEWED, payload))
    note = f"accepted from {snapshot.approver}"
    decision = PersonsDecision(ProposalStep.APPROVE, by, reviewed.digest, note)
    return decide(gate, task_id, proposal.id, decision, lambda found: found.harness)


def accept_digest(found: Sequence[Unaccounted]) -> str:
    """Return the digest of what colleagues approved, as a person is shown it."""
    return stored_digest([[one.target, one.tool_id, one.tool.digest if one.tool else ""] for one in found])


def _edited_document(one: Unaccounted) -> dict[str, Any]:
    before = one.accepted
    tool = one.tool or (before.tool if before else None)
    document: dict[str, Any] = tool.as_json() if tool else dict.fromkeys(FIELDS, "")
    kind = "retire" if one.tool is None else "new" if before is None or before.is_retirement else "modify"
    document |= {"proposalType": kind, "target": one.target}
    if before is not None:
        document["examples"] = list(before.examples)
        document["testCases"] = [case.as_json() for case in before.test_cases]
    return document


def _colleagues_content(one: Unaccounted) -> ProposalContent:
    snapshot = one.snapshot
    tool = one.tool or (one.accepted.tool if one.accepted else None)
    if snapshot is None or tool is None:
        raise ValueError(f"{one.tool_id} has no snapshot of a colleague")
    kind: ProposalType = "retire" if one.tool is None else "new" if one.accepted is None else "modify"
    document = {
        **tool.as_json(),
        "proposalType": kind,
        "target": one.target,
        "rationale": snapshot.rationale,
        "examples": list(snapshot.examples),
        "testCases": [case.as_json() for case in snapshot.test_cases],
        "owner": snapshot.body.get("owner", ""),
    }
    try:
        content = read_approved(document)
    except ToolError as error:
        raise _unusable(snapshot, error.message) from None
    harness = snapshot.body.get("harness")
    if not _is_harness(harness) or why_not_json(harness):
        raise _unusable(snapshot, "its harness result cannot be read")
    return content


def _author(one: Unaccounted) -> ProposalAuthor:
    told = one.snapshot.body.get("author") if one.snapshot else None
    name = str(told.get("name", "")) if isinstance(told, Mapping) else ""
    return ProposalAuthor(f"{COLLEAGUE}:{name or 'unnamed'}", COLLEAGUE)


def _is_harness(value: Any) -> bool:
    """Say whether a value is the result of a harness, as an approval has it: every case was run."""
    if not isinstance(value, Mapping) or value.get("verdict") not in ("pass", "fail"):
        return False
    cases = value.get("cases")
    return isinstance(cases, list) and all(
        isinstance(case, Mapping)
        and isinstance(case.get("failures", []), list)
        and all(isinstance(failed, Mapping) for failed in case.get("failures", []))
        for case in cases
    )


def _unusable(snapshot: Snapshot, why: str) -> ToolError:
    return ToolError(
        Code.INVALID_PROPOSAL,
        f"the snapshot {snapshot.name} of {snapshot.tool_id} is not what an approval writes: {why}. Ask who approved "
        "it to approve it again",
    )
