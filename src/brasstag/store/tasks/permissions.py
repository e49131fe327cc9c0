"""Rows of timed permissions: given with an approval, looked up where a person would be asked, checked at each use."""

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, insert, select, update

from brasstag.store.database.base import Transaction
from brasstag.store.database.lookup import rows_named
from brasstag.store.database.schema import entries, permissions
from brasstag.store.database.statements import Prepared
from brasstag.words.approvals import Permission
from brasstag.words.canonical import stored_digest
from brasstag.words.errors import Code, PermissionEnded, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.ids import not_one
from brasstag.words.times import stamp

CLOCK_SLACK = timedelta(minutes=1)
"""How far the clocks of two processes may differ; a clock that went back further lets no call through."""

GRANTED = (
    "id", "tool", "role", "pattern", "rule", "approver", "reason", "policy", "granted_at", "expires_at", "task_id",
    "call_id", "approval_id",
)  # fmt: skip
"""The columns that never change; the timeline carries their digest."""

_COLUMNS = tuple(column.name for column in permissions.columns)
_insert = Prepared(insert(permissions).values({name: bindparam(name) for name in _COLUMNS}))
_counts = (
    permissions.c.revoked_at.is_(None),
    permissions.c.expires_at > bindparam("now"),
    permissions.c.granted_at <= bindparam("latest"),
    permissions.c.used_at <= bindparam("latest"),
    permissions.c.policy == bindparam("policy_now"),
)
"""What has to hold where a permission is found, and once more where it is used."""
_find = Prepared(
    select(permissions)
    .where(permissions.c.tool == bindparam("of_tool"), permissions.c.role == bindparam("of_role"), *_counts)
    .order_by(permissions.c.id)
)
_use = Prepared(
    update(permissions)
    .where(permissions.c.id == bindparam("permission"), *_counts)
    .values(
        used_at=case(
            (permissions.c.used_at > bindparam("now"), permissions.c.used_at), else_=bindparam("now")
        )
    )
)
_NAMED = '"permission":"perm_'
"""How an entry that names a permission reads, as it is stored."""
_LETS_THROUGH = (
    EntryKind.ASKED,
    EntryKind.CALLED,
    EntryKind.CLAIMED,
    EntryKind.DELEGATED,
    EntryKind.QUESTIONED,
)


@dataclass(frozen=True, slots=True)
class PermissionUse:
    """A permission that lets a call through, and the digest of the policy as it is now."""

    id: str
    policy: str


def permission_digest(permission: Permission | Row[Any]) -> str:
    """Return the digest of everything that was granted."""
    return stored_digest([getattr(permission, name) for name in GRANTED])


def insert_permission(transaction: Transaction, permission: Permission) -> None:
    """Write a permission down."""
    transaction.run(_insert, **{name: getattr(permission, name) for name in _COLUMNS})


def find_permissions(connection: Connection, tool: str, role: str, policy: str, now: str) -> list[Permission]:
    """Return the permissions of a role for a tool that have not ended, oldest first."""
    rows = _find.rows(connection, of_tool=tool, of_role=role, policy_now=policy, **_moments(now))
    return [Permission(*row) for row in rows]


def use_permissions(transaction: Transaction, uses: Sequence[PermissionUse], now: str) -> None:
    """Let one call through; raise PermissionEnded where a permission does not count any more.

    It comes after all rows of tasks, in every transaction: two that take them in another order would wait for each other.
    """
    for use in uses:
        found = transaction.run(_use, permission=use.id, policy_now=use.policy, **_moments(now))
        if found.rowcount != 1:
            raise PermissionEnded(use.id)


def mark_revoked(transaction: Transaction, permission_id: str, by: str, at: str) -> None:
    """Say in the table that a permission was taken back; raise ToolError where it was before."""
    mine = permissions.c.id == permission_id
    moved = transaction.execute(
        update(permissions)
        .where(mine, permissions.c.revoked_at.is_(None))
        .values(revoked_at=at, revoked_by=by)
    )
    if moved.rowcount != 1:
        raise already_revoked(_permission(transaction.execute(select(permissions).where(mine)).one()))


def already_revoked(permission: Permission) -> ToolError:
    """Say who took a permission back, and when."""
    return ToolError(
        Code.PERMISSION_CLOSED,
        f"permission {permission.id} was revoked by {permission.revoked_by} at {permission.revoked_at}",
    )


def get_permission(connection: Connection, name: str) -> Permission:
    """Return the permission with this id, or with the only id that ends so."""
    found = rows_named(connection, permissions.c.id, name)
    if len(found) != 1:
        raise ToolError(
            Code.PERMISSION_NOT_FOUND,
            not_one("permission", name, several=len(found) > 1),
            hint="`brasstag permissions` lists them",
        )
    return _permission(found[0])


def list_permissions(connection: Connection) -> list[Permission]:
    """Return every permission, oldest first."""
    return [_permission(row) for row in connection.execute(select(permissions).order_by(permissions.c.id))]


def count_calls(connection: Connection, listed: Collection[Permission]) -> Counter[str]:
    """Return how many calls each of these permissions has let through, as the timelines tell."""
    if not listed:
        return Counter()
    since = stamp(min(datetime.fromisoformat(one.granted_at) for one in listed) - CLOCK_SLACK)
    rows = connection.execute(
        select(entries.c.call_id, entries.c.payload).where(
            entries.c.at >= since, entries.c.kind.in_(_LETS_THROUGH), entries.c.payload.contains(_NAMED)
        )
    )
    found = {(name, call) for call, payload in rows for name in permissions_in(json.loads(payload))}
    return Counter(name for name, _call in found)


def permissions_in(payload: dict[str, Any]) -> list[str]:
    """Return the permissions that an entry of a call names: for running it, and for letting its changes land."""
    judged = (payload, payload.get("ran") or {})
    verdicts = [one.get("verdict") or {} for one in judged]
    return [str(verdict["permission"]) for verdict in verdicts if "permission" in verdict]


def erase_permissions(transaction: Transaction, call_id: str) -> None:
    """Delete what the permissions of a call cover; without it they let no call through."""
    mine = permissions.c.call_id == call_id
    transaction.execute(update(permissions).where(mine).values(pattern="", rule="", reason=""))


def _moments(now: str) -> dict[str, str]:
    return {"now": now, "latest": stamp(datetime.fromisoformat(now) + CLOCK_SLACK)}


def _permission(row: Row[Any]) -> Permission:
    return Permission(**row._mapping)
