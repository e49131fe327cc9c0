"""Compare what timelines say of timed permissions with the table that holds them, and with the calls they let through."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from brasstag.store.database.schema import permissions
from brasstag.store.maintenance.fold_versions import Difference, are_close
from brasstag.store.tasks.permissions import CLOCK_SLACK, permission_digest, permissions_in
from brasstag.words.events import EntryKind
from brasstag.words.times import stamp


@dataclass(slots=True)
class _ToldPermission:
    """What the entries say of one permission."""

    row: Any
    """The digest of what was granted."""
    ends: str
    call_id: str
    revoked_at: str | None = None
    revoked_by: Any = None


@dataclass(slots=True)
class FoldedPermissions:
    """What the timelines tell of permissions, entry by entry."""

    _told: dict[str, _ToldPermission] = field(default_factory=dict)
    _calls: dict[tuple[str, str], str] = field(default_factory=dict)
    """When calls claimed, by call and permission; empty where no moment tells whether that was in time."""

    def given_or_revoked(self, entry: Row[Any], payload: dict[str, Any]) -> None:
        """Take into account that a person gave a permission, or took one back."""
        name = str(payload.get("permission"))
        if entry.kind == EntryKind.PERMITTED:
            self._told[name] = _ToldPermission(payload.get("row"), str(payload.get("until")), entry.call_id)
        elif name in self._told:
            self._told[name].revoked_at, self._told[name].revoked_by = entry.at, payload.get("by")

    def called(self, entry: Row[Any], payload: dict[str, Any]) -> None:
        """Take into account that a call was let through: where it was asked about after it ran, a person decided."""
        at = entry.at if entry.kind == EntryKind.CLAIMED else ""
        for name in permissions_in(payload):
            self._calls.setdefault((entry.call_id, name), at)

    def differences(self, connection: Connection, is_untold: Callable[[str], bool]) -> Iterator[Difference]:
        """Yield where and how the table, or a call, differs from what people have permitted."""
        known = set()
        for row in connection.execute(select(permissions).order_by(permissions.c.id)):
            known.add(row.id)
            if not is_untold(row.call_id):
                yield from self._row_differences(row)
        for name, told in self._told.items():
            if name not in known and not is_untold(told.call_id):
                yield name, "the timelines tell of this permission, but it is gone"
        for (call_id, name), at in self._calls.items():
            given = self._told.get(name)
            if given is None and name not in known:
                yield call_id, f"it acted on {name}, but the timeline has no person who permitted that"
            elif given is not None and at > _last_moment(given):
                yield call_id, f"it acted on {name} after that had ended"

    def _row_differences(self, row: Row[Any]) -> Iterator[Difference]:
        told = self._told.get(row.id)
        if told is None:
            yield row.id, "the timelines know nothing of this permission"
            return
        if told.row != permission_digest(row):
            yield row.id, "the table permits something else than the timelines tell"
        is_same_moment = told.revoked_at is row.revoked_at is None or (
            told.revoked_at is not None and row.revoked_at is not None
            and are_close(told.revoked_at, row.revoked_at)
        )  # fmt: skip
        if not is_same_moment or told.revoked_by != row.revoked_by:
            yield row.id, "the table and the timelines differ in whether, when or by whom it was revoked"


def _last_moment(told: _ToldPermission) -> str:
    ends = min(told.ends, told.revoked_at or told.ends)
    return stamp(datetime.fromisoformat(ends) + CLOCK_SLACK)
