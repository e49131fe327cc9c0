"""Decide on proposals: only a person, bound to what they have seen; an approval is applied, and recovery finishes it."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brasstag.catalog.gate.apply import apply_proposal, require_readable
from brasstag.catalog.gate.four_eyes import require_other_person
from brasstag.catalog.gate.gate import Gate
from brasstag.catalog.gate.issue_texts import closed_issues, returned_issues
from brasstag.catalog.gate.save import record_harness
from brasstag.catalog.gate.screened import require_unblocked
from brasstag.catalog.harness.cases import NOT_RUN
from brasstag.catalog.sealed_core import refuse_core
from brasstag.store.catalog.proposals import unapplied_proposals
from brasstag.store.catalog.writer import IssueWrites, Move
from brasstag.store.timeline.timeline import read_entries
from brasstag.words.approvals import Approver
from brasstag.words.calls import Tag
from brasstag.words.errors import BrasstagError, Code, StoreError, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.review.prompt_tools import MOST_IN_FIELD, Target
from brasstag.words.review.proposals import AGENT, Proposal, ProposalDecision, ProposalStep, after
from brasstag.words.review.texts import require_text

log = logging.getLogger("brasstag")

Recheck = Callable[[Proposal], Mapping[str, Any]]
"""Runs the deterministic checks of the harness again, and returns their result."""


@dataclass(frozen=True, slots=True)
class PersonsDecision:
    """What a person decides, and the digest of what they have seen."""

    step: ProposalStep
    by: Approver
    seen: str
    note: str = ""


def decide(gate: Gate, task_id: str, name: str, decision: PersonsDecision, recheck: Recheck) -> Proposal:
    """Write down a person's decision; an approval is applied at once. What is refused is written down, too."""
    proposal = gate.get(name)
    try:
        require_person(decision.by)
        require_text("the note", decision.note, MOST_IN_FIELD, needed=False)
        with gate.catalog.files[proposal.content.target].locked():
            _finish_unapplied(gate, task_id, proposal.content.target)
            proposal = _decidable(gate, proposal.id, decision)
            if decision.step is ProposalStep.APPROVE:
                return _approve(gate, task_id, proposal, decision, recheck)
            return _decline(gate, task_id, proposal, decision)
    except ToolError as error:
        tried = {
            "tool": proposal.content.tool.id,
            "refused": decision.step.value,
            "by": str(decision.by),
            "code": error.code.value,
            "message": error.message,
        }
        gate.store.catalog.note(task_id, proposal.id, tried)
        raise


def recover(gate: Gate, task_id: str) -> list[str]:
    """Finish what a process that died had approved and not applied; return the proposals."""
    if not gate.store.read(unapplied_proposals):
        return []
    finished = []
    for target, files in gate.catalog.files.items():
        try:
            with files.locked():
                finished += _finish_unapplied(gate, task_id, target)
        except StoreError as error:
            log.warning("what was approved waits to be applied: %s", error)
    return finished


def require_person(by: Approver) -> None:
    """Raise ToolError where an agent, or a timer, would decide."""
    if by.name.startswith(AGENT) or by.via == "expiry" or not by.name.strip():
        raise ToolError(
            Code.NOT_AN_APPROVER, f"{by.name} is not a person; only a person decides on proposals"
        )


def _decidable(gate: Gate, proposal_id: str, decision: PersonsDecision) -> Proposal:
    """Return a proposal as it is now; raise where its state, its record or what the person saw does not fit."""
    proposal = gate.get(proposal_id)
    after(proposal.state, decision.step, proposal.id)
    require_proven(gate, proposal)
    if decision.seen != proposal.digest:
        raise _stale(proposal, "it is not what you have seen: content, assessment or harness result differ")
    return proposal


def _decline(gate: Gate, task_id: str, proposal: Proposal, decision: PersonsDecision) -> Proposal:
    at, by, note = gate.store.now(), str(decision.by), decision.note
    if decision.step is ProposalStep.RETURN and not note.strip():
        raise ToolError(Code.INVALID_ARGUMENTS, "say what has to change; its author is told")
    writes = (
        returned_issues(proposal, by, note, at)
        if decision.step is ProposalStep.RETURN
        else closed_issues(proposal, by, note or "rejected", at)
    )
    declined, _ = _write(gate, task_id, proposal, decision, writes)
    return declined


def _approve(
    gate: Gate, task_id: str, proposal: Proposal, decision: PersonsDecision, recheck: Recheck
) -> Proposal:
    _require_approvable(gate, task_id, proposal, decision.by, recheck)
    files = gate.catalog.files[proposal.content.target]
    require_readable(files)
    at = gate.store.now()
    snapshot = files.free_name(proposal.content.tool.id, at)
    writes = closed_issues(proposal, str(decision.by), decision.note or "approved", at)
    approved, tag = _write(gate, task_id, proposal, decision, writes, snapshot)
    gate.at("approval recorded")
    return _apply(gate, task_id, approved, tag.id)


def _write(
    gate: Gate,
    task_id: str,
    proposal: Proposal,
    decision: PersonsDecision,
    writes: IssueWrites,
    snapshot: str = "",
) -> tuple[Proposal, Tag]:
    at = gate.store.now()
    decided = replace(
        proposal,
        state=after(proposal.state, decision.step, proposal.id),
        decision=ProposalDecision(str(decision.by), at, decision.note, snapshot),
        steps=proposal.steps + 1,
        updated_at=at,
    )
    payload = {
        "by": str(decision.by),
        "via": decision.by.via,
        "note": decision.note,
        "digest": decided.digest,
        "snapshot": snapshot,
    }
    return decided, gate.store.catalog.move(task_id, Move(decided, EntryKind.RESOLVED, payload, writes))


def _require_approvable(gate: Gate, task_id: str, proposal: Proposal, by: Approver, recheck: Recheck) -> None:
    content = proposal.content
    refuse_core(content.tool.id)
    declared = gate.catalog.callable_tools().get(content.tool.id)
    if declared is not None:
        raise _stale(proposal, f"{content.tool.id} is the name of a callable tool now ({declared})")
    if gate.four_eyes():
        require_other_person(proposal.author, by)
    require_unblocked(content)
    if gate.base(content) != proposal.base:
        raise _stale(
            proposal,
            f"{content.tool.id} was changed by another approval since it was proposed; propose it again",
        )
    if proposal.harness.get("verdict") == NOT_RUN:
        raise _stale(
            proposal,
            "some test cases were not run; give them a sampleOutput, or record what came out: "
            f"`brasstag prompts harness {proposal.id} --passed CASE`",
        )
    again = dict(recheck(proposal))
    if again != dict(proposal.harness):
        record_harness(gate, task_id, proposal, again)
        raise _stale(
            proposal,
            f"the harness gives another result now; `brasstag prompts review {proposal.id}` reviews it again",
        )


def _apply(gate: Gate, task_id: str, approved: Proposal, tag: str) -> Proposal:
    files = gate.catalog.files[approved.content.target]
    apply_proposal(approved, files, gate.catalog.receipts, tag, gate.at)
    applied = replace(approved, applied=True, steps=approved.steps + 1)
    payload = {"snapshot": applied.decision.snapshot if applied.decision else "", "tag": tag}
    gate.store.catalog.move(task_id, Move(applied, EntryKind.APPLIED, payload))
    gate.at("applied")
    gate.catalog.forget()
    return applied


def _finish_unapplied(gate: Gate, task_id: str, target: Target) -> list[str]:
    """Apply what was approved; the lock of the target is held, so no other process is in the middle of it."""
    finished = []
    for proposal in gate.store.read(unapplied_proposals):
        if proposal.content.target != target:
            continue
        try:
            require_proven(gate, proposal)
            _apply(gate, task_id, proposal, _decision_tag(gate, proposal))
            finished.append(proposal.id)
        except BrasstagError as error:
            log.warning("%s was approved and cannot be applied: %s", proposal.id, error)
    return finished


def require_proven(gate: Gate, proposal: Proposal) -> None:
    """Raise Unproven unless the timelines say of a proposal what its row says."""
    gate.store.read(lambda view: gate.store.catalog.require_proven(view, proposal.id))


def _decision_tag(gate: Gate, proposal: Proposal) -> str:
    entries = gate.store.read(lambda view: list(read_entries(view, call_id=proposal.id)))
    told = [
        entry.tag
        for entry in entries
        if entry.kind is EntryKind.RESOLVED and (entry.payload or {}).get("step") == proposal.steps
    ]
    return told[-1] if told else ""


def _stale(proposal: Proposal, why: str) -> ToolError:
    return ToolError(
        Code.PROPOSAL_STALE, f"{proposal.id} cannot be decided as it is: {why}", {"digest": proposal.digest}
    )
