"""A process that outlives the command that starts it: its own session, no terminal, output in a file."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from brasstag.words.errors import Code, ToolError

LARGEST_LOG = 5_000_000
"""A log larger than this is started again from empty."""


def start_detached(arguments: Sequence[str], log: Path, *, without: Sequence[str] = ()) -> int:
    """Start Brasstag with these arguments in the background, and return its process id.

    What it prints is added to ``log``; the variables named in ``without`` are not handed down.
    """
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        log.unlink()
    environment = {name: value for name, value in os.environ.items() if name not in without}
    # Not from the current directory: that may be a workspace, and whatever lies there is not ours to import.
    command = [sys.executable, "-P", "-m", "brasstag", *arguments]
    appended = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        return os.posix_spawn(
            sys.executable,
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), appended, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except (OSError, NotImplementedError) as error:
        raise ToolError(
            Code.NOT_SUPPORTED,
            f"no process could be started in the background: {error}",
            hint="run `brasstag worker` yourself",
        ) from None


def exit_code(pid: int) -> int | None:
    """Return how a process that this one started ended, and let go of it; None while it runs."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found == pid else None
