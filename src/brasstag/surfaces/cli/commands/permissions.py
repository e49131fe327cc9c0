"""Timed permissions: list them, take them back. `brasstag approvals approve --for` gives one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brasstag.surfaces.cli.commands.complete import permission_ids
from brasstag.surfaces.cli.commands.help import CommandGroup
from brasstag.surfaces.cli.commands.options import HERE, Output, Project, pass_on
from brasstag.surfaces.cli.session.rooms import open_room, open_store, run
from brasstag.surfaces.cli.terminal.console import OutputName, print_json, quote, report, say, wants_json

if TYPE_CHECKING:
    from brasstag.words.approvals import Permission

app = CommandGroup(help="List and revoke what people allow until a time.", invoke_without_command=True)


@app.callback()
def permissions(context: typer.Context, output: Output = None, project: Project = HERE) -> None:
    """List the timed permissions that count now, when no command is given."""
    pass_on(context, project, output)
    if context.invoked_subcommand is None:
        run(_list(project, output, everything=False))


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Also list permissions that have ended.")] = False,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """List timed permissions, oldest first."""
    run(_list(project, output, everything))


@app.command()
def revoke(
    names: Annotated[
        list[str],
        typer.Argument(help="The ids of permissions, or the ends of them.", autocompletion=permission_ids),
    ],
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Take one or more timed permissions back. From then on a person is asked again."""
    from brasstag.engine import revoke as take_back
    from brasstag.surfaces.cli.session.people import require_approver

    who = require_approver()
    with open_store(project) as room_state:
        for name in dict.fromkeys(names):
            revoked = take_back(room_state.store, name, who)
            said = f"Revoked {revoked.id}: {revoked.tool} is asked about again."
            report(output, {"permission": revoked.id, "state": revoked.state.value}, said)


async def _list(project: Path, output: OutputName | None, everything: bool) -> None:
    from brasstag.surfaces.cli.terminal.numbers import counted, local_time

    async with open_room(project, "permissions") as room:
        found = await room.permissions(all=everything)
    for permission in found:
        if wants_json(output):
            print_json(as_json(permission))
            continue
        say(f"{permission.id}  {permission.state.value}  {permission.tool} for {permission.role}", "bold")
        quote(permission.covers, indent="  ")
        until = f"{permission.approver}, until {local_time(permission.expires_at)}"
        quote(f"{until}, {counted(permission.calls, 'call')} let through", "dim", indent="  ")
    if not found and not wants_json(output):
        say("There have been no permissions." if everything else "No permission counts now.", "dim")


def as_json(permission: "Permission") -> dict[str, Any]:
    """Return what programs are told of a permission."""
    return {
        "permission": permission.id,
        "state": permission.state.value,
        "tool": permission.tool,
        "role": permission.role,
        "pattern": permission.pattern,
        "covers": permission.covers,
        "by": permission.approver,
        "grantedAt": permission.granted_at,
        "expiresAt": permission.expires_at,
        "revokedAt": permission.revoked_at,
        "revokedBy": permission.revoked_by,
        "calls": permission.calls,
        "approvalId": permission.approval_id,
        "taskId": permission.task_id,
    }
