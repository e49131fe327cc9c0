"""Numbers and times as people read and write them: thousands set off, dollars, sizes, durations, local time."""

import re
from datetime import datetime
from typing import Any

from brasstag.words.budgets import dollars

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000
_DURATION = re.compile(r"([0-9]{1,6})([smh])")
_MINUTES = {"s": 1 / 60, "m": 1, "h": 60}


def counted(number: int, thing: str) -> str:
    """Return ``1 step``, ``2 steps``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def amount(limit: str, value: Any) -> str:
    """Return the value of a limit."""
    return dollars(value) if limit == "max_cost" else f"{value:,}"


def size(count: int) -> str:
    """Return bytes as people say them."""
    number, unit = float(count), 0
    while number >= _STEP and unit < len(_UNITS) - 1:
        number, unit = number / _STEP, unit + 1
    return f"{number:.{1 if unit else 0}f} {_UNITS[unit]}"


def minutes_of(duration: str) -> float:
    """Return how many minutes ``90s``, ``30m`` or ``2h`` are; raise ValueError, which says how to write it."""
    found = _DURATION.fullmatch(duration.strip())
    if not found:
        raise ValueError(f"{duration!r} is no duration; write a number and a unit, as in 30m or 2h")
    return int(found[1]) * _MINUTES[found[2]]


def local(stored: str) -> datetime:
    """Return a time that the store has written, in the zone of this machine."""
    return datetime.fromisoformat(stored).astimezone()


def local_time(stored: str) -> str:
    """Return ``2026-03-01 10:30:00 CET``."""
    return f"{local(stored):%Y-%m-%d %H:%M:%S %Z}"
