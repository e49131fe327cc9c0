"""Serve the control room."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brasstag.surfaces.cli.commands.options import Output
from brasstag.surfaces.cli.session.rooms import run as in_loop
from brasstag.surfaces.cli.terminal.console import at_terminal, report, say

if TYPE_CHECKING:
    from brasstag.app import Level
    from brasstag.surfaces.web.security.doors import Doors


def serve(
    projects: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="The projects to serve; this one by default.")
    ] = None,
    port: Annotated[int, typer.Option(help="The port; a free one by default.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="The address to listen on; other machines need TLS and a name.")
    ] = "127.0.0.1",
    name: Annotated[str, typer.Option(help="The host name by which other machines know this one.")] = "",
    tls_cert: Annotated[str | None, typer.Option(help="The certificate for https, a PEM file.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="The key of the certificate, a PEM file.")] = None,
    output: Output = None,
) -> None:
    """Open the control room, where people look and decide.

    It listens on this machine only, and works on the runs of its rooms. At a terminal it prints a link with which you log in
    as an approver; elsewhere the link lets a person only look.
    """
    from brasstag.app import new_link, user_name
    from brasstag.surfaces.web.security.doors import ServeOptions
    from brasstag.surfaces.web.server import serve as serve_rooms

    level: Level = "approver" if at_terminal() else "viewer"

    def ready(doors: "Doors") -> None:
        link = f"{doors.origin}/login/{new_link(user_name(), level, user_name())}"
        report(
            output,
            {"event": "serving", "link": link, "level": level, "api": doors.api},
            link,
        )
        say(
            f"Open this link to log in as {level}; it works once. Ctrl-C ends the control room.",
            "dim",
            stderr=True,
        )

    options = ServeOptions(port, host, name, tls_cert, tls_key)
    in_loop(serve_rooms([Path(one) for one in projects or ["."]], options, f"web:{user_name()}", ready))
