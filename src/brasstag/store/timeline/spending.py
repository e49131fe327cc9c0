"""What a task may use and has used, by its entries; its row has the same sums."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row

from brasstag.words.budgets import TaskLimits
from brasstag.words.events import EntryKind

_OPENS_TASK = frozenset({EntryKind.DELEGATED, EntryKind.QUESTIONED})
_BY_MODELS = frozenset({EntryKind.TURN, EntryKind.CLOSED})
"""Entries with the seconds of a model: of its turn, or of an answer that was cut off when the time ended."""
TELLS_LIMITS = frozenset({EntryKind.OPENED, EntryKind.RESUMED})


def worked(kind: str, payload: Mapping[str, Any]) -> int:
    """Return the milliseconds of work an entry tells of: of a model, or of a tool."""
    seconds: float = payload.get("seconds", 0) if kind in _BY_MODELS else 0
    seconds += payload.get("meta", {}).get("execution_time", 0)
    return round(seconds * 1000)


@dataclass(slots=True)
class Account:
    """The sums over one task's entries; add all of them, in order."""

    limits: TaskLimits = field(default_factory=TaskLimits)
    used: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("steps", "tokens", "cost", "milliseconds", "children"), 0)
    )
    untold: set[str] = field(default_factory=set)
    """What cannot be summed up, as entries that tell of it were redacted."""

    def add(self, kind: str, payload: Mapping[str, Any] | None) -> None:
        """Take one entry into account; None is what was redacted."""
        self.used["steps"] += kind == EntryKind.TURN
        self.used["children"] += kind in _OPENS_TASK
        if payload is None:
            self.untold |= {"milliseconds"}
            self.untold |= {"tokens", "cost"} if kind == EntryKind.TURN else set()
            self.untold |= {"budget"} if kind in TELLS_LIMITS else set()
            return
        self.used["milliseconds"] += worked(kind, payload)
        self.limits = self.limits.after(kind, payload)
        match kind:
            case EntryKind.REDACTED if "limits" in payload:
                self.untold.discard("budget")
            case EntryKind.TURN:
                usage = payload["usage"]
                self.used["tokens"] += usage["input_tokens"] + usage["output_tokens"]
                self.used["cost"] += usage["cost"] or 0
            case _:
                pass

    def differences(self, row: Row[Any]) -> Iterator[str]:
        """Yield how a task's row differs from what its entries say."""
        kept = json.loads(row.budget)
        told = self.limits.as_json()
        if "budget" not in self.untold and {name: kept.get(name, {}) for name in told} != told:
            yield "its row has other limits than its entries"
        for name, used in self.used.items():
            counted = getattr(row, name)
            if name not in self.untold and counted != used:
                yield f"its row counts {counted} {name}, its entries {used}"
