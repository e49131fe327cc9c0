"""The books of a room: every act that must be written down together is one method, and one commit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection

from brasstag.store import approvals as approval_rows
from brasstag.store import tasks as task_rows
from brasstag.store.accounts import TELLS_LIMITS
from brasstag.store.blobs import Blobs
from brasstag.store.database import Database, Transaction
from brasstag.store.graph import Graph
from brasstag.store.jobs import Jobs, Unheard
from brasstag.store.ledger import Claimed, Ledger
from brasstag.store.seals import Sealer
from brasstag.store.timeline import SINCE, Timeline, entries_of, proven_entries, read_entries
from brasstag.store.versions import add_versions, digests_only_of
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.budgets import Limits
from brasstag.words.calls import Call, Tag
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.previews import Change
from brasstag.words.times import Clock, stamp, utc_now

_T = TypeVar("_T")
Payload = dict[str, Any]
Beside = Callable[[Transaction], None]
"""Writes down more in a commit of ours."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A task without a model, not yet written down."""

    id: str
    actor: str
    role: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of an open approval, and who said so."""

    state: ApprovalState
    by: str
    note: str = ""
    edited: dict[str, Any] | None = None
    """Columns that bind the approval to edited arguments."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What was deleted: how many entries' words, how many kept contents."""

    entries: int
    contents: int


def _turn_of(view: Connection, entry: Entry) -> list[Entry]:
    """Return the turn in which a model made a call: it holds the call's arguments, too.

    Raises ToolError for a turn that is not over: its other calls would be forgotten.
    """
    turns = [one for one in read_entries(view, entry.task_id) if one.kind is EntryKind.TURN]
    number = entry.call_id.rpartition(":")[2].partition(".")[0]
    if entry.kind is EntryKind.TURN:
        mine = [entry]
    elif number.isdigit() and int(number) < len(turns):
        mine = [turns[int(number)]]
    else:
        return []
    task = task_rows.get_task(view, entry.task_id)
    if not task.has_ended and mine[0].seq == turns[-1].seq:
        raise ToolError(Code.BUSY, "the turn this call was made in is not over; redact it when it is")
    return mine if entry.kind is not EntryKind.TURN else []


class Books:
    """Everything a room writes down, and the doors to read it."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        sealer: Sealer,
        boot_id: str,
        clock: Clock = utc_now,
        jobs: Jobs | None = None,
    ) -> None:
        self.database = database
        self.blobs = blobs
        self.sealer = sealer
        self.ledger = Ledger(boot_id)
        self.timeline = Timeline(sealer, clock)
        self._boot_id = boot_id
        self._clock = clock
        self._unopened: dict[str, Desk] = {}
        self.jobs: Jobs = jobs or Unheard()
        self.graph = Graph(self, boot_id)

    def now(self) -> str:
        """Return the time as the books write it."""
        return stamp(self._clock())

    def read(self, look: Callable[[Connection], _T]) -> _T:
        """Run a look-up on a consistent view."""
        with self.database.read() as connection:
            return look(connection)

    def entries_since(self, task_id: str, seq: int) -> list[Entry]:
        """Return a task's entries from a number on, in order."""
        return entries_of(task_id, self.database.look(SINCE, task=task_id, at_least=seq))

    def spendings(self, task_id: str) -> task_rows.Spendings:
        """Return what a task, and the run it belongs to, have used so far."""
        return task_rows.spendings_of(self.database.look(task_rows.SPENDINGS, task=task_id))

    def proven(self, task_id: str) -> list[Entry]:
        """Return a task's entries, every hash checked up to its signed head."""
        with self.database.read() as connection:
            return proven_entries(connection, task_id, self.sealer.key)

    def expect_desk(self, desk: Desk) -> None:
        """Announce a desk; it is written down together with its first entry, so idle desks cost nothing."""
        self._unopened[desk.id] = desk

    def record(
        self,
        call: Call,
        kind: EntryKind,
        payload: Payload,
        approval_id: str | None = None,
        beside: Beside | None = None,
    ) -> Tag:
        """Write down a call that changes nothing outside the books, or that ended before it could.

        The approval it needed is used up, and what stands ``beside`` its entry is written, in the same commit.
        """
        if approval_id is None and beside is None and call.task_id not in self._unopened:
            return self.timeline.append_alone(
                self.database, call.task_id, kind, call.id, payload, epoch=call.epoch
            )
        with self.writing(call.task_id) as transaction:
            if approval_id is not None:
                self.ledger.use_up(transaction, approval_id)
            if beside is not None:
                beside(transaction)
            return self.timeline.append(transaction, call.task_id, kind, call.id, payload, epoch=call.epoch)

    def ask(self, approval: Approval, payload: Payload, epoch: int = 0, uses: str | None = None) -> Tag:
        """Write down a request to a person; an earlier one of the same call, which it ``uses``, is used up."""
        with self.writing(approval.task_id) as transaction:
            if uses is not None:
                self.ledger.use_up(transaction, uses)
            approval_rows.insert_approval(transaction, approval)
            payload = payload | {"request": approval_rows.request_of(transaction, approval.id)}
            return self.timeline.append(
                transaction, approval.task_id, EntryKind.ASKED, approval.call_id, payload, epoch=epoch
            )

    def decide(self, approval: Approval, decision: Decision, payload: Payload, epoch: int = 0) -> Tag:
        """Write down a person's answer to an open request, or that it lapsed; with ``epoch``, in a worker's name."""
        with self.writing(approval.task_id) as transaction:
            return self._decide(transaction, approval, decision, payload, epoch)

    def claim(
        self, call: Call, changes: tuple[Change, ...], approval_id: str | None, payload: Payload
    ) -> Claimed:
        """Write down the intent of a call before it acts."""
        with self.writing(call.task_id) as transaction:
            claimed = self.ledger.claim(
                transaction,
                call_id=call.id,
                task_id=call.task_id,
                tool=call.tool,
                changes=changes,
                approval_id=approval_id,
            )
            self.timeline.append(
                transaction, call.task_id, EntryKind.CLAIMED, call.id, payload, epoch=call.epoch
            )
            return claimed

    def settle(self, claimed: Claimed, payload: Payload, made: tuple[Change, ...], by: str, why: str) -> Tag:
        """Write down how a claimed call ended, and the versions it made."""
        with self.writing(claimed.task_id) as transaction:
            if not self.ledger.settle(transaction, claimed):
                return self._settled_tag(transaction, claimed)
            add_versions(transaction, made, by, claimed.call_id, why, self.now(), claimed.task_id)
            tag = self.timeline.append(
                transaction, claimed.task_id, EntryKind.SETTLED, claimed.call_id, payload
            )
            self.graph.wake(transaction, claimed.task_id)
            return tag

    def take_over(self, claimed: Claimed) -> Claimed | None:
        """Make a dead process's claim ours."""
        with self.writing(claimed.task_id) as transaction:
            return self.ledger.take_over(transaction, claimed)

    def close_task(
        self, task_id: str, status: task_rows.Status, payload: Payload, withdraw: str = ""
    ) -> list[Approval]:
        """End a task; its open requests are void where ``withdraw`` says why, else it stays blocked on them.

        Returns the requests that were withdrawn. A desk that never made a call leaves no trace.
        """
        if self._unopened.pop(task_id, None):
            return []
        with self.database.write() as transaction:
            return self._close(transaction, task_id, status, payload, withdraw)

    def close_if_idle(self, task_id: str) -> None:
        """End a blocked desk whose last request has been dealt with, unless the process behind it still runs."""
        with self.database.write() as transaction:
            self.close_desk_if_idle(transaction, task_id)

    def close_desk_if_idle(self, transaction: Transaction, task_id: str) -> None:
        """The same, in a transaction that has just dealt with something the desk waited for."""
        desk = task_rows.hold_task(transaction, task_id)
        if desk.kind == "desk" and desk.status == "blocked":
            end: Payload = {"type": "root", "tool": "desk", "input": {}, "result": None}
            self._close(transaction, task_id, "done", end, "")

    def redact(self, entry: Entry, by: str, reason: str, *, contents: bool = False) -> Redaction:
        """Delete what a call's entries said, and say in the same commit that this was done.

        With ``contents`` also delete the kept bytes that only this call names. Limits are no words: those a task has
        stay as they are.
        """
        with self.database.write() as transaction:
            view = transaction.connection
            task_rows.hold_task(transaction, entry.task_id)
            told = list(read_entries(view, entry.task_id, entry.call_id)) if entry.call_id else [entry]
            told += _turn_of(view, entry)
            erased = [one for one in told if one.payload is not None and one.kind is not EntryKind.REDACTED]
            if not erased:
                raise ToolError(Code.INVALID_ARGUMENTS, f"{entry.tag} has nothing left to redact")
            if entry.call_id:
                approval_rows.erase_arguments(transaction, entry.call_id)
            payload: Payload = {
                "type": "redaction",
                "redacted": entry.tag,
                "redacted_seqs": [one.seq for one in erased],
                "by": by,
                "reason": reason,
            }
            if any(one.kind in TELLS_LIMITS for one in erased):
                entries = proven_entries(view, entry.task_id, self.sealer.key)
                payload["limits"] = Limits.told_by(entries).as_json()
            for one in erased:
                self.timeline.erase_payload(transaction, one)
            self.timeline.append(transaction, entry.task_id, EntryKind.REDACTED, entry.call_id, payload)
            named = digests_only_of(view, entry.call_id) if contents and entry.call_id else ()
        return Redaction(len(erased), sum(self.blobs.drop(digest) for digest in named))

    def _close(
        self,
        transaction: Transaction,
        task_id: str,
        status: task_rows.Status,
        payload: Payload,
        withdraw: str,
    ) -> list[Approval]:
        connection = transaction.connection
        if task_rows.hold_task(transaction, task_id).has_ended:
            raise ToolError(Code.CANCELLED, f"task {task_id} has already ended")
        waiting = [
            approval
            for state in (ApprovalState.OPEN, ApprovalState.APPROVED)
            for approval in approval_rows.approvals_of_task(connection, task_id, state)
        ]
        if (waiting or task_rows.live_children(connection, task_id)) and not withdraw:
            task_rows.set_status(transaction, task_id, "blocked")
            return []
        for approval in waiting:
            self.withdraw(transaction, approval, withdraw)
        self.timeline.append(transaction, task_id, EntryKind.CLOSED, "", payload | {"status": status})
        task_rows.set_status(transaction, task_id, status, self.now())
        self.timeline.forget(task_id)
        return waiting

    def _decide(
        self,
        transaction: Transaction,
        approval: Approval,
        decision: Decision,
        payload: Payload,
        epoch: int = 0,
    ) -> Tag:
        approval_rows.move_approval(
            transaction,
            approval.id,
            approval.state,
            decision.state,
            decided_at=self.now(),
            decided_by=decision.by,
            note=decision.note,
            **(decision.edited or {}),
        )
        payload = payload | {"request": approval_rows.request_of(transaction, approval.id)}
        tag = self.timeline.append(
            transaction, approval.task_id, EntryKind.DECIDED, approval.call_id, payload, epoch=epoch
        )
        self.graph.wake(transaction, approval.task_id)
        return tag

    def withdraw(self, transaction: Transaction, approval: Approval, by: str) -> None:
        """Void a request of a task that ends, in the transaction that ends it."""
        decision = Decision(ApprovalState.VOID, by=by, note="its task has ended")
        said = {"type": EntryKind.DECIDED.value, "tool": approval.tool, "approval": approval.id}
        said |= {"state": decision.state.value, "by": decision.by, "note": decision.note}
        self._decide(transaction, approval, decision, said)

    def _settled_tag(self, transaction: Transaction, claimed: Claimed) -> Tag:
        """Return the tag of an ending that was written before, by a commit whose answer got lost."""
        for entry in read_entries(transaction.connection, claimed.task_id, claimed.call_id):
            if entry.kind is EntryKind.SETTLED:
                return Tag(entry.tag, entry.hash)
        raise StoreError(f"call {claimed.call_id} is settled, but its timeline does not say how")

    @contextmanager
    def writing(self, task_id: str) -> Iterator[Transaction]:
        """One commit about a task; a desk that was only announced is written down with it."""
        with self.database.write() as transaction:
            desk = self._unopened.get(task_id)
            if desk is not None:
                # Once only: by its first call of several at once, and where that commit arrived unheard, not again.
                transaction.lock(desk.id)
                if task_rows.find_task(transaction.connection, desk.id) is None:
                    self._open(transaction, desk)
            yield transaction
        if desk is not None:
            self._unopened.pop(task_id, None)

    def _open(self, transaction: Transaction, desk: Desk) -> None:
        task_rows.insert_task(
            transaction,
            self.sealer.key,
            desk.id,
            kind="desk",
            actor=desk.actor,
            role=desk.role,
            status="running",
            boot=self._boot_id,
            at=self.now(),
            tree=desk.id,
        )
        payload = {"type": "root", "tool": "desk", "input": {"actor": desk.actor, "role": desk.role}}
        self.timeline.append(
            transaction, desk.id, EntryKind.OPENED, "", payload | {"result": None, "purpose": desk.purpose}
        )
