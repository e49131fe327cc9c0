"""Budgets: how far a task, or a whole run, may go before a person is needed."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from brasstag.words.canonical import LARGEST_INTEGER
from brasstag.words.errors import Code, ToolError
from brasstag.words.events import Entry, EntryKind

MICRO = 1_000_000
"""Millionths of a dollar in one."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The bounds of a limit: above zero, and no larger than can be counted."""

    whole: bool
    most: int

    @property
    def mend(self) -> str:
        """What to write instead of a value that is out of bounds."""
        return f"Write a {'whole number' if self.whole else 'number'} above zero, {self.most:,} at most."

    def why_not(self, value: object) -> str | None:
        """Say why a value cannot be a limit, or return None where it can."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return f"is a {type(value).__name__}, which is not a limit"
        if value > self.most:
            return "is more than can be counted"
        # The test is this way round because NaN is not above zero either.
        return None if value > 0 else "is not above zero"


COUNT = Bound(whole=True, most=LARGEST_INTEGER)
AMOUNT = Bound(whole=False, most=LARGEST_INTEGER // MICRO)
"""The bound for dollars and seconds; both are counted in smaller units."""
_AMOUNTS = ("max_dollars", "max_seconds")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits; None is no limit."""

    max_steps: int | None = None
    """Turns of the model."""
    max_tokens: int | None = None
    max_dollars: float | None = None
    """What models cost, as far as their prices are known."""
    max_depth: int | None = None
    """How many tasks may stand above one another."""
    max_children: int | None = None
    """How many tasks one task may open."""
    max_seconds: float | None = None
    """Time spent by models and tools; waiting for people or for other tasks is free."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value, bound = getattr(self, limit.name), AMOUNT if limit.name in _AMOUNTS else COUNT
            reason = None if value is None else bound.why_not(value)
            if reason is not None:
                raise ToolError(
                    Code.INVALID_ARGUMENTS, f"{limit.name} {reason}. {bound.mend}", {"limit": limit.name}
                )

    @property
    def max_cost(self) -> int | None:
        """The limit of costs as costs are counted: in millionths of a dollar."""
        return None if self.max_dollars is None else micro_dollars(self.max_dollars)

    def given(self) -> dict[str, Any]:
        """Return the limits that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def as_json(self) -> dict[str, Any]:
        """Return the limits there are as they are written down: of costs, as ``max_cost``."""
        stored = self.given()
        if stored.pop("max_dollars", None) is not None:
            stored["max_cost"] = self.max_cost
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Budget":
        """Read what ``as_json`` wrote."""
        given = dict(stored)
        cost = given.pop("max_cost", None)
        return cls(**given, max_dollars=None if cost is None else cost / MICRO)


NO_LIMITS = Budget()


def micro_dollars(amount: float) -> int:
    """Return a sum of money as budgets count it; the smallest is one millionth of a dollar."""
    return max(1, round(amount * MICRO))


def dollars(cost: int) -> str:
    """Return what a number of millionths of a dollar is; small sums keep four places."""
    return f"${cost / MICRO:,.2f}" if cost >= MICRO or cost == 0 else f"${cost / MICRO:.4f}"


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """The limits of one task: its own, and those of the whole run it belongs to."""

    own: Budget = NO_LIMITS
    run: Budget = NO_LIMITS

    def as_text(self) -> str:
        """Return them as the tasks table keeps them."""
        return json.dumps(self.as_json(), sort_keys=True)

    @classmethod
    def from_text(cls, stored: str) -> "TaskLimits":
        """Read what ``as_text`` wrote."""
        return cls.from_json(json.loads(stored))

    def as_json(self) -> dict[str, Any]:
        """Return ``{own, run}``."""
        return {"own": self.own.as_json(), "run": self.run.as_json()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "TaskLimits":
        """Read what ``as_json`` wrote."""
        return cls(Budget.from_json(stored.get("own", {})), Budget.from_json(stored.get("run", {})))

    @classmethod
    def told_by(cls, entries: Iterable[Entry]) -> "TaskLimits":
        """Return the limits of a task, as its whole timeline tells them."""
        limits = cls()
        for entry in entries:
            limits = limits.after(entry.kind, entry.payload or {})
        return limits

    def after(self, kind: str, payload: Mapping[str, Any]) -> "TaskLimits":
        """Return the limits of a task after one more of its entries."""
        match kind:
            case EntryKind.OPENED:
                return TaskLimits.from_json(
                    {"own": payload.get("budget", {}), "run": payload.get("run_budget", {})}
                )
            case EntryKind.RESUMED | EntryKind.REDACTED if "limits" in payload:
                return TaskLimits.from_json(payload["limits"])
            case EntryKind.RESUMED:
                return self.extended(Budget.from_json(payload.get("budget", {})))
            case _:
                return self

    def extended(self, more: Budget) -> "TaskLimits":
        """Return the limits with those given in their place: for the task, and for the whole run."""
        given = more.given()
        return TaskLimits(replace(self.own, **given), replace(self.run, **given))

    def beyond(self, own: "Spent", run: "Spent") -> "TaskLimits":
        """Return limits that allow as much again as these, beyond what was used."""
        return TaskLimits(_beyond(self.own, own), _beyond(self.run, run))


@dataclass(frozen=True, slots=True)
class Spent:
    """What a task, or a whole run, has used so far."""

    steps: int = 0
    tokens: int = 0
    cost: int = 0
    """Millionths of a dollar, of the turns whose price is known."""
    seconds: float = 0.0
    children: int = 0


def _beyond(limits: Budget, used: Spent) -> Budget:
    spent = {
        "max_steps": used.steps,
        "max_tokens": used.tokens,
        "max_dollars": used.cost / MICRO,
        "max_children": used.children,
        "max_seconds": used.seconds,
    }
    return replace(
        limits, **{name: value + spent[name] for name, value in limits.given().items() if name in spent}
    )
