"""A worker in the background, started where none serves the room."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from brasstag.sandbox import exit_code, start_detached
from brasstag.settings import STATE_DIRECTORY
from brasstag.surfaces.cli.follow.who_continues import is_served
from brasstag.surfaces.cli.session.people import TOKEN_VARIABLE
from brasstag.words.errors import Code, ToolError

if TYPE_CHECKING:
    from brasstag.app import RoomState

LOG_FILE = "worker.log"
LINGER_SECONDS = 8 * 3600
"""How long a worker that was started in the background waits for people who have not answered yet."""
PATIENCE_SECONDS = 30.0
_GLANCE_SECONDS = 0.05
_QUOTED_LINES = 5


async def require_worker(project: Path, room_state: "RoomState") -> int | None:
    """Start a worker for a room that has none, and return its process id; None where one serves already."""
    if is_served(room_state, ""):
        return None
    log = project / STATE_DIRECTORY / LOG_FILE
    arguments = [
        "worker",
        "--until-idle",
        "--linger",
        str(LINGER_SECONDS),
        "-C",
        str(project),
        "-o",
        "people",
    ]
    # The worker decides nothing, so it needs no approver's token.
    pid = start_detached(arguments, log, without=[TOKEN_VARIABLE])
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_SECONDS
    while loop.time() < until:
        ended = exit_code(pid)
        # Where there was little to do, it may have left already.
        if ended == 0 or is_served(room_state, ""):
            return pid
        if ended is not None:
            break
        await asyncio.sleep(_GLANCE_SECONDS)
    said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_QUOTED_LINES:]
    raise ToolError(
        Code.EXECUTION_ERROR,
        "\n  ".join(
            ["the worker in the background did not begin; the run is written down and waits. It said:", *said]
        ),
    )
