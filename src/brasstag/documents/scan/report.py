"""The report of a scan: what it found."""

from dataclasses import dataclass, field

from brasstag.documents.scan.walk import ScanProblem
from brasstag.store.documents.record import RecordedFindings


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

    def add(self, recorded: RecordedFindings) -> None:
        """Add what one commit did."""
        self.left += recorded.left
        for what, count in recorded.counts.items():
            setattr(self, what, getattr(self, what) + count)

    @property
    def differences(self) -> int:
        """How many documents are not what they were."""
        return self.added + self.changed + self.moved + self.removed
