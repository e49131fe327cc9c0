"""Reports: what a scan found."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from brasstag.documents.recording import What
from brasstag.documents.walking import Trouble


@dataclass(slots=True)
class ScanReport:
    """What a scan found."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    left: int = 0
    """Paths that a call was at; they are looked at when it is done."""
    problems: list[Trouble] = field(default_factory=list)
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
