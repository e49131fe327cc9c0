"""Exit codes scripts can use."""

from enum import IntEnum

from brasstag.words.calls import Done, Failed, Outcome, Unknown, Waiting
from brasstag.words.errors import Code


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    DENIED = 4
    UNKNOWN = 5


_REFUSALS = frozenset({Code.DENIED, Code.BLOCKED_BY_RULE, Code.NOT_ALLOWED, Code.CONTROL_FILE})


def exit_for(outcome: Outcome) -> Exit:
    """Return the exit code of a call's outcome; a refusal, by a person or by a rule, is a denial."""
    match outcome:
        case Done():
            return Exit.DONE
        case Waiting():
            return Exit.WAITING
        case Unknown():
            return Exit.UNKNOWN
        case Failed():
            return Exit.DENIED if outcome.code in _REFUSALS else Exit.FAILED
