"""Approvals of an open room: look one up, decide it, resume its call."""

from collections.abc import Callable, Mapping
from typing import Any

from brasstag.app.runs import Runs
from brasstag.app.watch.output import Listener
from brasstag.engine.calls.approvals import call_of
from brasstag.engine.calls.counter import Counter
from brasstag.engine.calls.edit import EditedCall
from brasstag.engine.calls.judge import landing_of
from brasstag.engine.runtime import Runtime
from brasstag.policy.narrow import NoRule, narrow_rule
from brasstag.policy.profiles import facts_of
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState, Approver
from brasstag.words.calls import Outcome


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
        """Go on with a call that was approved; a desk that waited for nothing else closes then."""
        approval = await self.get(approval_id)
        async with self._runs.telling(on_output, approval.call_id):
            outcome = await self._counter.resume(approval.id)
        if approval.task_id != self._desk_now():
            await self._runtime.threads.run(self._runtime.store.close_if_idle, approval.task_id)
        return outcome

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
