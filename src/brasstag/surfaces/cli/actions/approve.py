"""Approve from the queue: one or several, with changed arguments, with a rule for next time, or for a time."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brasstag.engine import Decisions
from brasstag.surfaces.cli.follow import decide
from brasstag.surfaces.cli.follow.who_continues import is_served, who_continues
from brasstag.surfaces.cli.session.people import require_approver
from brasstag.surfaces.cli.session.rooms import open_room, open_store
from brasstag.surfaces.cli.show.outcomes import show_outcome, tell_log
from brasstag.surfaces.cli.show.program_output import Live
from brasstag.surfaces.cli.terminal.console import OutputName, can_ask, quote, report, say, wants_json
from brasstag.surfaces.cli.terminal.exits import Exit
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState
from brasstag.words.calls import Done, Waiting
from brasstag.words.errors import ConfigError, UntrustedError

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.policy import NoRule


@dataclass(frozen=True, slots=True)
class Approving:
    """How a person approves: as it is, edited here, or with arguments given as JSON; and whether for the next time too."""

    project: Path
    output: OutputName | None
    edit: bool = False
    arguments: str | None = None
    always: bool = False
    minutes: float | None = None
    """How long the same is allowed; None for this call only."""
    pattern: str = ""

    async def approve(self, names: list[str]) -> int:
        """Approve these and run them; return the worst exit code."""
        require_approver()
        async with AsyncExitStack() as stack:
            try:
                room = await stack.enter_async_context(open_room(self.project, "approve"))
            except (ConfigError, UntrustedError) as error:
                if self.edit or self.arguments is not None or self.always or self.minutes is not None:
                    raise
                return self._write_down(names, str(error))
            # All are looked up before the first is decided, so that a mistyped id decides nothing.
            found = [await room.approval(name) for name in names]
            return max([await self._approve_one(room, approval) for approval in found])

    async def _decide(self, room: "Room", approval: Approval) -> decide.Decided | None:
        if self.edit:
            changed = decide.edited_arguments(approval)
            return await decide.approve_edited(room, approval, changed, asks=True)
        if self.arguments is not None:
            changed = decide.read_arguments(self.arguments)
            return await decide.approve_edited(room, approval, changed, asks=False)
        return await decide.approve(room, approval.id)

    async def _approve_one(self, room: "Room", approval: Approval) -> int:
        found = await self._permit(room, approval)
        if found and approval.state is ApprovalState.CONSUMED:
            report(self.output, {"approvalId": approval.id, **found}, f"{approval.tool} has run already.")
            return Exit.DONE
        live = Live(room)
        async with live.shown():
            outcome = await self._decide(room, approval)
        if outcome is None:
            say("Nothing was approved; the approval stays open.")
            return Exit.WAITING
        if isinstance(outcome, decide.Noted):
            return self._tell_noted(room, outcome, found)
        used = await room.approval(approval.id)
        if isinstance(outcome, Waiting) and used.state is ApprovalState.VOID and can_ask(self.output):
            say("What you approved has changed since, so nothing was done yet.", "yellow")
            outcome = await decide.prompt_until_decided(room, outcome, live)
        outcome = live.rest_of(outcome, self.output)
        # Code that was approved may wait again, for its changes to land.
        went_on = isinstance(outcome, Done | Waiting) and used.state is ApprovalState.CONSUMED
        if not self.always or not went_on:
            code = show_outcome(outcome, self.output, approval.tool, approvalId=approval.id, **found)
            tell_log(room.state.tracebacks, outcome, self.output)
            return code
        rule = self._write_rule(room, used)
        found |= {"rule": rule} if isinstance(rule, str) else {"noRule": rule.because}
        code = show_outcome(outcome, self.output, approval.tool, approvalId=approval.id, **found)
        if not wants_json(self.output):
            _tell_rule(rule)
        return code

    async def _permit(self, room: "Room", approval: Approval) -> dict[str, Any]:
        """Allow the same for a time, if that is wanted, and say so; the call is approved in the same commit."""
        if self.minutes is None:
            return {}
        from brasstag.surfaces.cli.commands.permissions import as_json
        from brasstag.surfaces.cli.terminal.numbers import local_time

        who = require_approver()
        permission = await room.permit(
            approval.id, who, pattern=self.pattern, minutes=self.minutes, seen=approval.preview.digest
        )
        if not wants_json(self.output):
            until = local_time(permission.expires_at)
            say(f"Allowed for {permission.role} until {until} ({permission.id}):")
            quote(permission.covers, indent="  ")
        return {"permission": as_json(permission)}

    def _tell_noted(self, room: "Room", noted: decide.Noted, more: dict[str, Any]) -> int:
        approval, served = noted.approval, is_served(room.state, noted.run)
        found = {
            "approvalId": approval.id,
            "state": "approved",
            "ran": False,
            "run": noted.run,
            "served": served,
        } | more
        rule = self._write_rule(room, approval) if self.always else None
        if rule is not None:
            found |= {"rule": rule} if isinstance(rule, str) else {"noRule": rule.because}
        approved = f"Approved {approval.tool} ({approval.id}) for {approval.role}."
        report(self.output, found, f"{approved} {who_continues(noted.run, served)}")
        if rule is not None and not wants_json(self.output):
            _tell_rule(rule)
        return Exit.DONE

    def _write_rule(self, room: "Room", approval: Approval) -> "str | NoRule":
        from brasstag.app import add_rule_text
        from brasstag.policy import NoRule
        from brasstag.settings import find_project

        day = (approval.decided_at or "")[:10]
        rule = room.narrow_rule(approval, f"approved by {approval.decided_by} on {day}")
        if isinstance(rule, str):
            try:
                add_rule_text(find_project(self.project), room.state.folder, rule)
            except (ConfigError, UntrustedError, OSError) as error:
                return NoRule(f"it could not be added to brasstag.toml: {error}")
        return rule

    def _write_down(self, names: list[str], why: str) -> int:
        """Record the decisions, although no call can run now."""
        with open_store(self.project) as room_state:
            decisions = Decisions(room_state.store)
            for approval in [decisions.get(name) for name in names]:
                if approval.state is not ApprovalState.APPROVED:
                    yes = ApprovalResponse(True)
                    decisions.decide(approval, yes, require_approver(), seen=approval.preview.digest)
                report(
                    self.output,
                    {"approvalId": approval.id, "state": "approved", "ran": False},
                    f"{approval.id} is approved, but cannot run yet.",
                    "yellow",
                )
        say(f"{why}\nMend that, then run `brasstag approvals approve` again.", stderr=True)
        return Exit.FAILED


def _tell_rule(rule: "str | NoRule") -> None:
    if isinstance(rule, str):
        say("From now on this is allowed, by a rule added to brasstag.toml:", "bold")
        say(rule.strip())
    else:
        say(f"No rule was written: {rule.because}.", "yellow")
