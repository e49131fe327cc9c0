"""Proposals: what is proposed of a prompt tool, the states it goes through, and what was found out about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, get_args

from brasstag.words.canonical import stored_digest
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import FIELDS, PromptTool, Target

ProposalType = Literal["new", "modify", "retire"]
PROPOSAL_TYPES: tuple[ProposalType, ...] = get_args(ProposalType)


class ProposalState(StrEnum):
    """Where a proposal is in its life."""

    DRAFT = "draft"
    PROPOSED = "proposed"
    CHIEF_REVIEWED = "chief_reviewed"
    NEEDS_CHANGES = "needs_changes"
    APPROVED = "approved"
    REJECTED = "rejected"


class ProposalStep(StrEnum):
    """What moves a proposal from one state to the next."""

    PROPOSE = "propose"
    """Its content was saved, for the first time or changed."""
    REVIEW = "review"
    """The Chief of Staff has assessed it."""
    APPROVE = "approve"
    RETURN = "needs changes"
    REJECT = "reject"


_OPEN = (
    ProposalState.DRAFT,
    ProposalState.PROPOSED,
    ProposalState.CHIEF_REVIEWED,
    ProposalState.NEEDS_CHANGES,
)
TRANSITIONS: Mapping[tuple[ProposalState, ProposalStep], ProposalState] = {
    **{(state, ProposalStep.PROPOSE): ProposalState.PROPOSED for state in _OPEN},
    (ProposalState.PROPOSED, ProposalStep.REVIEW): ProposalState.CHIEF_REVIEWED,
    (ProposalState.CHIEF_REVIEWED, ProposalStep.APPROVE): ProposalState.APPROVED,
    (ProposalState.CHIEF_REVIEWED, ProposalStep.RETURN): ProposalState.NEEDS_CHANGES,
    (ProposalState.CHIEF_REVIEWED, ProposalStep.REJECT): ProposalState.REJECTED,
}
"""Every step that is allowed; whatever is not here is refused. Approved and rejected are final."""
PERSONS_STEPS = frozenset({ProposalStep.APPROVE, ProposalStep.RETURN, ProposalStep.REJECT})
"""Only a person takes these."""
FINAL_STATES = frozenset({ProposalState.APPROVED, ProposalState.REJECTED})


def after(state: ProposalState, step: ProposalStep, proposal_id: str) -> ProposalState:
    """Return the state that a step leads to; raise ToolError where it is not allowed."""
    found = TRANSITIONS.get((state, step))
    if found is None:
        allowed = [one.value for (at, one) in TRANSITIONS if at is state]
        then = (
            f"from here it can only be: {', '.join(allowed)}"
            if allowed
            else "that is final; make a new proposal"
        )
        raise ToolError(
            Code.PROPOSAL_STATE,
            f"{proposal_id} is {state.value}, so the step {step.value!r} is not possible; {then}",
            {"state": state.value, "step": step.value},
        )
    return found


@dataclass(frozen=True, slots=True)
class TestCase:
    """One check of a proposal: an input, whether its output should pass, and what is checked of the output."""

    __test__ = False  # pytest would take it for a test

    name: str
    input: str
    expect: Literal["pass", "fail"]
    checks: tuple[Any, ...]
    """Names of checks, or objects such as ``{"contains": "text"}``."""
    sample_output: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return S4's form."""
        found = {"name": self.name, "input": self.input, "expect": self.expect, "checks": list(self.checks)}
        return found if self.sample_output is None else found | {"sampleOutput": self.sample_output}

    @staticmethod
    def is_form(value: Any) -> bool:
        """Say whether a value can be read as a test case; its checks may still be wrong."""
        return (
            isinstance(value, Mapping)
            and isinstance(value.get("name"), str)
            and isinstance(value.get("input"), str)
            and isinstance(value.get("checks", []), list)
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TestCase":
        """Read a form that was checked before."""
        return cls(
            value["name"],
            value["input"],
            value.get("expect", "pass"),
            tuple(value.get("checks", ())),
            value.get("sampleOutput"),
        )


@dataclass(frozen=True)
class ProposalContent:
    """What is proposed: a prompt tool, and what a reviewer needs to know of the change."""

    tool: PromptTool
    type: ProposalType
    target: Target
    rationale: str
    examples: tuple[str, ...] = ()
    test_cases: tuple[TestCase, ...] = ()
    owner: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the flat form: the eight fields, then the rest."""
        return {
            **self.tool.as_json(),
            "proposalType": self.type,
            "target": self.target,
            "rationale": self.rationale,
            "examples": list(self.examples),
            "testCases": [case.as_json() for case in self.test_cases],
            "owner": self.owner,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ProposalContent":
        """Read a form that was checked before."""
        return cls(
            PromptTool(*(value.get(name, "") for name in FIELDS)),
            value["proposalType"],
            value["target"],
            value.get("rationale", ""),
            tuple(value.get("examples", ())),
            tuple(map(TestCase.from_json, value.get("testCases", ()))),
            value.get("owner", ""),
        )

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all of it."""
        return stored_digest(self.as_json())


AGENT = "agent:"
"""How the name of an agent begins."""


@dataclass(frozen=True, slots=True)
class ProposalAuthor:
    """Who made a proposal, and whom four eyes count: for an agent, the person who started its run."""

    name: str
    """``cli:ada``, ``token:bo``, ``agent:editor``, ``library``."""
    person: str = ""
    """Whom it counts as; the same as the name where a person made it."""

    def as_json(self) -> dict[str, str]:
        """Return ``{name, person}``."""
        return {"name": self.name, "person": self.person or self.name}


@dataclass(frozen=True, slots=True)
class ProposalDecision:
    """What a person decided of a proposal."""

    by: str
    at: str
    note: str = ""
    snapshot: str = ""
    """For an approval: the name of the snapshot's file."""


@dataclass(frozen=True)
class Proposal:
    """A candidate change of the catalog, with what has been found out about it."""

    id: str
    state: ProposalState
    content: ProposalContent
    author: ProposalAuthor
    base: str = ""
    """The digest of the live tool it was made against; empty where there was none."""
    revision: int = 1
    steps: int = 0
    """How often it was moved; a writer that knew another number is refused."""
    screening: Mapping[str, Any] = field(default_factory=dict)
    harness: Mapping[str, Any] = field(default_factory=dict)
    assessment: Mapping[str, Any] = field(default_factory=dict)
    issues: tuple[str, str] = ("", "")
    """The issue for the Chief of Staff, and the one for people."""
    opened_at: str = ""
    updated_at: str = ""
    decision: ProposalDecision | None = None
    applied: bool = False
    """Whether an approved change has reached the live file."""

    @property
    def is_final(self) -> bool:
        """Whether nothing more can become of it."""
        return self.state in FINAL_STATES

    @cached_property
    def digest(self) -> str:
        """What an approval is bound to: content, assessment and harness result."""
        return stored_digest(
            {
                "content": self.content.as_json(),
                "assessment": dict(self.assessment),
                "harness": dict(self.harness),
                "revision": self.revision,
            }
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything, for programs."""
        decided = self.decision
        return {
            "proposalId": self.id,
            "state": self.state.value,
            "revision": self.revision,
            **self.content.as_json(),
            "author": self.author.as_json(),
            "base": self.base or None,
            "screening": dict(self.screening),
            "harness": dict(self.harness),
            "assessment": dict(self.assessment),
            "digest": self.digest,
            "issueId": self.issues[0] or None,
            "reviewIssueId": self.issues[1] or None,
            "openedAt": self.opened_at,
            "updatedAt": self.updated_at,
            "decidedBy": decided.by if decided else None,
            "decidedAt": decided.at if decided else None,
            "note": decided.note if decided else "",
            "snapshot": (decided.snapshot or None) if decided else None,
        }
