"""Figures as people read them: counts with thousands set off, money in dollars."""

from typing import Any

from brasstag.words.budgets import dollars


def counted(number: int, thing: str) -> str:
    """Return ``1 step``, ``2 steps``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def amount(limit: str, value: Any) -> str:
    """Return the value of a limit."""
    return dollars(value) if limit == "max_cost" else f"{value:,}"
