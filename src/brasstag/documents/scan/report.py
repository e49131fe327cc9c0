"""The report of a scan: what it found."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from brasstag.documents.scan.record import What
from brasstag.documents.scan.walk import ScanProblem


@dataclass(slots=True)
class ScanReport:
    """What a scan found."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    left: int = 0
    """How many paths were held by a call; they are looked at when that call is done."""
    problems: list[ScanProblem] = field(default_factory=list)
    is_whole: bool = True
    """False where it was told to stop before the end."""

    def count(self, told: Iterable[tuple[What, str]]) -> None:
        """Add what one commit did."""
        for what, _ in told:
            setattr(self, what, getattr(self, what) + 1)

    @property
    def differences(self) -> int:
        """How many documents are not what they were."""
        return self.added + self.changed + self.moved + self.removed
