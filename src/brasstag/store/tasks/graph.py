"""The graph: open, hold, block, wake and end tasks, each in one commit.

A task that becomes ready is hinted at in the transaction that makes it so. A worker holds a task under an epoch; whatever
it writes under an older one is refused. Row locks go child before parent.
"""

import logging
from collections.abc import Sequence

from brasstag.settings.crew import PERSON
from brasstag.store.database.base import Transaction
from brasstag.store.database.locks import Lock
from brasstag.store.events.sequence import announce
from brasstag.store.tasks import transitions
from brasstag.store.tasks.end import ENDED, Endings, left_as_it_is
from brasstag.store.tasks.ledger import Ledger, claims_of_tasks
from brasstag.store.tasks.permissions import PermissionUse, use_permissions
from brasstag.store.tasks.rows import (
    Status,
    Task,
    find_task,
    get_task,
    hold_task,
    insert_task,
    live_children,
    tasks_of_tree,
)
from brasstag.store.tasks.types import Ending, Held, Message, NewTask, Payload, Stopped
from brasstag.store.tasks.writer import Desks
from brasstag.words.approvals import Approval
from brasstag.words.calls import Call, Tag
from brasstag.words.errors import Code, Fenced, ToolError
from brasstag.words.events import EntryKind
from brasstag.words.turns import Usage

log = logging.getLogger("brasstag")

MOST_CHILDREN = 2**31 - 1
"""The largest number that the table can hold."""

_ENDED_ABOVE = "the task above it ended"


class Graph:
    """Moves tasks through their states."""

    def __init__(self, desks: Desks, ledger: Ledger, endings: Endings) -> None:
        self.jobs = desks.jobs
        self._desks = desks
        self._database = desks.database
        self._timeline = desks.timeline
        self._now = desks.now
        self._boot_id = desks.boot_id
        self._ledger = ledger
        self._endings = endings

    def open_root(self, task: NewTask) -> None:
        """Write down what a person asks for; it is ready at once."""
        with self._database.write() as transaction:
            self._insert(transaction, task)

    def open_child(
        self,
        call: Call,
        kind: EntryKind,
        payload: Payload,
        child: NewTask,
        approval_id: str | None,
        permissions: Sequence[PermissionUse] = (),
    ) -> Tag:
        """Open a task for a call, and say on the caller's timeline that it waits for it."""
        with self._desks.writing(call.task_id) as transaction:
            if approval_id is not None:
                self._ledger.use_up(transaction, approval_id)
            self._insert(transaction, child)
            tag = self._timeline.append(transaction, call.task_id, kind, call.id, payload, epoch=call.epoch)
            most = MOST_CHILDREN if child.most_siblings is None else min(child.most_siblings, MOST_CHILDREN)
            if transaction.run(transitions.one_more_child, task=call.task_id, most=most).rowcount != 1:
                raise ToolError(
                    Code.BUDGET_EXCEEDED,
                    f"{call.role} has opened {most} tasks, as many as it may; do it yourself, or hand off what there is",
                    {"limit": "max_children"},
                )
            use_permissions(transaction, permissions, self._now())
            return tag

    def take(self, task_id: str, wake: int) -> Held | None:
        """Hold a ready task, or return None where the hint was stale."""
        with self._database.write() as transaction:
            row = transaction.run(
                transitions.take, task=task_id, at_wake=wake, by_boot=self._boot_id
            ).fetchone()
            if row is not None:
                self._announce(transaction, task_id)
        return None if row is None else Held(Task(*row))

    def record_turn(self, held: Held, payload: Payload, usage: Usage) -> Tag:
        """Write down what a model answered, and what it took, before any of its calls runs."""
        spent = {"more_tokens": usage.tokens, "more_cost": usage.cost or 0}
        return self._timeline.append_alone(
            self._database, held.id, EntryKind.TURN, "", payload, epoch=held.epoch, spent=spent
        )

    def note(self, held: Held, kind: EntryKind, payload: Payload) -> Tag:
        """Write down something about the task itself."""
        return self._timeline.append_alone(self._database, held.id, kind, "", payload, epoch=held.epoch)

    def block(self, held: Held, seen: int) -> bool:
        """Let the task wait, unless something was added since ``seen`` entries: then return False, and look again."""
        with self._database.write() as transaction:
            moved: bool = (
                transaction.run(transitions.block, task=held.id, held=held.epoch, seen=seen).rowcount == 1
            )
            if moved:
                self._announce(transaction, held.id)
                self._timeline.seal(transaction, held.id)
            else:
                self._require_held(transaction, held)
        if moved:
            self._timeline.forget(held.id)
        return moved

    def step_aside(self, held: Held, *, for_good: bool = False) -> None:
        """Let others of the run go first; this worker may step in again, unless it leaves for good."""
        by = self._boot_id if for_good else transitions.ASIDE
        aside = {"task": held.id, "held": held.epoch, "by_boot": by}
        with self._database.write() as transaction:
            row = transaction.run(transitions.step_aside, **aside, at=self._now()).fetchone()
            if row is None:
                raise Fenced(held.id)
            self._announce(transaction, held.id)
            if for_good:
                self.jobs.hint(transaction, held.id, *row)

    def step_in(self, held: Held, most_steps: int) -> bool:
        """Go on with a task that stepped aside, and return True, if its run has a step for it, or none left at all."""
        tree = held.task.tree
        with self._database.write() as transaction:
            transaction.lock(Lock.RUN, tree)
            go = {"task": held.id, "held": held.epoch, "of_tree": tree, "most_steps": most_steps}
            if transaction.run(transitions.step_in, **go, by_boot=self._boot_id).rowcount == 1:
                self._announce(transaction, held.id)
                return True
            row = transaction.run(transitions.standing, task=held.id).fetchone()
            if row is None or row[0] not in ("ready", "running") or row[1] != held.epoch:
                raise Fenced(held.id)
            # It is running where an earlier try was committed, but the reply was lost.
            return bool(row[0] == "running")

    def let_go(self, held: Held) -> None:
        """Give a task back, unfinished, for the next worker; this does not count as a failed attempt."""
        self._make_ready(held.id, held.epoch, unspent=1)

    def finish(self, held: Held, ending: Ending) -> None:
        """End a held task, and tell the tasks that wait for it."""
        with self._database.write() as transaction:
            self._finish(transaction, held.task, ending, held.epoch)

    def give_up(self, held: Held) -> None:
        """Close the row of a held task whose end cannot be written: no entry tells of it, and `verify` finds it."""
        with self._database.write() as transaction:
            if (
                transaction.run(transitions.give_up, task=held.id, held=held.epoch, at=self._now()).rowcount
                != 1
            ):
                raise Fenced(held.id)
            self._announce(transaction, held.id)
        self._timeline.forget(held.id)

    def finish_call(
        self,
        call: Call,
        payload: Payload,
        ending: Ending,
        approval_id: str | None,
        permissions: Sequence[PermissionUse] = (),
    ) -> Tag:
        """End the task of a handoff, written down in the same commit."""
        with self._database.write() as transaction:
            task = get_task(transaction.connection, call.task_id)
            self._cancel_below(transaction, task, _abandoned(task), _ENDED_ABOVE)
            hold_task(transaction, task.id)
            if approval_id is not None:
                self._ledger.use_up(transaction, approval_id)
            tag = self._timeline.append(
                transaction, task.id, EntryKind.CALLED, call.id, payload, epoch=call.epoch
            )
            self._end(transaction, task, ending.status, ending.payload, ENDED, call.epoch)
            self._tell(transaction, ending.messages)
            use_permissions(transaction, permissions, self._now())
            return tag

    def answer(self, question_id: str, ending: Ending) -> None:
        """End a question that waits for a person; raise ToolError where it was answered before."""
        with self._database.write() as transaction:
            question = hold_task(transaction, question_id)
            if question.has_ended:
                raise ToolError(Code.TASK_CLOSED, f"{question_id} has been answered or withdrawn already")
            self._finish(transaction, question, ending, 0)

    def cancel(self, task_id: str, payload: Payload, by: str, messages: Sequence[Message] = ()) -> Stopped:
        """End a task and everything below it, the lowest first, and say what was stopped."""
        with self._database.write() as transaction:
            top = get_task(transaction.connection, task_id)
            if top.has_ended:
                raise ToolError(Code.TASK_CLOSED, f"{top.id} has already ended ({top.status})")
            stopped = self._cancel_below(transaction, top, payload, by)
            self._cancel_one(transaction, top, payload, by, stopped)
            if top.id not in stopped.tasks:
                raise ToolError(Code.TASK_CLOSED, f"{top.id} has ended in the meantime")
            # Tasks may have been opened meanwhile. They are found now, as no task above them can open more.
            late = self._cancel_below(transaction, top, payload, by)
            stopped.tasks += late.tasks
            stopped.approvals += late.approvals
            self._tell(transaction, messages)
            stopped.acting = claims_of_tasks(transaction.connection, stopped.tasks)
        return stopped

    def reopen(self, task_id: str, payload: Payload, budget: str, closing: Sequence[Message] = ()) -> None:
        """Let an ended task go on: one that is done only with a further ``request``.

        ``closing`` ends its calls whose tasks ended in the meantime.
        """
        asks_more = "request" in payload
        move = transitions.follow_up if asks_more else transitions.reopen
        with self._database.write() as transaction:
            row = transaction.run(move, task=task_id, at=self._now(), new_budget=budget).fetchone()
            if row is None:
                how = "not ended yet" if asks_more else "neither failed nor been stopped"
                raise ToolError(Code.TASK_CLOSED if not asks_more else Code.BUSY, f"{task_id} has {how}")
            self._timeline.append(transaction, task_id, EntryKind.RESUMED, "", payload)
            for message in closing:
                self._append(transaction, message)
            self.jobs.hint(transaction, task_id, *row)

    def reclaim(self, task: Task) -> bool:
        """Make a task ready whose holder is gone; return False where another process was faster."""
        return self._make_ready(task.id, task.epoch, unspent=0)

    def requeue(self, tree: str, queue: str) -> None:
        """Give a run to another process, but not what a program outside takes the turns of; what is ready is hinted at."""
        with self._database.write() as transaction:
            transaction.touch_tasks()
            transaction.run(transitions.hold_run, of_tree=tree).fetchall()
            transaction.run(transitions.requeue, of_tree=tree, to_queue=queue)
            for task in tasks_of_tree(transaction.connection, tree):
                if task.status == "ready" and not task.is_outside:
                    self._offer(transaction, task, queue)

    def hint_again(self, waiting: Sequence[Task]) -> None:
        """Repeat the hints of tasks that have been ready for long; a hint may have been lost."""
        with self._database.write() as transaction:
            for task in sorted(waiting, key=lambda task: task.id, reverse=True):
                self._offer(transaction, task, task.queue)

    def _announce(self, transaction: Transaction, task_id: str) -> None:
        """Tell watchers that a task has another status; where an entry says so, the entry's event does."""
        announce(transaction, "task", self._now(), task_id)

    def _offer(self, transaction: Transaction, task: Task, queue: str) -> None:
        if task.boot == transitions.ASIDE:
            # The worker that held it may be gone since.
            transaction.run(transitions.come_forward, task=task.id, by_boot=self._boot_id)
        self.jobs.hint(transaction, task.id, queue, task.wake)

    def _insert(self, transaction: Transaction, task: NewTask) -> None:
        waits = task.role == PERSON
        at = self._now()
        insert_task(
            transaction,
            self._desks.sealer.key,
            task.id,
            kind=task.kind,
            actor=task.actor,
            role=task.role,
            status="blocked" if waits else "ready",
            boot=self._boot_id,
            at=at,
            parent_id=task.parent_id,
            parent_call=task.parent_call,
            tree=task.tree or task.id,
            queue=task.queue,
            depth=task.depth,
            title=task.title,
            wake=0 if waits else 1,
            woken_at=at,
            budget=task.budget,
        )
        self._timeline.append(transaction, task.id, EntryKind.OPENED, "", task.payload)
        self._timeline.forget(task.id)
        if not waits:
            self.jobs.hint(transaction, task.id, task.queue, 1)

    def _make_ready(self, task_id: str, epoch: int, unspent: int) -> bool:
        with self._database.write() as transaction:
            row = transaction.run(
                transitions.let_go, task=task_id, held=epoch, at=self._now(), unspent=unspent
            ).fetchone()
            if row is not None:
                self._announce(transaction, task_id)
                self.jobs.hint(transaction, task_id, *row)
        return row is not None

    def _finish(self, transaction: Transaction, task: Task, ending: Ending, epoch: int) -> None:
        self._cancel_below(transaction, task, _abandoned(task), _ENDED_ABOVE)
        hold_task(transaction, task.id)
        self._end(transaction, task, ending.status, ending.payload, ENDED, epoch)
        self._tell(transaction, ending.messages)

    def _end(
        self, transaction: Transaction, task: Task, status: Status, payload: Payload, by: str, epoch: int = 0
    ) -> list[Approval]:
        return self._endings.end(
            transaction, task.id, status, payload, by, epoch=epoch, is_unproven_ended=True
        )

    def _tell(self, transaction: Transaction, messages: Sequence[Message]) -> None:
        for message in messages:
            if find_task(transaction.connection, message.task_id) is None:
                log.warning("%s is not told of what it waits for: its row is gone", message.task_id)
                continue
            with left_as_it_is(message.task_id):
                self._append(transaction, message)
            self._endings.wake(transaction, message.task_id)
            self._endings.close_desk_if_idle(transaction, message.task_id)

    def _append(self, transaction: Transaction, message: Message) -> None:
        self._timeline.append(transaction, message.task_id, message.kind, message.call_id, message.payload)

    def _cancel_below(self, transaction: Transaction, task: Task, payload: Payload, by: str) -> Stopped:
        stopped = Stopped()
        for child in live_children(transaction.connection, task.id):
            below = self._cancel_below(transaction, child, payload, by)
            stopped.tasks += below.tasks
            stopped.approvals += below.approvals
            self._cancel_one(transaction, child, payload, by, stopped)
        return stopped

    def _cancel_one(
        self, transaction: Transaction, task: Task, payload: Payload, by: str, stopped: Stopped
    ) -> None:
        if hold_task(transaction, task.id).has_ended:
            return
        stopped.approvals += self._end(transaction, task, "cancelled", payload, by)
        stopped.tasks.append(task.id)

    def _require_held(self, transaction: Transaction, held: Held) -> None:
        row = transaction.run(transitions.standing, task=held.id).fetchone()
        if row is None or row[0] != "running" or row[1] != held.epoch:
            raise Fenced(held.id)


def _abandoned(task: Task) -> Payload:
    return {
        "type": "root",
        "tool": "stop",
        "input": {},
        "result": {"error": {"code": Code.CANCELLED.value, "message": f"{task.id}, above it, ended first"}},
    }
