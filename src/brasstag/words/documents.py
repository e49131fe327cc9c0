"""Documents on their way: what a receiving agent finds in its context."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Carried:
    """A workspace file as it travelled with a task, a question or a result: its content as it was then."""

    path: str
    media_type: str
    size_bytes: int
    digest: str
    """SHA-256 of the whole file."""
    tokens: int
    """About how many tokens the whole file is."""
    text: str = ""
    """The whole text, or its summary where ``complete`` is false."""
    complete: bool = True
    how: str = ""
    """Where it is not whole: how to load the rest."""
    image: bool = False
    """Whether it is a picture whose bytes lie among the blobs."""

    def as_json(self) -> dict[str, Any]:
        """Return every field."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Carried":
        """Read what ``as_json`` wrote."""
        return cls(**stored)
