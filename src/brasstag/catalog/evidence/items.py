"""The forms of evidence, what is wrong with one, and what the checks have to know of a task."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a file: they stand in the named line, or begin there."""

    path: str
    line: int
    text: str
    tag: str
    """The call that saw them; empty for the version that the task saw last."""
    at: int
    """The line of the reply; 0 in a list of items."""


@dataclass(frozen=True, slots=True)
class LineRef:
    """Lines of a file, without their words."""

    path: str
    first: int
    last: int
    tag: str
    at: int


@dataclass(frozen=True, slots=True)
class ScopeScan:
    """What was searched and how, where nothing was found."""

    what: str
    tags: tuple[str, ...]
    at: int


Evidence = Quote | LineRef | ScopeScan


class EvidenceFault(StrEnum):
    """What is wrong with a reply, or with one item in it."""

    NO_EVIDENCE = "NO_EVIDENCE"
    """The reply has no item, and does not say that it makes no claims."""
    CLAIMS_AFTER_ALL = "CLAIMS_AFTER_ALL"
    """The reply says that it makes no claims, and quotes or cites."""
    BAD_FORM = "BAD_FORM"
    """An item cannot be read."""
    NO_RECEIPT = "NO_RECEIPT"
    """The use of a tool is claimed without the tag of the call."""
    UNKNOWN_TAG = "UNKNOWN_TAG"
    """No call of the task, or of one below it, has this tag."""
    TAG_REMOVED = "TAG_REMOVED"
    """A person removed what the call recorded."""
    TAG_PROVES_NOTHING = "TAG_PROVES_NOTHING"
    """The call failed, is not over, or looked at nothing."""
    NOT_SEEN = "NOT_SEEN"
    """The task, or the cited call, has not seen the file or the line."""
    NOT_CHECKABLE = "NOT_CHECKABLE"
    """What the file held then is not known any more, is no text, or must not be shown."""
    NO_SUCH_LINE = "NO_SUCH_LINE"
    """The file had fewer lines."""
    NOT_IN_LINE = "NOT_IN_LINE"
    """The words do not stand in the line, and do not begin there."""


@dataclass(frozen=True, slots=True)
class EvidenceProblem:
    """One thing to mend in a reply."""

    id: EvidenceFault
    line: int
    """The line of the reply; 0 where it is about no line."""
    says: str
    """What is wrong, and what to do."""

    def as_json(self) -> dict[str, Any]:
        """Return ``{id, line, says}``."""
        return {"id": self.id.value, "line": self.line, "says": self.says}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "EvidenceProblem":
        """Read what ``as_json`` wrote."""
        return cls(EvidenceFault(stored["id"]), stored["line"], stored["says"])

    def __str__(self) -> str:
        """Say it in one line."""
        return f"line {self.line}: {self.says}" if self.line else self.says


@dataclass(frozen=True, slots=True)
class CitedCall:
    """What the chain says of the call behind a tag."""

    tool: str
    outcome: str
    """``done``, ``failed`` or ``unknown``; empty where the tag is not that of the call's end."""
    code: str = ""
    """Why it failed."""
    looks: bool = True
    """Whether its tool looks at anything; a note does not."""
    found: int = 0
    """How many places a search found, word for word."""
    removed: bool = False
    """Whether a person removed what it recorded."""


@dataclass(frozen=True, slots=True)
class SeenText:
    """The lines of a file in the version that was seen, by their numbers from 1."""

    lines: Mapping[int, str]
    whole: bool = True
    """Whether these are all its lines; the result of a search has only some."""


@dataclass(frozen=True, slots=True)
class NotSeen:
    """Why a file cannot be looked up for a citation."""

    fault: EvidenceFault
    says: str


class EvidenceFacts(Protocol):
    """What a check has to know of the task that replies."""

    @property
    def tools(self) -> Collection[str]:
        """The names of all tools."""

    def call_behind(self, tag: str) -> CitedCall | None:
        """Return the call with this tag on the chain of the task, or of one below it; None where there is none."""

    def seen_text(self, path: str, tag: str) -> SeenText | NotSeen:
        """Return a file as the call behind a tag saw it, or, without a tag, as the task saw it last."""
