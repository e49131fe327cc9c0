"""Wait for the end of a call that needs a person or an agent first."""

import asyncio

from brasstag.app.approvals import Approvals
from brasstag.app.runs import Runs
from brasstag.app.watch.output import Listener
from brasstag.sandbox.threads import Threads
from brasstag.store.store import Store
from brasstag.store.tasks.approvals import approval_of_call
from brasstag.store.tasks.rows import find_task
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.calls import Failed, Outcome, Waiting
from brasstag.words.errors import Code, ToolError

POLL_SECONDS = 0.25
"""How often to look whether a person has decided."""


class Awaited:
    """Waits for the calls of one room that did not end at once."""

    def __init__(self, approvals: Approvals, runs: Runs, store: Store, threads: Threads) -> None:
        self._approvals = approvals
        self._runs = runs
        self._store = store
        self._threads = threads

    async def of(self, waiting: Waiting, on_output: Listener | None) -> Outcome:
        """Wait until a person has decided and the call has ended, here or where they decided; or its task has."""
        if waiting.task_id:
            return await self._returned(waiting.task_id)
        while True:
            approval = await self._approvals.get(waiting.approval_id)
            if approval.state is ApprovalState.EXPIRED:
                # A person may have decided in the last moment, before the expiry was written.
                await self._approvals.expire_due()
                approval = await self._approvals.get(waiting.approval_id)
            if approval.state is ApprovalState.APPROVED:
                outcome = await self._approvals.resume(approval.id, on_output)
                if not isinstance(outcome, Failed) or outcome.code is not Code.APPROVAL_CLOSED:
                    return outcome
            elif approval.state is not ApprovalState.OPEN:
                ended = await self._threads.run(self._ended_elsewhere, approval)
                if ended is not None:
                    return ended
            await asyncio.sleep(POLL_SECONDS)

    async def _returned(self, task_id: str) -> Outcome:
        """Wait for the end of a task that a call of this room's desk opened."""
        task = await self._runs.task(task_id)
        if task.kind == "agent" and not task.has_ended:
            await self._runs.serve_run(task.tree)
        await self._runs.finished(task_id)
        outcome = await self._threads.run(self._approvals.outcome_of, task.parent_id, task.parent_call)
        if outcome is None:
            raise ToolError(
                Code.TASK_NOT_FOUND, f"{task_id} has ended, and {task.parent_id} was not told of it"
            )
        return outcome

    def _ended_elsewhere(self, approval: Approval) -> Outcome | None:
        """Say how a call ended that another process went on with; None while it still runs."""
        newest = self._store.read(lambda view: approval_of_call(view, approval.call_id))
        if newest is not None and newest.id != approval.id:
            return Waiting(newest.id, newest.reason)
        told = self._approvals.outcome_of(approval.task_id, approval.call_id)
        if told is not None:
            return told
        if approval.state is ApprovalState.CONSUMED or self._is_asked_anew(approval):
            return None
        return Failed(Code.DENIED, f"a person denied this call: {approval.note or approval.state.value}")

    def _is_asked_anew(self, approval: Approval) -> bool:
        """Say whether a call whose approval was withdrawn will be asked about again: its task goes on."""
        task = self._store.read(lambda view: find_task(view, approval.task_id))
        return approval.state is ApprovalState.VOID and task is not None and not task.has_ended
