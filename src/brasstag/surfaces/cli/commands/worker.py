"""A worker: it works on every run of a room, and says what it takes and leaves."""

from typing import Annotated

import typer

from brasstag.surfaces.cli.commands.options import HERE, Output, Project
from brasstag.surfaces.cli.session.rooms import run as in_loop


def worker(
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="How many tasks at once; what the settings say if left out.")
    ] = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Leave once nothing can go on without a person.")
    ] = False,
    linger: Annotated[
        float, typer.Option(min=0, help="With --until-idle: wait so many seconds more for people.")
    ] = 0,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Work on every run of this room, until stopped.

    Ctrl-C or SIGTERM: what is under way is given back at its next step; a second one breaks it off.
    """
    from brasstag.surfaces.cli.actions.serve import Working

    if linger and not until_idle:
        raise typer.BadParameter(
            "--linger goes with --until-idle; without it a worker never leaves by itself"
        )
    raise typer.Exit(in_loop(Working(project, output, concurrency, linger if until_idle else None).work()))
