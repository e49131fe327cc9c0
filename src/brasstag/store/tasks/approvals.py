"""Rows of approvals: asked once, decided once, used once."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from brasstag.store.database.base import Transaction
from brasstag.store.database.lookup import rows_named
from brasstag.store.database.schema import approvals, tasks
from brasstag.store.database.statements import Prepared
from brasstag.words.approvals import WAITING_STATES, Approval, ApprovalState
from brasstag.words.canonical import stored_digest, stored_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.ids import not_one
from brasstag.words.previews import Preview

_insert = insert(approvals).values({column.name: bindparam(column.name) for column in approvals.columns})
_hold_task = Prepared(
    select(tasks.c.id)
    .join(approvals, approvals.c.task_id == tasks.c.id)
    .where(approvals.c.id == bindparam("approval"))
    .with_for_update(of=tasks)
)


REQUEST_COLUMNS = (
    "id", "call_id", "task_id", "tool", "tool_version", "arguments", "original_arguments", "actor", "role", "reason",
    "rule", "preview", "digest", "requested_at", "expires_at",
)  # fmt: skip
"""What a person decided on; the timeline carries its digest, so that no change of it in the table stays unseen."""


def request_digest(row: Row[Any]) -> str:
    """Return the digest of everything an approval asks, as it stands in the table."""
    return stored_digest([getattr(row, name) for name in REQUEST_COLUMNS])


def request_of(transaction: Transaction, approval_id: str) -> str:
    """Return the digest of what an approval asks now."""
    return request_digest(transaction.execute(select(approvals).where(approvals.c.id == approval_id)).one())


def insert_approval(transaction: Transaction, approval: Approval) -> None:
    """Write a request down."""
    transaction.execute(
        _insert,
        {
            "id": approval.id,
            "call_id": approval.call_id,
            "task_id": approval.task_id,
            "tool": approval.tool,
            "tool_version": approval.tool_version,
            "arguments": stored_json(dict(approval.arguments)),
            "original_arguments": _optional_json(approval.original_arguments),
            "actor": approval.actor,
            "role": approval.role,
            "reason": approval.reason,
            "rule": approval.rule,
            "preview": stored_json(approval.preview.as_json()),
            "digest": approval.digest,
            "state": approval.state.value,
            "requested_at": approval.requested_at,
            "expires_at": approval.expires_at,
            "decided_at": approval.decided_at,
            "decided_by": approval.decided_by,
            "note": approval.note,
        },
    )


def move_approval(
    transaction: Transaction,
    approval_id: str,
    from_state: ApprovalState,
    to_state: ApprovalState,
    **columns: Any,
) -> None:
    """Take an approval from one state to another; raise ToolError where it has left that state already."""
    hold_task_of(transaction, approval_id)
    moved = transaction.execute(
        update(approvals)
        .where(approvals.c.id == approval_id, approvals.c.state == from_state.value)
        .values(state=to_state.value, **columns)
    )
    if moved.rowcount != 1:
        found = transaction.execute(select(approvals).where(approvals.c.id == approval_id)).one_or_none()
        raise already_closed(approval_from(found)) if found else not_found(approval_id)


def hold_task_of(transaction: Transaction, approval_id: str) -> None:
    """Take the row of the task before that of its approval, as the code that ends a task does."""
    transaction.touch_tasks()
    transaction.run(_hold_task, approval=approval_id).fetchone()


def erase_arguments(transaction: Transaction, call_id: str) -> None:
    """Delete the arguments of a call's closed approvals; one that still waits has to be decided first."""
    mine = approvals.c.call_id == call_id
    waiting = transaction.execute(
        select(approvals.c.id).where(mine, approvals.c.state.in_(WAITING_STATES))
    ).first()
    if waiting is not None:
        raise ToolError(Code.BUSY, f"approval {waiting.id} of this call still waits; decide it, then redact")
    transaction.execute(update(approvals).where(mine).values(arguments="{}", original_arguments=None))


def edited_columns(
    arguments: Mapping[str, Any], original: Mapping[str, Any], preview: Preview, digest: str
) -> dict[str, Any]:
    """Return the columns that bind an approval to what a person changed it to."""
    return {
        "arguments": stored_json(dict(arguments)),
        "original_arguments": stored_json(dict(original)),
        "preview": stored_json(preview.as_json()),
        "digest": digest,
    }


def get_approval(connection: Connection, name: str) -> Approval:
    """Return the approval with this id, or with the only id that ends so."""
    found = rows_named(connection, approvals.c.id, name)
    if len(found) != 1:
        raise not_found(name, several=len(found) > 1)
    return approval_from(found[0])


def list_approvals(connection: Connection, states: tuple[ApprovalState, ...] = ()) -> list[Approval]:
    """Return approvals in these states, or all of them, oldest first."""
    query = select(approvals).order_by(approvals.c.requested_at, approvals.c.id)
    if states:
        query = query.where(approvals.c.state.in_([state.value for state in states]))
    return [approval_from(row) for row in connection.execute(query)]


def due_approvals(connection: Connection, now: str) -> list[Approval]:
    """Return the open approvals whose time is up."""
    query = select(approvals).where(
        approvals.c.state == ApprovalState.OPEN.value, approvals.c.expires_at <= now
    )
    return [approval_from(row) for row in connection.execute(query)]


def approvals_of_task(connection: Connection, task_id: str, state: ApprovalState) -> list[Approval]:
    """Return a task's approvals in one state."""
    query = select(approvals).where(approvals.c.task_id == task_id, approvals.c.state == state.value)
    return [approval_from(row) for row in connection.execute(query.order_by(approvals.c.id))]


def waiting_approvals(connection: Connection, task_id: str) -> list[Approval]:
    """Return those of a task's approvals that are not dealt with."""
    return [one for state in WAITING_STATES for one in approvals_of_task(connection, task_id, state)]


def approval_of_call(connection: Connection, call_id: str) -> Approval | None:
    """Return the newest approval a call asked for."""
    query = select(approvals).where(approvals.c.call_id == call_id).order_by(approvals.c.id.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return approval_from(row) if row else None


def not_found(name: str, *, several: bool = False) -> ToolError:
    """Say that there is no such approval, or more than one, and where to look."""
    return ToolError(
        Code.APPROVAL_NOT_FOUND,
        not_one("approval", name, several=several),
        hint="`brasstag approvals` lists those that wait",
    )


def already_closed(approval: Approval) -> ToolError:
    """Say who closed an approval, and when; of one that was withdrawn, also why."""
    who = f" by {approval.decided_by} at {approval.decided_at}" if approval.decided_by else ""
    why = f": {approval.note}" if approval.note and approval.state is ApprovalState.VOID else ""
    return ToolError(
        Code.APPROVAL_CLOSED,
        f"approval {approval.id} is already {approval.state.value}{who}{why}",
        {"state": approval.state.value, "decided_by": approval.decided_by, "decided_at": approval.decided_at},
    )


def approval_from(row: Row[Any]) -> Approval:
    """Read a row of the approvals table."""
    columns = dict(row._mapping)
    columns["arguments"] = json.loads(columns["arguments"])
    columns["preview"] = Preview.from_json(json.loads(columns["preview"]))
    columns["state"] = ApprovalState(columns["state"])
    if columns["original_arguments"] is not None:
        columns["original_arguments"] = json.loads(columns["original_arguments"])
    return Approval(**columns)


def _optional_json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else stored_json(dict(value))
