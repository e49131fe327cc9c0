"""A person's decision on an approval, with changed arguments or without, and what follows."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brasstag.engine import Decisions
from brasstag.surfaces.cli.session.people import require_approver
from brasstag.surfaces.cli.show.diffs import print_arguments, print_preview
from brasstag.surfaces.cli.show.programs import print_ran
from brasstag.surfaces.cli.terminal.console import quote, say
from brasstag.surfaces.cli.terminal.prompts import ask_meanwhile, confirm_meanwhile
from brasstag.words.approvals import Approval, ApprovalResponse, ApprovalState
from brasstag.words.calls import Failed, Outcome, Waiting
from brasstag.words.errors import Code, ToolError, with_hint

if TYPE_CHECKING:
    from brasstag.app import Room
    from brasstag.store import Blobs
    from brasstag.surfaces.cli.show.program_output import Live


@dataclass(frozen=True, slots=True)
class Noted:
    """A yes to a call of an agent: it made the task ready, and the worker of its run goes on."""

    approval: Approval
    run: str


Decided = Outcome | Noted


def print_approval(approval: Approval, blobs: "Blobs", ran: Mapping[str, Any] | None = None) -> None:
    """Print all a person has to know to decide; ``ran`` is the end of a call whose changes they decide about."""
    say(f"{approval.id} · {approval.state.value}", "bold")
    wants = (
        f"wants to use {approval.tool}"
        if ran is None
        else f"used {approval.tool}, and wants its changes to land"
    )
    quote(f"{asker(approval)} {wants}", "bold yellow", indent="")
    quote(f"asked because {approval.reason} [{approval.rule}]", indent="  ")
    print_arguments(approval.arguments)
    if approval.original_arguments is not None:
        say("  the call as it was made:", "dim")
        print_arguments(approval.original_arguments)
    if ran is not None:
        print_ran(ran)
    print_preview(approval.preview, blobs)
    if approval.expires_at:
        say(f"  lapses at {approval.expires_at}", "dim")
    if approval.decided_by:
        decided = f"{approval.state.value} by {approval.decided_by} at {approval.decided_at}. {approval.note}"
        quote(decided, indent="  ")


def asker(approval: Approval) -> str:
    """Say who asks: an agent by its role and task, any other caller by name and role."""
    if approval.actor == f"agent:{approval.role}":
        return f"{approval.role} ({approval.task_id})"
    return f"{approval.actor} as {approval.role}"


async def prompt(room: "Room", approval_id: str) -> Decided | None:
    """Ask the person at the terminal; None when they would rather decide later."""
    approval = await room.approval(approval_id)
    ran = Decisions(room.store).ran(approval)
    print_approval(approval, room.store.blobs, ran)
    # The changes of a call that has run can only land or not; other arguments would make it another call.
    offered = "approve, edit, deny or later" if ran is None else "approve, deny or later"
    while True:
        match (await ask_meanwhile(f"{offered}? [later]") or "later").lower():
            case "approve" | "a":
                return await approve(room, approval.id, seen=approval.preview.digest)
            case "edit" | "e" if ran is None:
                outcome = await _edit_here(room, approval)
                if outcome is not None:
                    return outcome
            case "deny" | "d":
                reason = await ask_meanwhile("why?")
                if reason is None:
                    return None
                return await _decide(room, approval, ApprovalResponse(False, reason=reason))
            case "later" | "l":
                return None


async def prompt_until_decided(room: "Room", waiting: Waiting, live: "Live") -> Outcome:
    """Ask the person at the terminal, and again if an approved call asks once more; return how that ended."""
    outcome: Outcome = waiting
    while isinstance(outcome, Waiting) and outcome.approval_id:
        async with live.shown():
            answered = await prompt(room, outcome.approval_id)
        if answered is None or isinstance(answered, Noted):
            break
        outcome = answered
    return outcome


async def approve(room: "Room", name: str, seen: str | None = None) -> Decided:
    """Approve exactly what the approval shows, and run it; one that was approved before only runs."""
    approval = await room.approval(name)
    if approval.state is ApprovalState.APPROVED:
        return await _go_on(room, approval)
    return await _decide(room, approval, ApprovalResponse(True), seen or approval.preview.digest)


async def approve_edited(
    room: "Room", approval: Approval, arguments: Mapping[str, Any], *, asks: bool
) -> Decided | None:
    """Approve a call with other arguments, and run it; None when a person saw what it would do and said no.

    Raises ToolError for arguments that cannot be used.
    """
    edited = await room.preview_edit(approval, arguments)
    if asks:
        say("With your changes it would be:", "bold")
        print_arguments(edited.arguments)
        print_preview(edited.preview, room.store.blobs)
        if not await confirm_meanwhile("Approve this?"):
            return None
    response = ApprovalResponse(True, modified_args=dict(arguments))
    return await _decide(room, approval, response, edited.preview.digest)


def edited_arguments(approval: Approval) -> dict[str, Any]:
    """Let the person change the arguments in their editor."""
    from brasstag.sandbox import edit_text

    return read_arguments(
        edit_text(json.dumps(dict(approval.arguments), indent=2, ensure_ascii=False), ".json")
    )


def read_arguments(text: str) -> dict[str, Any]:
    """Read changed arguments strictly, because nothing that a person approves may be guessed."""
    try:
        changed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolError(Code.INVALID_ARGUMENTS, f"the changed arguments are not JSON: {error}") from None
    if not isinstance(changed, dict):
        raise ToolError(Code.INVALID_ARGUMENTS, "the changed arguments are not a JSON object")
    return changed


async def _edit_here(room: "Room", approval: Approval) -> Decided | None:
    try:
        changed = await asyncio.to_thread(edited_arguments, approval)
        return await approve_edited(room, approval, changed, asks=True)
    except ToolError as error:
        say(f"{error.code.value}: {with_hint(error.message, error.hint)}", "red")
        return None


async def _decide(
    room: "Room", approval: Approval, response: ApprovalResponse, seen: str | None = None
) -> Decided:
    try:
        decided = await room.decide(approval.id, response, require_approver(), seen=seen)
    except ToolError as error:
        return Failed.by(error)
    if response.approved:
        return await _go_on(room, decided)
    return await room.wait(Waiting(decided.id, decided.reason))


async def _go_on(room: "Room", approval: Approval) -> Decided:
    """Run a desk's call here; an agent's call runs where its task runs."""
    task = await room.task(approval.task_id)
    return await room.resume(approval.id) if task.is_desk else Noted(approval, task.tree)
