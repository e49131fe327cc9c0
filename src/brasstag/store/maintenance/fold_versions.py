"""Compare what timelines say of versions with the table that holds them.

A version that a call made has to be, column by column, what its call's entries tell. What was changed outside of calls is on
no timeline, so of such a version only its form can be compared.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from brasstag.store.contents.versions import OUTSIDE, reason_of
from brasstag.store.database.schema import versions
from brasstag.words.previews import ABSENT

Difference = tuple[str, str]
"""Where something does not fit, and what."""

MOST_APART = 60.0
"""Seconds between the moments that an entry and a row of one commit may name."""

_MINUTE = len("2026-11-15T21:59")


@dataclass(frozen=True, slots=True)
class _Made:
    """What the entries of a call tell of one version."""

    task_id: str
    at: str
    mode: int | None
    size: int
    source: str


@dataclass(slots=True)
class FoldedVersions:
    """What the timelines tell of versions, entry by entry."""

    outside: int = 0
    """How many versions no call made; known once they were compared."""
    _made: dict[tuple[str, str, str], _Made] = field(default_factory=dict)
    """By call, path and state."""
    _authors: dict[str, tuple[Any, frozenset[str]]] = field(default_factory=dict)
    """The role of each claimed call, and the reasons that its versions may give."""

    def claimed(self, call_id: str, payload: dict[str, Any]) -> None:
        """Take into account who makes the versions of a call, and why."""
        tool = str(payload.get("tool"))
        # Earlier releases gave the tool alone as the reason.
        self._authors[call_id] = (
            payload.get("role"),
            frozenset({tool, reason_of(tool, payload.get("input"))}),
        )

    def settled(self, task_id: str, call_id: str, at: str, payload: dict[str, Any]) -> None:
        """Take into account what a call changed."""
        for change in payload.get("changes") or ():
            after, source = change["after"], change["source"]
            mode = None if after == ABSENT else change["mode"]
            self._made[call_id, change["path"], after] = _Made(task_id, at, mode, change["size"], source)
            if source:
                self._made[call_id, source, ABSENT] = _Made(task_id, at, None, 0, "")

    def differences(self, connection: Connection, is_untold: Callable[[str], bool]) -> Iterator[Difference]:
        """Yield where and how the table differs from the timelines."""
        missing = dict(self._made)
        left: dict[tuple[str, int], str] = {}
        moved: list[Row[Any]] = []
        last: tuple[str, int] = ("", 0)
        for row in connection.execute(select(versions).order_by(versions.c.path, versions.c.version)):
            if row.version != (last[1] + 1 if row.path == last[0] else 1):
                yield row.path, f"its versions before {row.version} are gone"
            last = (row.path, row.version)
            if row.state == ABSENT:
                left[row.path, row.version] = row.call_id
            if row.source or row.source_version:
                moved.append(row)
            told = missing.pop((row.call_id, row.path, row.state), None)
            if not is_untold(row.call_id):
                yield from self._compare(row, told)
        for row in moved:
            if left.get((row.source, row.source_version + 1)) != row.call_id and not is_untold(row.call_id):
                yield (
                    row.path,
                    f"version {row.version} says that it was moved from {row.source or 'nowhere'}, which does not fit",
                )
        for call_id, path, _state in sorted(missing):
            if not is_untold(call_id):
                yield call_id, f"the timelines and the versions differ about {path}"

    def _compare(self, row: Row[Any], told: _Made | None) -> Iterator[Difference]:
        if not row.call_id:
            self.outside += 1
            if (row.by, row.task_id, row.why) != (OUTSIDE, "", ""):
                yield row.path, f"version {row.version} names who made it, but no call"
            return
        if told is None:
            yield row.call_id, f"the timelines and the versions differ about {row.path}"
            return
        role, reasons = self._authors.get(row.call_id, (None, frozenset()))
        same = {
            "by": row.by == role,
            "task_id": row.task_id == told.task_id,
            "why": row.why in reasons,
            "mode": row.mode == told.mode,
            "size": row.size == told.size,
            "source": row.source == told.source,
            "at": are_close(row.at, told.at),
        }
        if wrong := [name for name, is_same in same.items() if not is_same]:
            yield (
                row.call_id,
                f"version {row.version} of {row.path} has another {', '.join(wrong)} than the timelines tell",
            )


def are_close(one: str, other: str) -> bool:
    """Say whether two moments can be of one commit."""
    # To parse them takes long, and nearly all are of one minute.
    return (
        one[:_MINUTE] == other[:_MINUTE]
        or abs((datetime.fromisoformat(one) - datetime.fromisoformat(other)).total_seconds()) <= MOST_APART
    )
