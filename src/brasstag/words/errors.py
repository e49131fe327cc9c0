"""Error codes, and every exception of Brasstag.

A caller of a tool never sees an exception: it sees ``Failed(code, message)``. The codes:

    the call itself     UNKNOWN_TOOL · INVALID_ARGUMENTS · INVALID_PATH · NOT_SUPPORTED
    who may             NOT_ALLOWED (role) · BLOCKED_BY_RULE · DENIED (a person said no) · CONTROL_FILE
    the workspace       FILE_NOT_FOUND · ALREADY_EXISTS · NOT_A_FILE · NOT_A_DIRECTORY · DIRECTORY_NOT_EMPTY
                        PERMISSION_DENIED · TOO_LARGE · NOT_TEXT · CANNOT_CONVERT · TEXT_NOT_FOUND · MATCH_COUNT
                        CHANGED (another writer was there first) · BUSY · NO_SPACE
    running             TIMEOUT · EXECUTION_ERROR · INVALID_RESULT · CANCELLED · INTERNAL_ERROR
    approvals           APPROVAL_NOT_FOUND · APPROVAL_CLOSED · APPROVAL_STALE · NOT_AN_APPROVER
                        PERMISSION_NOT_FOUND · PERMISSION_CLOSED
    undo                TAG_NOT_FOUND · CANNOT_UNDO · NOT_KEPT (the bytes of that version)
    data                NOT_A_TABLE · QUERY_FAILED · INDEX_DAMAGED
    the web             ADDRESS_REFUSED · FETCH_FAILED · SEARCH_NOT_CONFIGURED
    agents              UNKNOWN_ROLE · BUDGET_EXCEEDED · MODEL_FAILED · MODEL_NOT_CONFIGURED
                        EVIDENCE_REFUSED (what a reply claims is not proven)
                        POISONED (its workers kept dying) · TASK_NOT_FOUND · TASK_CLOSED
    prompt tools        CORE_LOCKED · PROMPT_TOOL_NOT_FOUND · INVALID_PROPOSAL · SCREENED_OUT · PROPOSAL_NOT_FOUND
                        PROPOSAL_STATE · PROPOSAL_STALE · TOO_MANY_PROPOSALS · FOUR_EYES · ISSUE_NOT_FOUND

Inside, packages raise; the engine turns what a tool raised into an outcome, surfaces turn the rest into one paragraph:

    BrasstagError
    ├── ToolError           carries a Code; becomes Failed
    │   ├── SecurityError   a path that leads outside the workspace; shows as INVALID_PATH
    │   ├── MayHaveActed    what was ended had begun to act; becomes Unknown
    │   └── PermissionEnded the timed permission it was allowed by has ended; look and judge again
    ├── ConfigError         start-up stops; lists every problem with file, field and how to mend it
    ├── UntrustedError      control files changed and no person has looked yet
    ├── StoreError          the database or the blobs cannot be used
    │   ├── StoreLost       the database went away, or gave up, for the moment; look again, then go on
    │   ├── IndexDamaged    the full-text index cannot be used, and can be made again; also a ToolError
    │   └── Unproven        a timeline fails its check; nothing is done because of it, nothing added to it
    ├── ModelError          a model could not answer
    ├── Fenced              another worker holds this task now; leave it alone
    └── LeaseHeld           another call is at these paths right now; try again
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """Why a call failed; nothing happened in the world when one of these is returned."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    INVALID_PATH = "INVALID_PATH"
    NOT_SUPPORTED = "NOT_SUPPORTED"

    NOT_ALLOWED = "NOT_ALLOWED"
    BLOCKED_BY_RULE = "BLOCKED_BY_RULE"
    DENIED = "DENIED"
    CONTROL_FILE = "CONTROL_FILE"

    FILE_NOT_FOUND = "FILE_NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    NOT_A_FILE = "NOT_A_FILE"
    NOT_A_DIRECTORY = "NOT_A_DIRECTORY"
    DIRECTORY_NOT_EMPTY = "DIRECTORY_NOT_EMPTY"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    TOO_LARGE = "TOO_LARGE"
    NOT_TEXT = "NOT_TEXT"
    CANNOT_CONVERT = "CANNOT_CONVERT"
    TEXT_NOT_FOUND = "TEXT_NOT_FOUND"
    MATCH_COUNT = "MATCH_COUNT"
    CHANGED = "CHANGED"
    BUSY = "BUSY"
    NO_SPACE = "NO_SPACE"

    TIMEOUT = "TIMEOUT"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    INVALID_RESULT = "INVALID_RESULT"
    CANCELLED = "CANCELLED"
    INTERNAL_ERROR = "INTERNAL_ERROR"

    APPROVAL_NOT_FOUND = "APPROVAL_NOT_FOUND"
    APPROVAL_CLOSED = "APPROVAL_CLOSED"
    APPROVAL_STALE = "APPROVAL_STALE"
    NOT_AN_APPROVER = "NOT_AN_APPROVER"
    PERMISSION_NOT_FOUND = "PERMISSION_NOT_FOUND"
    PERMISSION_CLOSED = "PERMISSION_CLOSED"

    TAG_NOT_FOUND = "TAG_NOT_FOUND"
    CANNOT_UNDO = "CANNOT_UNDO"
    NOT_KEPT = "NOT_KEPT"

    NOT_A_TABLE = "NOT_A_TABLE"
    QUERY_FAILED = "QUERY_FAILED"
    INDEX_DAMAGED = "INDEX_DAMAGED"

    ADDRESS_REFUSED = "ADDRESS_REFUSED"
    FETCH_FAILED = "FETCH_FAILED"
    SEARCH_NOT_CONFIGURED = "SEARCH_NOT_CONFIGURED"

    UNKNOWN_ROLE = "UNKNOWN_ROLE"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    MODEL_FAILED = "MODEL_FAILED"
    MODEL_NOT_CONFIGURED = "MODEL_NOT_CONFIGURED"
    EVIDENCE_REFUSED = "EVIDENCE_REFUSED"
    POISONED = "POISONED"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    TASK_CLOSED = "TASK_CLOSED"

    CORE_LOCKED = "CORE_LOCKED"
    PROMPT_TOOL_NOT_FOUND = "PROMPT_TOOL_NOT_FOUND"
    INVALID_PROPOSAL = "INVALID_PROPOSAL"
    SCREENED_OUT = "SCREENED_OUT"
    PROPOSAL_NOT_FOUND = "PROPOSAL_NOT_FOUND"
    PROPOSAL_STATE = "PROPOSAL_STATE"
    PROPOSAL_STALE = "PROPOSAL_STALE"
    TOO_MANY_PROPOSALS = "TOO_MANY_PROPOSALS"
    FOUR_EYES = "FOUR_EYES"
    ISSUE_NOT_FOUND = "ISSUE_NOT_FOUND"


def with_hint(said: str, hint: str) -> str:
    """Return what a person is told: what happened, and what a person can do about it."""
    if not hint:
        return said
    return f"{said} {hint}" if said.endswith("?") else f"{said.rstrip('.')}; {hint}"


class BrasstagError(Exception):
    """Whatever Brasstag itself raises."""

    hint: str = ""
    """What a person can do about it, such as a command to run. It is for people alone: an agent is told the message."""

    def __init__(self, *said: object, hint: str = "") -> None:
        super().__init__(*said)
        self.hint = hint


class ToolError(BrasstagError):
    """A tool or a package it uses cannot do what was asked; becomes ``Failed``.

    The message is for the caller: it names workspace paths only, never paths of the host.
    """

    def __init__(
        self, code: Code, message: str, details: Mapping[str, Any] | None = None, *, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.message = message
        self.details: Mapping[str, Any] = details or {}


class SecurityError(ToolError):
    """A path that is malformed or leads outside the workspace."""

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(Code.INVALID_PATH, message, details)


class MayHaveActed(ToolError):
    """A call was ended after it had begun to act, so its result is not known; becomes ``Unknown``."""


class PermissionEnded(ToolError):
    """The timed permission that allowed a call does not count any more; nothing was done, and the call looks again."""

    def __init__(self, permission_id: str) -> None:
        super().__init__(Code.CHANGED, "what allowed it has ended; it is judged again")
        self.permission_id = permission_id


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a configuration file."""

    file: str
    field: str
    """Dotted place inside the file; empty when the whole file is meant."""
    what: str
    mend: str

    def __str__(self) -> str:
        where = f"{self.file}: {self.field}" if self.field else self.file
        return f"{where}: {self.what}. {self.mend}"


class ConfigError(BrasstagError):
    """Configuration that must not be started with; every problem is listed, not just the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


WAYS_TO_ACCEPT = (
    "A person accepts it at a terminal with `brasstag trust`, or without one with `brasstag trust --yes` and an "
    "approver's token in BRASSTAG_APPROVER_TOKEN."
)


class UntrustedError(BrasstagError):
    """Control files differ from what a person last accepted."""

    def __init__(self, changed: Sequence[str]) -> None:
        super().__init__(
            "control files have changed since a person last accepted them: "
            + ", ".join(changed)
            + f". `brasstag trust` shows the change. {WAYS_TO_ACCEPT}"
        )
        self.changed = tuple(changed)


class StoreError(BrasstagError):
    """The room's state cannot be used."""


class StoreLost(StoreError):
    """The database cannot be reached, or gave up a transaction; whether a commit in flight arrived is not known."""


class IndexDamaged(StoreError, ToolError):
    """The full-text index is damaged or gone; nothing is lost, as it is made of what the other tables hold."""

    def __init__(self, said: str) -> None:
        ToolError.__init__(
            self,
            Code.INDEX_DAMAGED,
            f"the full-text index cannot be used: {said}. No document is lost",
            hint="`brasstag documents reindex --rebuild` makes a new index",
        )


class Unproven(StoreError):
    """A timeline fails its check, or is not signed with this machine's key."""


class Fenced(BrasstagError):
    """Another worker holds this task now, or it has ended; the work on it here must not go on."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f"{task_id} is held elsewhere, or has ended")
        self.task_id = task_id


class LeaseHeld(BrasstagError):
    """Another call is working at one of these paths right now."""

    def __init__(self, path: str) -> None:
        super().__init__(f"another call is working at {path}")
        self.path = path
