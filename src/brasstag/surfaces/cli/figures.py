"""Figures as people read them: counts with thousands set off, money in dollars."""

from typing import Any

from brasstag.words.budgets import MICRO


def counted(number: int, thing: str) -> str:
    """Return ``1 step``, ``2 steps``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def dollars(cost: int) -> str:
    """Return what a number of millionths of a dollar is; small sums keep four places."""
    return f"${cost / MICRO:,.2f}" if cost >= MICRO or cost == 0 else f"${cost / MICRO:.4f}"


def amount(limit: str, value: Any) -> str:
    """Return the value of a limit."""
    return dollars(value) if limit == "max_cost" else f"{value:,}"
