"""Retry a call for a while when other calls hold the same paths."""

import random
import time
from collections.abc import Callable

from brasstag.words.calls import Failed, Outcome
from brasstag.words.errors import Code, LeaseHeld, ToolError

TRIES = 60
"""How often a call tries while other calls hold or change its paths; about ten seconds in all."""


def patiently(act: Callable[[], Outcome], *, anew: bool = True) -> Outcome | None:
    """Try until no other call uses these paths; return None where they never became free.

    ``anew`` says that each try looks at everything again, so that what another call has changed is no reason to end.
    """
    for attempt in range(TRIES):
        try:
            return act()
        except LeaseHeld:
            _pause(attempt)
        except ToolError as error:
            if error.code is not Code.CHANGED or not anew:
                raise
            _pause(attempt)
    return None


def busy(what: str) -> Failed:
    """Return how a call ends that waited in vain."""
    return Failed(Code.BUSY, f"{what}: other calls kept working at the same paths; try again")


def _pause(attempt: int) -> None:
    ceiling = min(0.3, 0.005 * 2 ** min(attempt, 6))
    time.sleep(ceiling * (0.5 + random.random() / 2))  # noqa: S311 - spreads retries, guards nothing
