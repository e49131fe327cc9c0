"""Automata of RE2, which never backtracks: time is linear in the text, whatever the text is."""

from functools import cache
from typing import Any

_MEMORY = 16 << 20


def options() -> Any:
    """Return how expressions are compiled here."""
    import re2  # noqa: PLC0415 - many commands never screen a text

    chosen = re2.Options()
    chosen.never_capture = True
    chosen.log_errors = False
    chosen.dot_nl = True
    chosen.max_mem = _MEMORY
    return chosen


def compiled(expression: str) -> Any:
    """Return the automaton of an expression; raises ``re2.error``."""
    import re2  # noqa: PLC0415 - the same

    return re2.compile(expression, options())


@cache
def _kept(expression: str) -> Any:
    return compiled(expression)


def occurs(expression: str, data: bytes) -> bool:
    """Say whether one of the fixed expressions of this package occurs; a quick look before a slower one."""
    return _kept(expression).search(data) is not None
