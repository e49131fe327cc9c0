"""The ledger: a call claims before it acts and settles after, each in one commit.

Between the two the call holds leases on its paths. If its process dies there, the claim stays, with all that recovery needs.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.database.schema import approvals, calls, leases
from brasstag.store.database.statements import Prepared
from brasstag.store.tasks.approvals import hold_task_of
from brasstag.words.approvals import ApprovalState
from brasstag.words.canonical import stored_json
from brasstag.words.errors import Code, LeaseHeld, StoreError, ToolError
from brasstag.words.previews import Change

_leased = Prepared(select(leases.c.path))
_insert_lease = Prepared(insert(leases).values(path=bindparam("path"), call_id=bindparam("call_id")))
_release = Prepared(delete(leases).where(leases.c.call_id == bindparam("call")))
_insert_call = Prepared(
    insert(calls).values({column.name: bindparam(column.name) for column in calls.columns})
)
_known_call = Prepared(select(calls.c.id).where(calls.c.id == bindparam("call")))
_how_it_stands = Prepared(
    select(calls.c.state, calls.c.attempt, calls.c.boot).where(calls.c.id == bindparam("call"))
)
_settle = Prepared(
    update(calls)
    .where(
        calls.c.id == bindparam("call"),
        calls.c.attempt == bindparam("of_attempt"),
        calls.c.state == "claimed",
    )
    .values(state="settled")
)
_take_over = Prepared(
    update(calls)
    .where(
        calls.c.id == bindparam("call"),
        calls.c.attempt == bindparam("of_attempt"),
        calls.c.state == "claimed",
    )
    .values(attempt=calls.c.attempt + 1, boot=bindparam("by_boot"))
)
_consume = Prepared(
    update(approvals)
    .where(approvals.c.id == bindparam("approval"), approvals.c.state == ApprovalState.APPROVED.value)
    .values(state=ApprovalState.CONSUMED.value)
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """Proof that a call's intent is on disk; only the ledger makes one."""

    call_id: str
    task_id: str
    tool: str
    attempt: int
    boot: str
    changes: tuple[Change, ...]


class Ledger:
    """Takes and returns claims in the name of one opening of the room, named by the id of its process lock."""

    def __init__(self, boot: str) -> None:
        self.boot = boot

    def claim(
        self,
        transaction: Transaction,
        *,
        call_id: str,
        task_id: str,
        tool: str,
        changes: tuple[Change, ...],
        approval_id: str | None,
    ) -> Claimed:
        """Write down the intent, take the leases and use up the approval."""
        paths = sorted({path for change in changes for path in change.paths})
        self._take_leases(transaction, call_id, paths)
        if approval_id is not None:
            self.use_up(transaction, approval_id)
        if transaction.run(_known_call, call=call_id).fetchone() is not None:
            raise ToolError(
                Code.INVALID_ARGUMENTS, f"the call id {call_id} was used before; give each call its own"
            )
        claimed = Claimed(call_id, task_id, tool, 1, self.boot, changes)
        transaction.run(
            _insert_call,
            id=call_id,
            task_id=task_id,
            tool=tool,
            state="claimed",
            attempt=claimed.attempt,
            boot=self.boot,
            changes=stored_json([change.as_json() for change in changes]),
        )
        return claimed

    def use_up(self, transaction: Transaction, approval_id: str) -> None:
        """Use an approval, once and for all."""
        hold_task_of(transaction, approval_id)
        if transaction.run(_consume, approval=approval_id).rowcount != 1:
            raise ToolError(Code.APPROVAL_CLOSED, f"approval {approval_id} was used or withdrawn already")

    def settle(self, transaction: Transaction, claimed: Claimed) -> bool:
        """Close the claim and release its paths; a claim that was taken over is not ours to settle.

        Returns False where this very attempt was settled before, by a commit whose reply never arrived.
        """
        settled = transaction.run(_settle, call=claimed.call_id, of_attempt=claimed.attempt)
        if settled.rowcount != 1:
            row = transaction.run(_how_it_stands, call=claimed.call_id).fetchone()
            if row is not None and tuple(row) == ("settled", claimed.attempt, claimed.boot):
                return False
            raise StoreError(
                f"call {claimed.call_id} was taken over by another process; its outcome is recorded there"
            )
        if claimed.changes:
            transaction.run(_release, call=claimed.call_id)
        return True

    def take_over(self, transaction: Transaction, claimed: Claimed) -> Claimed | None:
        """Make a dead process's claim ours, or return None where another process was faster."""
        taken = transaction.run(
            _take_over, call=claimed.call_id, of_attempt=claimed.attempt, by_boot=self.boot
        )
        if taken.rowcount != 1:
            return None
        return Claimed(
            claimed.call_id, claimed.task_id, claimed.tool, claimed.attempt + 1, self.boot, claimed.changes
        )

    def _take_leases(self, transaction: Transaction, call_id: str, paths: list[str]) -> None:
        if not paths:
            return
        transaction.lock(Lock.LEASES)
        for held in leased_paths(transaction):
            for path in paths:
                if overlaps(held, path):
                    raise LeaseHeld(path)
        transaction.run_many(_insert_lease, [{"path": path, "call_id": call_id} for path in paths])


def overlaps(one: str, other: str) -> bool:
    """Say whether two paths are the same, or one lies below the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def leased_paths(transaction: Transaction) -> list[str]:
    """Return the paths that calls under way hold."""
    return [path for (path,) in transaction.run(_leased).fetchall()]


def open_claims(connection: Connection) -> Iterable[Claimed]:
    """Yield every call that claimed and has not settled."""
    for row in connection.execute(select(calls).where(calls.c.state == "claimed").order_by(calls.c.id)).all():
        yield Claimed(row.id, row.task_id, row.tool, row.attempt, row.boot, _changes(row.changes))


def claims_of_tasks(connection: Connection, task_ids: Iterable[str]) -> list[str]:
    """Return the calls of these tasks that have claimed and not settled: how they ended is not known yet."""
    query = select(calls.c.id).where(calls.c.state == "claimed", calls.c.task_id.in_(list(task_ids)))
    return list(connection.execute(query.order_by(calls.c.id)).scalars())


def is_unsettled(connection: Connection, call_id: str) -> bool:
    """Say whether a call has claimed and not settled yet, at this moment."""
    state = connection.execute(select(calls.c.state).where(calls.c.id == call_id)).scalar_one_or_none()
    return state == "claimed"


def changes_of(connection: Connection, call_id: str) -> tuple[Change, ...]:
    """Return the changes a call claimed; empty for a call that claimed none."""
    stored = connection.execute(select(calls.c.changes).where(calls.c.id == call_id)).scalar_one_or_none()
    return _changes(stored) if stored else ()


def _changes(stored: str) -> tuple[Change, ...]:
    found: list[dict[str, Any]] = json.loads(stored)
    return tuple(Change.from_json(change) for change in found)
