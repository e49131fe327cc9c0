"""Filters: which documents are asked for, with the same words in tools, commands and programs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from brasstag.store.documents.select import Selection
from brasstag.words.errors import Code, ToolError
from brasstag.words.times import read_moment


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents are asked for; what is left empty asks for nothing."""

    glob: str = ""
    """Only paths that match, such as ``reports/**``."""
    tags: Sequence[str] = ()
    """All of these."""
    mime_type: str = ""
    """One such as ``text/csv``, or all of a family: ``image/``, or ``image/*``."""
    creator: str = ""
    """Who created it, or made its newest version: a role, a task, or ``outside``."""
    task: str = ""
    """The task that created it, or made its newest version."""
    changed_after: datetime | str = ""
    """Changed at this moment or later; text is ISO 8601, and what names no zone is in UTC."""
    changed_before: datetime | str = ""
    """Changed before this moment."""

    @property
    def globs(self) -> tuple[str, ...]:
        """The globs there are: one, or none."""
        return (self.glob,) if self.glob else ()

    def wanted(self) -> Selection:
        """Return the conditions for rows of the store; raise ToolError for a filter that has no meaning."""
        reason = "tags are several texts, not one" if isinstance(self.tags, str) else why_no_glob(self.glob)
        if reason:
            raise ToolError(Code.INVALID_ARGUMENTS, reason)
        return Selection(
            media_type=self.mime_type,
            tags=tuple(self.tags),
            by=self.creator,
            task=self.task,
            since=_moment("changed_after", self.changed_after),
            until=_moment("changed_before", self.changed_before),
        )


EVERYTHING = Filter()

_CLOSED = re.compile(r"\\.|\[!?\]?[^\]/]*\]", re.DOTALL)
"""What an opening bracket in a glob may be part of."""


def why_no_glob(glob: str) -> str:
    """Say why a glob is not finished; nothing where it is."""
    if "[" in _CLOSED.sub("", glob):
        return f"{glob} opens a set and does not close it; write [a-z] for a set, and \\[ for the character"
    return ""


def _moment(name: str, given: datetime | str) -> str:
    typed = given.isoformat() if isinstance(given, datetime) else given
    if not isinstance(typed, str):
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name} is a datetime, or text such as 2026-01-31T09:00")
    try:
        return read_moment(typed) if typed else ""
    except ValueError as error:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name}: {error}") from None
