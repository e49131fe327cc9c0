"""Figures as people read them: counts with thousands set off, money in dollars, sizes in units."""

from typing import Any

from brasstag.words.budgets import dollars

_UNITS = ("B", "kB", "MB", "GB", "TB")
_STEP = 1000


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
