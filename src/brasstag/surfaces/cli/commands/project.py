"""The project itself: init, trust, doctor, gc."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from brasstag.surfaces.cli.commands.options import HERE, Output, Project
from brasstag.surfaces.cli.session.rooms import open_store
from brasstag.surfaces.cli.terminal.console import (
    OutputName,
    can_ask,
    print_json,
    report,
    say,
    wants_json,
)
from brasstag.surfaces.cli.terminal.exits import Exit

if TYPE_CHECKING:
    from brasstag.surfaces.cli.session.trust import Unaccepted

DAY_SECONDS = 86_400


def _crews(incomplete: str) -> list[str]:
    from brasstag.app import crew_names

    return [name for name in crew_names() if name.startswith(incomplete)]


def init(
    directory: Annotated[
        Path, typer.Argument(help="The directory of the project; created if it does not exist.")
    ] = HERE,
    crew: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Add a crew of agents: analyst, developer or novel.", autocompletion=_crews
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="The one directory that tools may touch; data, unless the crew names another.",
        ),
    ] = None,
    profile: Annotated[
        Literal["careful", "trusted", "locked"] | None,
        typer.Option(help="What calls may do without approval; careful, unless the crew names another."),
    ] = None,
    output: Output = None,
) -> None:
    """Create a project with settings and a workspace."""
    from brasstag.app import control_files, create_project

    project = directory.resolve()
    created = create_project(project, workspace, profile, crew)
    place, chosen = created.workspace, created.settings.room.profile
    made, kept = ([_from(project, path) for path in paths] for paths in (created.made, created.kept))
    unseen = sorted(control_files(project).keys() - set(made))
    if wants_json(output):
        found = {
            "project": str(project),
            "workspace": str(place),
            "profile": chosen,
            "crew": crew,
            "made": made,
            "kept": kept,
            "unaccepted": unseen,
        }
        print_json(found)
        return
    shown = f"{place}" if place == project else f"{_from(project, place)}/"
    say(f"Made a room in {project}; tools may touch {shown}, profile {chosen}.", "green")
    if unseen:
        say(
            f"tools/ was here before; `brasstag trust` shows its {len(unseen)} files before they are loaded.",
            "yellow",
        )
    there = "" if project == Path.cwd() else f"cd {shlex.quote(str(directory))} && "
    if created.crew is None:
        say(f"Try: {there}brasstag call write_file path=hello.md content='# Hello'")
        return
    say(f"Crew {crew}: {', '.join(created.settings.roles)}. brasstag.toml defines them.")
    for name in made:
        say(f"  made {name}")
    for name in kept:
        say(f"  kept {name}, which was here before", "yellow")
    say(f'Try: {there}brasstag run "{created.crew.first_request}"')


def _from(project: Path, path: Path) -> str:
    """Return a path relative to the project, or the whole path where it lies elsewhere."""
    return path.relative_to(project).as_posix() if path.is_relative_to(project) else str(path)


def trust(
    yes: Annotated[
        bool, typer.Option("--yes", help="Accept the changes; needs a terminal or an approver's token.")
    ] = False,
    effects: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=WORD",
            help="Say where a tool acts that does not say so: workspace, ask or free. Repeat it for more tools.",
        ),
    ] = None,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Show changed control files, and ask you to accept them.

    Changed control files are not loaded until you accept them. Files with mistakes, and Python that does not
    load, cannot be accepted. Where a new or
    changed tool does not say where it acts, you are asked that, too.
    """
    from brasstag.settings import find_project
    from brasstag.surfaces.cli.session.effects import read_effects, settle_effects
    from brasstag.surfaces.cli.session.people import require_approver
    from brasstag.surfaces.cli.session.trust import Unaccepted
    from brasstag.surfaces.cli.terminal.prompts import confirm
    from brasstag.words.errors import WAYS_TO_ACCEPT, ConfigError

    given = read_effects(effects or ())
    if yes or given:
        require_approver()
    root = find_project(project)
    found = Unaccepted.look(root)
    if not found:
        told = {"effects": settle_effects(root, given, asks=False)} if given else {}
        said = "Nothing has changed since you last accepted it."
        report(output, {"accepted": True, "changes": []} | told, "Accepted." if given else said)
        return
    if not wants_json(output):
        found.show(stderr=False)
    if found.problems:
        _refuse(found, output)
    accepted = yes or (can_ask(output) and confirm("Load these control files from now on?"))
    told = {}
    if accepted:
        require_approver()
        try:
            found.accept(given)
        except ConfigError as error:
            _refuse(replace(found, problems=tuple(error.problems)), output)
        told = {"effects": settle_effects(root, given, asks=not yes)}
    how = "" if accepted or can_ask(output) else f" {WAYS_TO_ACCEPT}"
    report(
        output,
        {"accepted": accepted, "changes": found.as_json()} | told,
        "Accepted." if accepted else f"Nothing was accepted.{how}",
    )
    raise typer.Exit(Exit.DONE if accepted else Exit.FAILED)


def _refuse(found: "Unaccepted", output: OutputName | None) -> NoReturn:
    """Say why files that could not be loaded are not accepted."""
    from brasstag.surfaces.cli.terminal.failures import paragraph
    from brasstag.words.errors import ConfigError

    if wants_json(output):
        problems = [str(problem) for problem in found.problems]
        print_json({"accepted": False, "changes": found.as_json(), "problems": problems})
    else:
        reason = paragraph(ConfigError(found.problems))
        say(f"Nothing was accepted, as this could not be loaded. {reason}", "red", stderr=True)
    raise typer.Exit(Exit.FAILED)


def gc(
    grace_days: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="Keep what is newer than this many days.")
    ] = 7,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Delete stored file contents that nothing needs any more.

    It keeps contents that a version, a running call or a waiting approval needs, and those newer than --grace-days.
    It also deletes what processes that were killed left half written.
    """
    from brasstag.store import named_blobs

    with open_store(project) as room_state:
        keep = room_state.store.read(named_blobs)
        count, size = room_state.store.blobs.collect(keep, grace_days * DAY_SECONDS)
        room_state.boot.sweep()
    report(
        output,
        {"deleted": count, "bytes": size, "kept": len(keep)},
        f"Deleted {count} contents, {size} bytes; {len(keep)} are named and kept.",
    )


def doctor(output: Output = None, project: Project = HERE) -> None:
    """Check this machine and this project, and report problems.

    It also runs when settings or tools are broken. It loads no control file that was not accepted.
    """
    from brasstag.surfaces.cli.commands.doctor import examine

    checks = list(examine(project))
    for check in checks:
        report(
            output,
            {"what": check.what, "ok": check.ok, "found": check.found},
            f"{'✓' if check.ok else '✗'} {check.what}: {check.found}",
            "green" if check.ok else "red",
        )
    raise typer.Exit(Exit.DONE if all(check.ok for check in checks) else Exit.FAILED)
