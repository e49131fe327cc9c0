"""The queue of approvals: list, show, approve, deny."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.commands.complete import approval_ids
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, Output, Project, pass_on
from brasstag.surfaces.cli.session.rooms import open_store, run
from brasstag.surfaces.cli.terminal.console import (
    OutputName,
    can_ask,
    print_json,
    quote,
    report,
    say,
    wants_json,
)

if TYPE_CHECKING:
    from brasstag.app import RoomState
    from brasstag.words.approvals import Approval

app = CommandGroup(
    help="List, show, approve and deny calls that wait for a person.", invoke_without_command=True
)

Ids = Annotated[
    list[str], typer.Argument(help="The ids of approvals, or the ends of them.", autocompletion=approval_ids)
]


@app.callback()
def approvals(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List the open approvals, when no command is given."""
    pass_on(context, project, output)
    if context.invoked_subcommand is None:
        _list(project, output, everything=False)


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Also list approvals that are decided.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List approvals, oldest first."""
    _list(project, output, everything)


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(help="The id of the approval, or the end of it.", autocompletion=approval_ids)
    ],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show one approval: its arguments, its changes and its reason."""
    _show(project, name, output)


@app.command()
def approve(
    names: Ids,
    edit: Annotated[bool, typer.Option("--edit", help="Change the arguments in your editor first.")] = False,
    arguments: Annotated[
        str | None,
        typer.Option("--arguments", help="Approve with these arguments instead, given as JSON."),
    ] = None,
    always: Annotated[
        bool,
        typer.Option(
            "--always",
            help="Also add a rule that allows this role the same call at these paths from now on.",
        ),
    ] = False,
    lasts: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="DURATION",
            help="Also allow this role the same for so long, 8h at most: 30m, 1h.",
        ),
    ] = "",
    pattern: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="With --for: what is allowed besides this call, as in rules: 'reports/**', 'command: git *'.",
        ),
    ] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Approve one or more calls, and run them."""
    minutes = _minutes(lasts, pattern, changed=edit or always or arguments is not None)
    if edit and arguments is not None:
        raise typer.BadParameter("change the arguments in one way: --edit or --arguments")
    if (edit or arguments is not None) and len(names) > 1:
        raise typer.BadParameter("edit one approval at a time")
    if edit and not can_ask(output):
        raise typer.BadParameter("--edit shows you the change first, so it needs a terminal; use --arguments")
    from brasstag.surfaces.cli.actions.approve import Approving

    approving = Approving(project, output, edit, arguments, always, minutes, pattern)
    raise typer.Exit(run(approving.approve(list(dict.fromkeys(names)))))


@app.command()
def deny(
    names: Ids,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Tell the caller why.")] = "",
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Deny one or more calls. The caller is told why, and continues without them."""
    raise typer.Exit(_deny(project, list(dict.fromkeys(names)), reason, output))


def _minutes(lasts: str, pattern: str, *, changed: bool) -> float | None:
    """Return how long a permission is to last; None where none is wanted."""
    from brasstag.surfaces.cli.terminal.numbers import minutes_of

    if pattern and not lasts:
        raise typer.BadParameter("--pattern says what is allowed for a time; give --for as well")
    if lasts and changed:
        raise typer.BadParameter(
            "--for allows what was asked; use it without --edit, --arguments and --always"
        )
    try:
        return minutes_of(lasts) if lasts else None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _list(project: Path, output: OutputName | None, everything: bool) -> None:
    from brasstag.engine import Decisions
    from brasstag.surfaces.cli.follow.decide import asker
    from brasstag.surfaces.cli.terminal.numbers import local_time
    from brasstag.words.approvals import WAITING_STATES

    with open_store(project) as room_state:
        states = () if everything else WAITING_STATES
        decisions = Decisions(room_state.store)
        found = decisions.list(*states)
        if wants_json(output):
            for approval in found:
                print_json(_as_json(approval, decisions.ran(approval)))
            return
    for approval in found:
        say(f"{approval.id}  {approval.state.value}  {approval.tool}", "bold")
        quote(approval.reason, indent="  ")
        quote(f"{asker(approval)}, {local_time(approval.requested_at)}", "dim", indent="  ")
    if not found:
        say("There have been no approvals." if everything else "No approval is open.", "dim")
    elif not everything:
        say("`brasstag approvals show ID` shows one; `approve ID` and `deny ID` decide.", "dim")


def _show(project: Path, name: str, output: OutputName | None) -> None:
    from brasstag.engine import Decisions
    from brasstag.surfaces.cli.follow.decide import print_approval
    from brasstag.surfaces.cli.show.diffs import conflicts_json

    with open_store(project) as room_state:
        decisions = Decisions(room_state.store)
        approval = decisions.get(name)
        ran = decisions.ran(approval)
        if wants_json(output):
            found = conflicts_json(approval.preview, room_state.store.blobs)
            print_json(_as_json(approval, ran) | ({"conflicts": found} if found else {}))
        else:
            print_approval(approval, room_state.store.blobs, ran)


def _deny(project: Path, names: list[str], reason: str, output: OutputName | None) -> int:
    from brasstag.engine import Decisions
    from brasstag.surfaces.cli.session.people import require_approver
    from brasstag.surfaces.cli.terminal import failures
    from brasstag.words.approvals import ApprovalResponse
    from brasstag.words.errors import ToolError

    who = require_approver()
    worst = 0
    with open_store(project) as room_state:
        decisions = Decisions(room_state.store)
        for approval in [decisions.get(name) for name in names]:
            try:
                decisions.decide(approval, ApprovalResponse(False, reason=reason), who)
            except ToolError as error:
                worst = max(worst, failures.tell(error))
                continue
            room_state.store.close_if_idle(approval.task_id)
            ran = decisions.ran(approval)
            report(
                output,
                {"approvalId": approval.id, "state": "denied", "tool": approval.tool, "reason": reason}
                | _kept(ran),
                f"Denied {approval.tool} ({approval.id}).{_kept_said(ran)}{_then(room_state, approval)}",
            )
    return worst


def _then(room_state: "RoomState", approval: "Approval") -> str:
    """Say which process continues the run, if an agent's call was denied."""
    from brasstag.surfaces.cli.follow.who_continues import is_served, who_continues

    task = room_state.store.task(approval.task_id)
    return "" if task.is_desk else f" {who_continues(task.tree, is_served(room_state, task.tree))}"


def _kept(ran: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return where the changes of a call that has run are kept, and what the call said."""
    return {} if ran is None else {"ran": ran["result"], "patch": ran["meta"].get("patch")}


def _kept_said(ran: Mapping[str, Any] | None) -> str:
    if ran is None:
        return ""
    patch = ran["meta"].get("patch")
    return (
        f" It had run; its changes were not applied{f', but are kept as a patch: {patch}' if patch else ''}."
    )


def _as_json(approval: "Approval", ran: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "approvalId": approval.id,
        "state": approval.state.value,
        **approval.request.as_json(),
        "originalArgs": approval.original_arguments,
        "actor": approval.actor,
        "role": approval.role,
        "taskId": approval.task_id,
        "rule": approval.rule,
        "preview": approval.preview.as_json(),
        "digest": approval.digest,
        "requestedAt": approval.requested_at,
        "expiresAt": approval.expires_at,
        "decidedBy": approval.decided_by,
        "decidedAt": approval.decided_at,
        "note": approval.note,
    } | _kept(ran)
