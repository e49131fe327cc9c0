"""The queue of approvals: list, show, approve, deny."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.console import Output, print_json, say, table, wants_json
from brasstag.surfaces.cli.rooms import HERE, Project, open_books, open_room, run

if TYPE_CHECKING:
    from brasstag.app.room import Room
    from brasstag.words.approvals import Approval
    from brasstag.words.calls import Outcome

app = typer.Typer(help="What waits for a person: list, show, approve, deny.", invoke_without_command=True)

Ids = Annotated[list[str], typer.Argument(help="Ids, or their last few characters.")]


@app.callback()
def approvals(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List what waits, when no command is given."""
    if context.invoked_subcommand is None:
        run(_list(project, output, everything=False))


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Also those already decided.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List approvals, oldest first."""
    run(_list(project, output, everything))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Its id, or the end of it.")],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show one approval in full: arguments, what it would change as a diff, and the rule that asked."""
    run(_show(project, name, output))


@app.command()
def approve(
    names: Ids,
    edit: Annotated[bool, typer.Option("--edit", help="Change the arguments in your editor first.")] = False,
    arguments: Annotated[
        str | None,
        typer.Option("--arguments", help="Changed arguments, as JSON; for approving without an editor."),
    ] = None,
    always: Annotated[
        bool,
        typer.Option("--always", help="Also write the narrow rule that allows exactly this from now on."),
    ] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Approve one or several, and run what was approved."""
    if (edit or arguments is not None) and len(names) > 1:
        raise typer.BadParameter("edit one approval at a time")
    raise typer.Exit(run(_approve(project, names, edit, arguments, always, output)))


@app.command()
def deny(
    names: Ids,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Told to whoever made the call.")] = "",
    project: Project = HERE,
) -> None:
    """Deny one or several; whoever asked is told why and goes on."""
    run(_deny(project, names, reason))


async def _list(project: Path, output: str | None, everything: bool) -> None:
    from brasstag.words.approvals import ApprovalState

    async with open_books(project) as vault:
        states = () if everything else (ApprovalState.OPEN, ApprovalState.APPROVED)
        found = await _decisions(vault).list(*states)
    if wants_json(output):  # type: ignore[arg-type]
        for approval in found:
            print_json(_as_json(approval))
    elif not found:
        say("Nothing waits." if not everything else "There have been no approvals.", "dim")
    else:
        table(
            ("id", "state", "tool", "by", "asked", "why"),
            (
                (
                    one.id,
                    one.state.value,
                    one.tool,
                    f"{one.actor} as {one.role}",
                    one.requested_at[:19],
                    one.reason,
                )
                for one in found
            ),
            styles={0: "bold", 1: "yellow"},
        )


async def _show(project: Path, name: str, output: str | None) -> None:
    async with open_books(project) as vault:
        approval = await _decisions(vault).get(name)
        if wants_json(output):  # type: ignore[arg-type]
            print_json(_as_json(approval))
        else:
            print_approval(approval, vault.books.blobs)


def print_approval(approval: "Approval", blobs: Any) -> None:
    """Print all a person has to know before they decide."""
    from brasstag.surfaces.cli.diffs import print_arguments, print_preview

    say(f"{approval.id} · {approval.state.value}", "bold")
    say(f"{approval.actor} as {approval.role} wants to use {approval.tool}", "bold yellow")
    say(f"  asked because {approval.reason} [{approval.rule}]")
    print_arguments(approval.arguments)
    if approval.original_arguments is not None:
        say("  the call as it was made:", "dim")
        print_arguments(approval.original_arguments)
    print_preview(approval.preview, blobs)
    if approval.expires_at:
        say(f"  lapses at {approval.expires_at}", "dim")
    if approval.decided_by:
        say(f"  {approval.state.value} by {approval.decided_by} at {approval.decided_at}. {approval.note}")


async def prompt(room: "Room", approval_id: str) -> "Outcome | None":
    """Ask the person at the terminal; None when they would rather decide later."""
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.approvals import ApprovalResponse
    from brasstag.words.calls import Failed
    from brasstag.words.errors import Code

    approval = await room.approval(approval_id)
    print_approval(approval, room.books.blobs)
    while True:
        answer = typer.prompt("approve, edit, deny or later?", default="later").strip().lower()
        if answer in ("approve", "a"):
            return await approve_one(room, approval_id)
        if answer in ("edit", "e"):
            edited = _edited(approval.arguments)
            if await _accept_edit(room, approval, edited, ask=True):
                return await room.resume(approval_id)
        if answer in ("deny", "d"):
            reason = typer.prompt("why?", default="", show_default=False)
            denied = await room.decide(
                approval_id, ApprovalResponse(False, reason=reason), require_approver()
            )
            return Failed(Code.DENIED, f"a person denied this call: {denied.note or 'no reason was given'}")
        if answer in ("later", "l"):
            return None


async def approve_one(room: "Room", name: str) -> "Outcome":
    """Approve exactly what the approval shows, and run it."""
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.approvals import ApprovalResponse, ApprovalState

    approval = await room.approval(name)
    if approval.state is not ApprovalState.APPROVED:
        await room.decide(
            approval.id, ApprovalResponse(True), require_approver(), seen=approval.preview.digest
        )
    return await room.resume(approval.id)


async def _approve(
    project: Path, names: list[str], edit: bool, arguments: str | None, always: bool, output: str | None
) -> int:
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.errors import ConfigError, UntrustedError

    require_approver()
    try:
        async with open_room(project, "approve") as room:
            return await _approve_each(room, project, names, edit, arguments, always, output)
    except (ConfigError, UntrustedError) as error:
        return await _approve_only(project, names, str(error))


async def _approve_each(
    room: "Room",
    project: Path,
    names: list[str],
    edit: bool,
    arguments: str | None,
    always: bool,
    output: str | None,
) -> int:
    from brasstag.surfaces.cli.call import show_outcome

    worst = 0
    for name in names:
        approval = await room.approval(name)
        changed = (
            _changed_arguments(arguments)
            if arguments is not None
            else _edited(approval.arguments)
            if edit
            else None
        )
        if changed is not None:
            if not await _accept_edit(room, approval, changed, ask=arguments is None):
                return worst
            outcome = await room.resume(approval.id)
        else:
            outcome = await approve_one(room, approval.id)
        worst = max(worst, show_outcome(outcome, output))  # type: ignore[arg-type]
        if always:
            _write_rule(room, project, await room.approval(approval.id))
    return worst


async def _approve_only(project: Path, names: list[str], why: str) -> int:
    """Write the decision down although nothing can run now."""
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.approvals import ApprovalResponse

    async with open_books(project) as vault:
        decisions = _decisions(vault)
        for name in names:
            approval = await decisions.get(name)
            await decisions.decide(
                approval, ApprovalResponse(True), require_approver(), seen=approval.preview.digest
            )
            say(f"{approval.id} is approved, but cannot run yet:", "yellow", stderr=True)
    say(f"{why}\nMend that, then run `brasstag approvals approve` again.", stderr=True)
    return 1


async def _deny(project: Path, names: list[str], reason: str) -> None:
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.approvals import ApprovalResponse

    async with open_books(project) as vault:
        decisions = _decisions(vault)
        for name in names:
            approval = await decisions.get(name)
            await decisions.decide(approval, ApprovalResponse(False, reason=reason), require_approver())
            vault.books.close_if_idle(approval.task_id)
            say(f"Denied {approval.tool} ({approval.id}).")


async def _accept_edit(room: "Room", approval: "Approval", changed: Mapping[str, Any], *, ask: bool) -> bool:
    from brasstag.surfaces.cli.diffs import print_arguments, print_preview
    from brasstag.surfaces.cli.people import require_approver
    from brasstag.words.approvals import ApprovalResponse

    looked = await room.preview_edit(approval, changed)
    if ask:
        say("With your changes it would:", "bold")
        print_arguments(looked.admitted.call.arguments)
        if looked.draft is not None:
            looked.draft.persist()
        print_preview(looked.preview, room.books.blobs)
        if not typer.confirm("Approve this?"):
            return False
    response = ApprovalResponse(True, modified_args=dict(changed))
    await room.decide(approval.id, response, require_approver(), seen=looked.preview.digest)
    return True


def _edited(arguments: Mapping[str, Any]) -> dict[str, Any]:
    from brasstag.sandbox.editor import edit_text

    return _changed_arguments(edit_text(json.dumps(dict(arguments), indent=2, ensure_ascii=False), ".json"))


def _changed_arguments(text: str) -> dict[str, Any]:
    try:
        changed = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"the changed arguments are not JSON: {error}") from None
    if not isinstance(changed, dict):
        raise typer.BadParameter("the changed arguments are not a JSON object")
    return changed


def _write_rule(room: "Room", project: Path, approval: "Approval") -> None:
    from brasstag.app.trust import add_rule_text
    from brasstag.settings import find_project

    rule = room.narrow_rule(
        approval, f"approved by {approval.decided_by} on {(approval.decided_at or '')[:10]}"
    )
    if not isinstance(rule, str):
        say(f"No rule was written: {rule.because}.", "yellow")
        return
    add_rule_text(find_project(project), room.vault.folder, rule)
    say("From now on this is allowed, by a rule added to brasstag.toml:", "bold")
    say(rule)


def _decisions(vault: Any) -> Any:
    from brasstag.engine.decisions import Decisions
    from brasstag.engine.threads import Threads

    return Decisions(vault.books, Threads())


def _as_json(approval: "Approval") -> dict[str, Any]:
    return {
        "approvalId": approval.id,
        "state": approval.state.value,
        **approval.request.as_json(),
        "actor": approval.actor,
        "role": approval.role,
        "rule": approval.rule,
        "preview": approval.preview.as_json(),
        "digest": approval.digest,
        "requestedAt": approval.requested_at,
        "expiresAt": approval.expires_at,
        "decidedBy": approval.decided_by,
        "decidedAt": approval.decided_at,
        "note": approval.note,
    }
