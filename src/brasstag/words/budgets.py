"""Budgets: how far a task, or a whole run, may go before a person has to say more."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits; None is no limit."""

    max_steps: int | None = None
    """Turns of the model."""
    max_tokens: int | None = None
    max_cost: int | None = None
    """Millionths of a dollar."""
    max_depth: int | None = None
    """How many tasks may stand above one another."""
    max_children: int | None = None
    """How many tasks one task may open."""
    max_seconds: float | None = None
    """Time spent by models and tools; waiting for people or for other tasks is free."""

    def as_json(self) -> dict[str, Any]:
        """Return the limits there are."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Budget":
        """Read what ``as_json`` wrote."""
        return cls(**stored)


NO_LIMITS = Budget()


@dataclass(frozen=True, slots=True)
class Spent:
    """What a task, or a whole run, has used so far."""

    steps: int = 0
    tokens: int = 0
    cost: int = 0
    """Millionths of a dollar, of the turns whose price is known."""
    seconds: float = 0.0
    children: int = 0
