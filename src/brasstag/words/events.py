"""Entries of a timeline, and their kinds."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class EntryKind(StrEnum):
    """What an entry records."""

    OPENED = "opened"
    """The task exists: its payload is the task's own (S1's ROOT entry)."""
    CALLED = "called"
    """A complete call without effects: input and result."""
    REFUSED = "refused"
    """A call that ended before it could act: unknown tool, bad arguments, role, rule."""
    ASKED = "asked"
    """A person was asked to approve."""
    DECIDED = "decided"
    """A person answered, or the request lapsed."""
    PERMITTED = "permitted"
    """A person gave a timed permission with an approval."""
    REVOKED = "revoked"
    """A person took a timed permission back."""
    CLAIMED = "claimed"
    """A call is about to act: input and intended changes."""
    SETTLED = "settled"
    """A claimed call ended: result, changes made."""
    TURN = "turn"
    """A model answered: its words, its calls, what it took. Recorded before any of the calls runs."""
    DELEGATED = "delegated"
    """A call opened a task for another agent, and waits for it."""
    RETURNED = "returned"
    """That task ended; its result closes the call."""
    QUESTIONED = "questioned"
    """A call asked a parent agent or a person, and waits."""
    ANSWERED = "answered"
    """The answer came; it closes the call."""
    CONSULTED = "consulted"
    """An agent below asked this one while it waited, and was answered."""
    COMPACTED = "compacted"
    """From here on, models are shown earlier results in short form."""
    NOTICED = "noticed"
    """Documents this task has seen were changed by others since; its model is told before its next turn."""
    CHALLENGED = "challenged"
    """The words a task would have ended with do not count: their evidence does not hold; its model is told why."""
    RESUMED = "resumed"
    """A person let an ended task go on, perhaps with more budget."""
    REDACTED = "redacted"
    """A person removed an earlier entry's payload, or pruned what old versions held."""
    CLOSED = "closed"
    """The task ended."""
    PROPOSED = "proposed"
    """A change of the catalog of prompt tools was proposed, or revised."""
    REVIEWED = "reviewed"
    """The Chief of Staff assessed a proposal."""
    RESOLVED = "resolved"
    """A person approved a proposal, sent it back or rejected it; or a step that was not allowed was refused."""
    APPLIED = "applied"
    """An approved proposal has reached the live catalog."""


ABOUT_PROPOSALS = frozenset({EntryKind.PROPOSED, EntryKind.REVIEWED, EntryKind.RESOLVED, EntryKind.APPLIED})
"""Entries about proposals; each names its proposal in place of a call."""


ABOUT_PERMISSIONS = frozenset({EntryKind.PERMITTED, EntryKind.REVOKED})
"""Entries about timed permissions; each names the call whose approval the permission was made from."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One link of a task's chain.

    ``payload`` carries S1's fields: type, tool, input, result, timestamp; it is None after a redaction.
    """

    task_id: str
    seq: int
    kind: EntryKind
    tag: str
    call_id: str
    at: str
    payload: dict[str, Any] | None
    hash: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call: what was asked for, what came of it, and how it stands."""

    type: Any
    """The kind of its tool, such as ``function_tool``; None where that was redacted."""
    tool: Any
    input: Any
    result: Any
    """What came of it. While it waits for an agent or an answer, whom it waits for: ``→ delegated to X``, ``→ asked X``."""
    timestamp: str
    """When its newest entry was written."""
    status: str
    """``done``, ``failed``, ``unknown``, ``waiting``, ``acting``, ``cut off`` or ``redacted``."""
    tag: str
    call: str
    """The id of the call; all its entries name it."""
    said: str = ""
    """From whom a result or an answer came: ``← result from X``, ``← answer from X``."""

    def as_json(self) -> dict[str, Any]:
        """Return every field; ``said`` only where it says something."""
        found = asdict(self)
        return found if self.said else {name: value for name, value in found.items() if name != "said"}
