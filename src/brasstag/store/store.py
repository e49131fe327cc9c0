"""Store: each act that must be written together is one method and one commit."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Connection

from brasstag.store.contents.blobs import Blobs
from brasstag.store.contents.versions import Author, add_versions, outdated_looks
from brasstag.store.database.base import Database, Transaction
from brasstag.store.events.output import PrintedPiece, record_output
from brasstag.store.events.sequence import forget_old_events, has_old_events
from brasstag.store.tasks import approvals as approval_rows
from brasstag.store.tasks import rows as task_rows
from brasstag.store.tasks.end import Decision, Endings
from brasstag.store.tasks.graph import Graph
from brasstag.store.tasks.hints import Jobs, NoHints
from brasstag.store.tasks.ledger import Claimed, Ledger, is_unsettled
from brasstag.store.tasks.memories import Memory, all_memories
from brasstag.store.tasks.permissions import (
    PermissionUse,
    insert_permission,
    mark_revoked,
    permission_digest,
    use_permissions,
)
from brasstag.store.tasks.writer import Desks, Payload
from brasstag.store.timeline.lines import START, Position
from brasstag.store.timeline.seals import Sealer
from brasstag.store.timeline.timeline import SINCE, entries_of, find_entry, proven_entries, read_entries
from brasstag.words.approvals import Approval, ApprovalState, Permission
from brasstag.words.calls import Call, Tag
from brasstag.words.errors import Code, StoreError, ToolError
from brasstag.words.events import Entry, EntryKind
from brasstag.words.messages import Fences
from brasstag.words.previews import Change
from brasstag.words.times import Clock, utc_now

if TYPE_CHECKING:
    from brasstag.store.catalog.writer import CatalogWriter
    from brasstag.store.documents.writer import DocumentWriter

_T = TypeVar("_T")
ExtraRows = Callable[[Transaction], None]
"""Writes further rows in a commit of the store."""


Recheck = Callable[[Mapping[str, str]], str | None]
"""Looks at the disk once more: takes the paths that may be in another state than the one that was seen there, with that
state, and returns a path that is not as it was seen."""


def _all_as_seen(_doubtful: Mapping[str, str]) -> str | None:
    """There is no disk to look at."""
    return None


class Store:
    """Everything a room writes down, and the ways to read it."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        sealer: Sealer,
        boot_id: str,
        clock: Clock = utc_now,
        jobs: Jobs | None = None,
    ) -> None:
        desks = Desks(database, sealer, boot_id, clock, jobs or NoHints())
        self.database = database
        self.blobs = blobs
        self.sealer = sealer
        self.jobs = desks.jobs
        self.timeline = desks.timeline
        self.ledger = Ledger(boot_id)
        self.endings = Endings(desks)
        self.graph = Graph(desks, self.ledger, self.endings)
        self.now = desks.now
        self.writing = desks.writing
        self.expect_desk = desks.expect
        self._desks = desks

    @cached_property
    def documents(self) -> "DocumentWriter":
        """What writes about documents."""
        from brasstag.store.documents.writer import DocumentWriter  # noqa: PLC0415 - short commands do without

        return DocumentWriter(self.database, self.blobs, self.sealer.key, self.now)

    @cached_property
    def catalog(self) -> "CatalogWriter":
        """What writes about proposals and issues."""
        from brasstag.store.catalog.writer import CatalogWriter  # noqa: PLC0415 - most commands do without

        return CatalogWriter(self._desks)

    @cached_property
    def fence(self) -> Fences:
        """Fences around all texts that models read in this room; their marks are keyed with the key of the room."""
        return Fences(self.sealer.key.derived("fences"))

    def read(self, look: Callable[[Connection], _T]) -> _T:
        """Run a look-up on a consistent view."""
        with self.database.read() as connection:
            return look(connection)

    def task(self, name: str) -> task_rows.Task:
        """Return a task by its id or the end of it."""
        return self.read(lambda view: task_rows.get_task(view, name))

    def tasks(self, run: str = "") -> list[task_rows.Task]:
        """Return every task, or those of the run that a task belongs to, oldest first."""
        if not run:
            return self.read(task_rows.read_tasks)
        return self.read(lambda view: task_rows.tasks_of_tree(view, task_rows.get_task(view, run).tree))

    def approvals(self, *states: ApprovalState) -> list[Approval]:
        """Return the requests in these states, or all of them, oldest first."""
        return self.read(lambda view: approval_rows.list_approvals(view, states))

    def is_unsettled(self, call_id: str) -> bool:
        """Say whether a call has claimed and not settled yet, at this moment."""
        return self.read(lambda view: is_unsettled(view, call_id))

    def memories(self, role: str = "") -> list[Memory]:
        """Return what agents remember, of one role or of all, oldest first."""
        return self.read(lambda view: all_memories(view, role))

    def entry(self, tag: str) -> Entry | None:
        """Return the entry with this tag, or with the only tag that ends so."""
        return self.read(lambda view: find_entry(view, tag))

    def entries(
        self, task_id: str | None = None, call_id: str | None = None, newest: int | None = None
    ) -> list[Entry]:
        """Return the entries of the room, of a task or of a call, in order; the newest only, where a number is given."""
        return self.read(lambda view: list(read_entries(view, task_id, call_id, newest)))

    def entries_since(self, task_id: str, seq: int) -> list[Entry]:
        """Return a task's entries from a number on, in order."""
        return entries_of(task_id, self.database.look(SINCE, task=task_id, at_least=seq))

    def spendings(self, task_id: str) -> task_rows.Spendings:
        """Return what a task, and the run it belongs to, have used so far."""
        return task_rows.spendings_of(self.database.look(task_rows.SPENDINGS, task=task_id))

    def proven(self, task_id: str, after: Position = START) -> list[Entry]:
        """Return a task's entries, or those that were added since, every hash checked up to its signed head."""
        with self.database.read() as connection:
            return proven_entries(connection, task_id, self.sealer.key, after)

    def record(
        self,
        call: Call,
        kind: EntryKind,
        payload: Payload,
        approval_id: str | None = None,
        rows: ExtraRows | None = None,
        permissions: Sequence[PermissionUse] = (),
    ) -> Tag:
        """Write down a call that changes nothing outside the store, or that ended before it could.

        The approval it needed is used up, its permissions are checked, and its extra ``rows`` are written, in the same
        commit.
        """
        is_alone = approval_id is None and rows is None and not permissions
        if is_alone and not self._desks.is_expected(call.task_id):
            return self.timeline.append_alone(
                self.database, call.task_id, kind, call.id, payload, epoch=call.epoch
            )
        with self.writing(call.task_id) as transaction:
            if rows is not None:
                rows(transaction)
            if approval_id is not None:
                self.ledger.use_up(transaction, approval_id)
            tag = self.timeline.append(transaction, call.task_id, kind, call.id, payload, epoch=call.epoch)
            use_permissions(transaction, permissions, self.now())
            return tag

    def ask(
        self,
        approval: Approval,
        payload: Payload,
        epoch: int = 0,
        uses: str | None = None,
        withdrawn: tuple[Approval, Decision, Payload] | None = None,
    ) -> Tag:
        """Write down a request to a person.

        An earlier one of the same call, which it ``uses``, is used up; one that is ``withdrawn`` is decided so.
        """
        with self.writing(approval.task_id) as transaction:
            if uses is not None:
                self.ledger.use_up(transaction, uses)
            if withdrawn is not None:
                self.endings.decide(transaction, *withdrawn, epoch)
            approval_rows.insert_approval(transaction, approval)
            payload = payload | {"request": approval_rows.request_of(transaction, approval.id)}
            return self.timeline.append(
                transaction, approval.task_id, EntryKind.ASKED, approval.call_id, payload, epoch=epoch
            )

    def decide(self, approval: Approval, decision: Decision, payload: Payload, epoch: int = 0) -> Tag:
        """Write down a person's answer to an open request, or that it lapsed; with ``epoch``, in a worker's name."""
        with self.writing(approval.task_id) as transaction:
            return self.endings.decide(transaction, approval, decision, payload, epoch)

    def permit(
        self,
        permission: Permission,
        payload: Payload,
        decided: tuple[Approval, Decision, Payload] | None = None,
    ) -> Tag:
        """Write down a timed permission, and the yes to the open request that it is made from."""
        with self.writing(permission.task_id) as transaction:
            if decided is not None:
                self.endings.decide(transaction, *decided)
            insert_permission(transaction, permission)
            payload = payload | {"row": permission_digest(permission)}
            return self.timeline.append(
                transaction, permission.task_id, EntryKind.PERMITTED, permission.call_id, payload
            )

    def revoke(self, permission: Permission, by: str, payload: Payload) -> Tag:
        """Take a timed permission back; raise ToolError where it was before."""
        with self.writing(permission.task_id) as transaction:
            tag = self.timeline.append(
                transaction, permission.task_id, EntryKind.REVOKED, permission.call_id, payload
            )
            mark_revoked(transaction, permission.id, by, self.now())
            return tag

    def claim(
        self,
        call: Call,
        changes: tuple[Change, ...],
        approval_id: str | None,
        payload: Payload,
        recheck: Recheck = _all_as_seen,
        permissions: Sequence[PermissionUse] = (),
    ) -> Claimed:
        """Write down the intent of a call before it acts.

        Raises CHANGED where a path is no longer as this call saw it, or a permission has ended: then nothing is
        claimed, and the call has to look again. From the leases on, no other call can change it.
        """
        with self.writing(call.task_id) as transaction:
            claimed = self.ledger.claim(
                transaction,
                call_id=call.id,
                task_id=call.task_id,
                tool=call.tool,
                changes=changes,
                approval_id=approval_id,
            )
            changed = recheck(outdated_looks(transaction, changes)) if changes else None
            if changed is not None:
                said = f"{changed} was changed meanwhile; look at it again"
                raise ToolError(Code.CHANGED, said, {"path": changed})
            self.timeline.append(
                transaction, call.task_id, EntryKind.CLAIMED, call.id, payload, epoch=call.epoch
            )
            use_permissions(transaction, permissions, self.now())
            return claimed

    def settle(self, claimed: Claimed, payload: Payload, made: tuple[Change, ...], by: str, why: str) -> Tag:
        """Write down how a claimed call ended, and the versions it made."""
        with self.writing(claimed.task_id) as transaction:
            if not self.ledger.settle(transaction, claimed):
                return self._settled_tag(transaction, claimed)
            author = Author(by, claimed.task_id, claimed.call_id, why, self.now())
            add_versions(transaction, made, author)
            tag = self.timeline.append(
                transaction, claimed.task_id, EntryKind.SETTLED, claimed.call_id, payload
            )
            self.endings.wake(transaction, claimed.task_id)
            return tag

    def take_over(self, claimed: Claimed) -> Claimed | None:
        """Make a dead process's claim ours."""
        with self.writing(claimed.task_id) as transaction:
            return self.ledger.take_over(transaction, claimed)

    def wake(self, task_id: str) -> None:
        """Make a blocked task ready, so that its next worker looks at what has changed."""
        with self.database.write() as transaction:
            self.endings.wake(transaction, task_id)

    def close_task(
        self, task_id: str, status: task_rows.Status, payload: Payload, withdraw: str = ""
    ) -> list[Approval]:
        """End a task; its open requests are void where ``withdraw`` says why, else it stays blocked on them.

        Returns the requests that were withdrawn. A desk that never made a call leaves no trace.
        """
        if self._desks.forget(task_id):
            return []
        with self.database.write() as transaction:
            return self.endings.close_desk(transaction, task_id, status, payload, withdraw)

    def forget_old_events(self) -> None:
        """Remove all but the newest events of the room, where there are too many."""
        if self.read(has_old_events):
            with self.database.write() as transaction:
                forget_old_events(transaction)

    def record_output(self, printed: Sequence[PrintedPiece]) -> None:
        """Write down, for watchers in other processes, what programs of calls print that go on."""
        record_output(self.database, printed, self.now())

    def close_if_idle(self, task_id: str) -> None:
        """End a blocked desk whose last request has been dealt with, unless the process behind it still runs."""
        with self.database.write() as transaction:
            self.endings.close_desk_if_idle(transaction, task_id)

    def _settled_tag(self, transaction: Transaction, claimed: Claimed) -> Tag:
        """Return the tag of an ending that was written before, by a commit whose reply was lost."""
        for entry in read_entries(transaction.connection, claimed.task_id, claimed.call_id):
            if entry.kind is EntryKind.SETTLED:
                return Tag(entry.tag, entry.hash)
        raise StoreError(f"call {claimed.call_id} is settled, but its timeline does not say how")
