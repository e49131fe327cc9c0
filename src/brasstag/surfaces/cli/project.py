"""The project itself: init, trust, stop, doctor, gc."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from brasstag.surfaces.cli.console import Output, print_json, say, wants_json
from brasstag.surfaces.cli.rooms import HERE, Project, offer_trust, open_books, run

DAY_SECONDS = 86_400


def init(
    directory: Annotated[Path, typer.Argument(help="Where; made if it is not there.")] = HERE,
    workspace: Annotated[str, typer.Option(help="The one directory tools may touch.")] = "data",
    profile: Annotated[
        Literal["careful", "trusted", "locked"], typer.Option(help="What calls may do unasked.")
    ] = "careful",
) -> None:
    """Make a project: brasstag.toml, the workspace, and the room's state."""
    from brasstag.app.trust import Trust
    from brasstag.app.vault import open_vault, require_same_room
    from brasstag.settings import SETTINGS_FILE, STATE_DIRECTORY, read_settings, template
    from brasstag.words.errors import Code, ToolError

    project = directory.absolute()
    file = project / SETTINGS_FILE
    if file.exists():
        raise ToolError(Code.ALREADY_EXISTS, f"{file} is there already; edit it, or choose another directory")
    project.mkdir(parents=True, exist_ok=True)
    file.write_text(template(workspace, profile), encoding="utf-8")
    read_settings(project).workspace(project).mkdir(parents=True, exist_ok=True)
    vault = open_vault(project)
    try:
        (project / STATE_DIRECTORY / ".gitignore").write_text("*\n")
        trust = Trust(project, vault.folder)
        # Whoever runs init has just made these; tools that lay here before are shown first, like any other change.
        trust.accept([change for change in trust.changes() if change.path == SETTINGS_FILE])
        require_same_room(project, vault, accept=True)
    finally:
        vault.close()
    say(f"Made a room in {project}; tools may touch {workspace}/, profile {profile}.", "green")
    say("Try: brasstag call write_file path=hello.md content='# Hello'")


def trust(
    yes: Annotated[
        bool, typer.Option("--yes", help="Accept; needs a terminal or an approver's token.")
    ] = False,
    project: Project = HERE,
) -> None:
    """Show how control files changed since you last accepted them, and accept them."""
    from brasstag.settings import find_project
    from brasstag.surfaces.cli.people import require_approver

    require_approver()
    accepted = offer_trust(find_project(project), (lambda _question: True) if yes else None)
    say("Accepted." if accepted else "Nothing was accepted.")
    raise typer.Exit(0 if accepted else 1)


def stop(
    task: Annotated[str, typer.Argument(help="The task, or the end of its id.")], project: Project = HERE
) -> None:
    """Stop a task: it is closed, and whatever waits for approval in it is withdrawn."""
    run(_stop(project, task))


def gc(
    grace_days: Annotated[float, typer.Option(min=0, help="Spare what is younger than this.")] = 7,
    project: Project = HERE,
) -> None:
    """Delete kept contents that no version, claim or open approval names any more."""
    run(_gc(project, grace_days))


def doctor(output: Output = None, project: Project = HERE) -> None:
    """Say what works here and what does not; works when settings or tools are broken."""
    from brasstag.surfaces.cli.doctor import examine

    checks = examine(project)
    if wants_json(output):
        print_json([{"what": check.what, "ok": check.ok, "found": check.found} for check in checks])
    else:
        for check in checks:
            say(f"{'✓' if check.ok else '✗'} {check.what}: {check.found}", "green" if check.ok else "red")
    sys.stdout.flush()
    raise typer.Exit(0 if all(check.ok for check in checks) else 1)


async def _stop(project: Path, name: str) -> None:
    from brasstag.store.tasks import get_task
    from brasstag.surfaces.cli.people import user_name

    async with open_books(project) as vault:
        task = vault.books.read(lambda view: get_task(view, name))
        end = {"type": "root", "tool": "desk", "input": {}, "result": {"stopped_by": user_name()}}
        withdrawn = vault.books.close_task(task.id, "cancelled", end, withdraw=user_name())
    say(f"Stopped {task.id}.")
    for approval in withdrawn:
        say(f"  withdrew {approval.tool} ({approval.id})")


async def _gc(project: Path, grace_days: float) -> None:
    from brasstag.store.keeping import named_blobs

    async with open_books(project) as vault:
        keep = vault.books.read(named_blobs)
        count, size = vault.books.blobs.collect(keep, grace_days * DAY_SECONDS)
    say(f"Deleted {count} contents, {size} bytes; {len(keep)} are named and kept.")
