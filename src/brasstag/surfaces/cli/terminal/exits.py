"""Exit codes for scripts."""

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


_REFUSALS = frozenset(
    {Code.DENIED, Code.BLOCKED_BY_RULE, Code.NOT_ALLOWED, Code.CONTROL_FILE, Code.NOT_AN_APPROVER}
)


def exit_for(outcome: Outcome) -> Exit:
    """Return the exit code of a call's outcome."""
    match outcome:
        case Done():
            return Exit.DONE
        case Waiting():
            return Exit.WAITING
        case Unknown():
            return Exit.UNKNOWN
        case Failed():
            return exit_for_code(outcome.code)


def exit_for_code(code: Code) -> Exit:
    """Return the exit code of a failure; a refusal, by a person or by a rule, is a denial."""
    return Exit.DENIED if code in _REFUSALS else Exit.FAILED
