"""Approvals: a request to a person about one call, the person's answer, and what they permit for a time."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from brasstag.words.previews import Preview

DEFAULT_MINUTES = 60
MOST_MINUTES = 8 * 60
"""How long a permission may last."""


class ApprovalState(StrEnum):
    """Where an approval is in its life; all but WAITING_STATES are final."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CONSUMED = "consumed"
    VOID = "void"


WAITING_STATES = (ApprovalState.OPEN, ApprovalState.APPROVED)
"""The states of an approval that a person has still to decide, or that has still to be used."""


@dataclass(frozen=True, slots=True)
class Approver:
    """A person who may decide; surfaces make one only after they have seen a terminal or a token."""

    name: str
    via: Literal["terminal", "token", "login", "expiry", "library"]
    """How the person was identified; with ``library`` a program vouches for the name."""
    issuers: tuple[str, ...] = ()
    """For a token: who issued it, who issued theirs, and so on."""
    issued: tuple[str, ...] = ()
    """For a token: the names whose tokens the same person may hold: issued by this one, or by one of its registered
    issuers, directly or through others; removed ones, too."""

    def may_be(self, name: str) -> bool:
        """Say whether this person may have used the token of that name: it is theirs, or one was issued by the other."""
        return name in (self.name, *self.issuers, *self.issued)

    @classmethod
    def named(cls, by: "Approver | str") -> "Approver":
        """Return who decides, also where a program gives only a name."""
        return by if isinstance(by, Approver) else cls(by, "library")

    def __str__(self) -> str:
        return f"{self.name} ({self.via})"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What a person is asked: S2's form."""

    step_id: str
    tool: str
    args: Mapping[str, Any]
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return ``{stepId, tool, args, reason}``."""
        return {
            "stepId": self.step_id,
            "tool": self.tool,
            "args": dict(self.args),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class ApprovalResponse:
    """What the person answered: S2's form."""

    approved: bool
    modified_args: Mapping[str, Any] | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        """Refuse an answer that is neither yes nor no: any other text, "denied" too, would count as a yes."""
        if not isinstance(self.approved, bool):
            raise TypeError(f"approved is True or False, not {self.approved!r:.100}")

    def as_json(self) -> dict[str, Any]:
        """Return ``{approved, modifiedArgs?}``."""
        answer: dict[str, Any] = {"approved": self.approved}
        if self.modified_args is not None:
            answer["modifiedArgs"] = dict(self.modified_args)
        return answer


@dataclass(frozen=True, slots=True)
class Approval:
    """A durable request, bound by digest to one call, one tool version and what its preview saw."""

    id: str
    call_id: str
    task_id: str
    tool: str
    tool_version: str
    arguments: Mapping[str, Any]
    actor: str
    role: str
    reason: str
    rule: str
    preview: Preview
    digest: str
    state: ApprovalState
    requested_at: str
    expires_at: str | None = None
    decided_at: str | None = None
    decided_by: str | None = None
    note: str = ""
    original_arguments: Mapping[str, Any] | None = None
    """What the agent sent, where the person approved something else."""

    @property
    def request(self) -> ApprovalRequest:
        """S2's form of this request."""
        return ApprovalRequest(self.call_id, self.tool, self.arguments, self.reason)


class PermissionState(StrEnum):
    """Whether a permission counts; all but ACTIVE are final, unless the policy becomes again what it was."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"
    VOID = "void"
    """The rules, the profile or the tool have changed since, or the table and the timeline do not say the same."""


@dataclass(frozen=True, slots=True)
class Permission:
    """What a person allows one role to do with one tool until a time, and the approval that it was made from."""

    id: str
    tool: str
    role: str
    pattern: str
    """What the person typed; empty where it covers only what was approved."""
    rule: str
    """The allow rule it stands for, as JSON; empty where its call was redacted."""
    approver: str
    reason: str
    """Why the approved call was asked about."""
    policy: str
    """The digest of profile, rules and tool version that it counts with."""
    granted_at: str
    expires_at: str
    task_id: str
    call_id: str
    approval_id: str
    revoked_at: str | None = None
    revoked_by: str | None = None
    used_at: str = ""
    """When it last let a call through."""
    state: PermissionState = PermissionState.ACTIVE
    calls: int = 0
    """How many calls it has let through."""

    @property
    def covers(self) -> str:
        """What it covers, in the words of rules: the patterns, then what the call may do, and its arguments."""
        if not self.rule:
            return f"{self.tool} (redacted)"
        rule: dict[str, Any] = json.loads(self.rule)
        return f"{', '.join(rule['patterns'])} when {', '.join(_limits(rule))}"


def _limits(rule: Mapping[str, Any]) -> Iterator[str]:
    for fact, most in rule["when"].items():
        yield fact if most is None else f"{fact} ≤ {most}"
    for argument, globs in rule["arguments"].items():
        yield f"{argument} = {' or '.join(globs)}"
