"""End requests and tasks, and wake the tasks that waited for them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from brasstag.store.database.base import Transaction
from brasstag.store.events.sequence import announce
from brasstag.store.tasks import transitions
from brasstag.store.tasks.approvals import move_approval, request_of, waiting_approvals
from brasstag.store.tasks.rows import Status, hold_task, live_children, set_status
from brasstag.store.tasks.writer import Desk, Desks, Payload
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.calls import Tag
from brasstag.words.errors import Code, ToolError, Unproven
from brasstag.words.events import EntryKind

log = logging.getLogger("brasstag")

ENDED = "its task has ended"
"""Why a request is void that no person has decided."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of an open approval, and who said so."""

    state: ApprovalState
    by: str
    note: str = ""
    edited: dict[str, Any] | None = None
    """Columns that bind the approval to edited arguments."""


class Endings:
    """What the store and the graph do alike, each in a transaction of its own."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks
        self._timeline = desks.timeline

    def wake(self, transaction: Transaction, task_id: str) -> None:
        """Make a blocked task ready, in the transaction that gives it something to do."""
        row = transaction.run(transitions.wake, task=task_id, at=self._desks.now()).fetchone()
        if row is not None:
            self._desks.jobs.hint(transaction, task_id, *row)

    def decide(
        self,
        transaction: Transaction,
        approval: Approval,
        decision: Decision,
        payload: Payload,
        epoch: int = 0,
    ) -> Tag:
        """Write down what became of a request; raise ToolError where it was decided before."""
        move_approval(
            transaction,
            approval.id,
            approval.state,
            decision.state,
            decided_at=self._desks.now(),
            decided_by=decision.by,
            note=decision.note,
            **(decision.edited or {}),
        )
        payload = payload | {"request": request_of(transaction, approval.id)}
        tag = self._timeline.append(
            transaction, approval.task_id, EntryKind.DECIDED, approval.call_id, payload, epoch=epoch
        )
        self.wake(transaction, approval.task_id)
        return tag

    def end(
        self,
        transaction: Transaction,
        task_id: str,
        status: Status,
        payload: Payload,
        by: str,
        *,
        epoch: int = 0,
        is_unproven_ended: bool = False,
    ) -> list[Approval]:
        """End one task, whose row is held, and return the requests it no longer waits for.

        A decision on one of them holds that row, too: it came before this end, or it comes too late. A task whose
        timeline does not hold raises Unproven, or ends without an entry.
        """
        waiting = waiting_approvals(transaction.connection, task_id)
        for approval in waiting:
            with left_as_it_is(task_id) if is_unproven_ended else nullcontext():
                self._withdraw(transaction, approval, by)
        with left_as_it_is(task_id) if is_unproven_ended else nullcontext():
            self._timeline.append(
                transaction, task_id, EntryKind.CLOSED, "", payload | {"status": status}, epoch=epoch
            )
        set_status(transaction, task_id, status, self._desks.now())
        self._timeline.forget(task_id)
        return waiting

    def close_desk(
        self, transaction: Transaction, task_id: str, status: Status, payload: Payload, withdraw: str
    ) -> list[Approval]:
        """End a desk and return the withdrawn requests; where ``withdraw`` is empty, it stays blocked on them."""
        view = transaction.connection
        if hold_task(transaction, task_id).has_ended:
            raise ToolError(Code.CANCELLED, f"task {task_id} has already ended")
        if not withdraw and (waiting_approvals(view, task_id) or live_children(view, task_id)):
            set_status(transaction, task_id, "blocked")
            announce(transaction, "task", self._desks.now(), task_id)
            return []
        return self.end(transaction, task_id, status, payload, withdraw)

    def close_desk_if_idle(self, transaction: Transaction, task_id: str) -> None:
        """End a blocked desk whose last request has been dealt with, unless the process behind it still runs."""
        desk = hold_task(transaction, task_id)
        if desk.is_desk and desk.status == "blocked":
            self.close_desk(transaction, task_id, "done", Desk.closing(), "")

    def _withdraw(self, transaction: Transaction, approval: Approval, by: str) -> None:
        decision = Decision(ApprovalState.VOID, by=by, note=ENDED)
        said = {"type": EntryKind.DECIDED.value, "tool": approval.tool, "approval": approval.id}
        said |= {"state": decision.state.value, "by": decision.by, "note": decision.note}
        self.decide(transaction, approval, decision, said)


@contextmanager
def left_as_it_is(task_id: str) -> Iterator[None]:
    """Go on where a timeline does not hold: nothing is added to it, `verify` tells of it, and no task waits for it."""
    try:
        yield
    except Unproven as error:
        log.warning("%s is moved without an entry: %s", task_id, error)
