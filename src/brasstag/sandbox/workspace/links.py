"""Where links lead, in the workspace as it is or as a change would leave it."""

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile

from brasstag.sandbox.workspace.paths import ROOT, Circle, join_path, splice
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import SecurityError, ToolError

OUT = "it is a link out of the workspace, through another link"
CONTROL = "it is a link to a control file, through another link"

LinkAt = Callable[[str], str | None]
"""Gives the target of the link at a path, or None where there is no link."""


def why_not(workspace: Workspace, path: str, link_at: LinkAt) -> str | None:
    """Say what is wrong with where a link leads, followed as the kernel would follow it: OUT, CONTROL or nothing."""
    try:
        splice(path, link_at, workspace.control.refuse, follow_last=True)
    except Circle:
        # It leads nowhere, for every program.
        return None
    except SecurityError:
        return OUT
    except ToolError:
        return CONTROL
    return None


def climbs_late(target: str) -> bool:
    """Say whether a link goes up from a place it has gone down to: which that is depends on the links on its way."""
    parts = [part for part in target.split("/") if part not in ("", ".")]
    return ".." in parts[sum(1 for _ in takewhile(lambda part: part == "..", parts)) :]


def climbing_links(workspace: Workspace, is_left_out: Callable[[str], bool]) -> list[str]:
    """Find the links on disk that go up behind a name: where they lead depends on what that name is."""
    found: list[str] = []
    pending = [ROOT]
    while pending:
        place = pending.pop()
        with (
            # A directory that cannot be read cannot lead any program anywhere.
            suppress(OSError, ToolError),
            workspace.directory(place, READ_DIRECTORY) as directory,
            os.scandir(directory) as entries,
        ):
            for entry in entries:
                path = join_path(place, entry.name)
                if is_left_out(path) or workspace.control.covers(path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                elif entry.is_symlink() and climbs_late(os.readlink(entry.name, dir_fd=directory)):
                    found.append(path)
    return sorted(found)
