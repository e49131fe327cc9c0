"""Refusals: the replies of a task whose evidence did not hold, folded from its timeline."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brasstag.words.errors import Code
from brasstag.words.events import Entry, EntryKind


@dataclass(slots=True)
class Refusals:
    """What was wrong with each reply that would have ended the task; add its entries in order."""

    problems: list[list[Mapping[str, Any]]] = field(default_factory=list)

    @classmethod
    def told_by(cls, entries: Iterable[Entry]) -> "Refusals":
        """Return the refusals of a whole timeline."""
        found = cls()
        for entry in entries:
            found.add(entry)
        return found

    @property
    def count(self) -> int:
        """How many replies were refused; a person who resumes the task begins the count anew."""
        return len(self.problems)

    def add(self, entry: Entry) -> None:
        """Take one entry into account."""
        match entry.kind, entry.payload:
            case EntryKind.RESUMED, _:
                self.problems.clear()
            case EntryKind.CHALLENGED, told:
                self.problems.append((told or {}).get("problems", []))
            case EntryKind.CALLED | EntryKind.SETTLED, {
                "result": {"error": {"code": Code.EVIDENCE_REFUSED.value, "details": details}}
            }:
                self.problems.append(details.get("problems", []))
            case _:
                pass
