"""Approvals of an open room: look one up, decide it, resume its call."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from brasstag.app.runs import Runs
from brasstag.app.watch.output import Listener
from brasstag.engine.calls.approvals import call_of
from brasstag.engine.calls.counter import Counter
from brasstag.engine.calls.edit import EditedCall
from brasstag.engine.calls.judge import landing_of
from brasstag.engine.calls.permit import PermissionRequest, permissions_of, permit, revoke
from brasstag.engine.runtime import Runtime
from brasstag.policy.narrow import NoRule, narrow_rule
from brasstag.policy.profiles import facts_of
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState, Approver, Permission
from brasstag.words.calls import Outcome, Tag, from_stored

_DENIALS = (ApprovalState.DENIED, ApprovalState.EXPIRED)


class Approvals:
    """What people decide about the calls of one room."""

    def __init__(self, runtime: Runtime, counter: Counter, runs: Runs, desk_now: Callable[[], str]) -> None:
        self._runtime = runtime
        self._counter = counter
        self._decisions = counter.decisions
        self._runs = runs
        self._desk_now = desk_now

    async def of(self, *states: ApprovalState) -> list[Approval]:
        """Return approvals in these states, or all of them, oldest first."""
        return await self._runtime.threads.run(self._decisions.list, *states)

    async def get(self, name: str) -> Approval:
        """Return one approval, by its id or the end of it."""
        return await self._runtime.threads.run(self._decisions.get, name)

    async def expire_due(self) -> None:
        """Write down that approvals have expired whose time is up."""
        await self._runtime.threads.run(self._decisions.expire_due)

    async def preview_edit(self, approval: Approval, arguments: Mapping[str, Any]) -> EditedCall:
        """Find out what an approval's call would do with other arguments."""
        return await self._counter.preview_edit(approval, arguments)

    async def decide(
        self, approval_id: str, response: ApprovalResponse, by: Approver, seen: str | None
    ) -> Approval:
        """Write down a person's answer; ``seen`` is the digest of the preview they were shown."""
        return await self._counter.decide(approval_id, response, by, seen)

    async def resume(self, approval_id: str, on_output: Listener | None) -> Outcome:
        """Go on with a call that was approved; a desk that waited for nothing else closes then.

        Where a person denied the call, or did not answer in time, that is its outcome.
        """
        approval = await self.get(approval_id)
        if approval.state in _DENIALS:
            await self.expire_due()
            ended = await self._runtime.threads.run(self.outcome_of, approval.task_id, approval.call_id)
            if ended is not None:
                return ended
        async with self._runs.telling(on_output, approval.call_id):
            outcome = await self._counter.resume(approval.id)
        if approval.task_id != self._desk_now():
            await self._runtime.threads.run(self._runtime.store.close_if_idle, approval.task_id)
        return self._runtime.registry.shown(approval.tool, outcome)

    async def permit(self, name: str, by: Approver, wanted: PermissionRequest) -> Permission:
        """Give a timed permission, and approve the open call that it is made from."""
        return await self._runtime.threads.run(permit, self._runtime, name, by, wanted)

    async def permissions(self, *, everything: bool) -> list[Permission]:
        """Return the permissions that count now, or all of them, oldest first."""
        return await self._runtime.threads.run(partial(permissions_of, self._runtime, everything=everything))

    async def revoke(self, name: str, by: Approver) -> Permission:
        """Take a timed permission back."""
        return await self._runtime.threads.run(revoke, self._runtime.store, name, by)

    def outcome_of(self, task_id: str, call_id: str) -> Outcome | None:
        """Return what a timeline tells of the end of a call, or None where it does not yet."""
        for entry in reversed(self._runtime.store.entries(task_id, call_id)):
            if entry.payload is not None and "outcome" in entry.payload:
                outcome = replace(from_stored(entry.payload), tag=Tag(entry.tag, entry.hash))
                return self._runtime.registry.shown(str(entry.payload.get("tool", "")), outcome)
        return None

    def narrow_rule(self, approval: Approval, because: str) -> str | NoRule:
        """Return, as TOML, the narrowest rule that would allow what was approved from now on."""
        call = call_of(approval)
        if self._decisions.ran(approval) is not None:
            call, facts = landing_of(call)
            return narrow_rule(self._runtime.policy.rules, call, approval.preview, facts, (), because)
        tool = self._runtime.registry.get(approval.tool)
        if tool is None:
            return NoRule(f"{approval.tool} is not a tool of this room any more")
        facts = facts_of(tool, call)
        return narrow_rule(
            self._runtime.policy.rules, call, approval.preview, facts, tool.config.parameters, because
        )
