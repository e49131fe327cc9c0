"""A worker: it works on every run of a room, and says what it takes and leaves."""

from typing import Annotated

import typer

from brasstag.surfaces.cli.commands.options import HERE, Output, Project
from brasstag.surfaces.cli.session.rooms import run as in_loop


def worker(
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Work on this many tasks at once; the settings decide by default."),
    ] = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Exit once every run has ended or waits for a person.")
    ] = False,
    linger: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="With --until-idle: wait this long for answers of people before it exits.",
        ),
    ] = 0,
    output: Output = None,
    project: Project = HERE,
) -> None:
    """Work on the runs of this room until you stop it.

    After Ctrl-C or SIGTERM it gives back each task at its next step. A second signal ends it at once.
    """
    from brasstag.surfaces.cli.actions.serve import Working

    if linger and not until_idle:
        raise typer.BadParameter("--linger needs --until-idle; without that, a worker never exits by itself")
    raise typer.Exit(in_loop(Working(project, output, concurrency, linger if until_idle else None).work()))
