"""Remove temporary names that past calls left anywhere in the workspace."""

import os
import stat
from collections.abc import Callable

from brasstag.sandbox.workspace.change.renames import call_in, discard, state_at
from brasstag.sandbox.workspace.paths import ROOT, join_path
from brasstag.sandbox.workspace.workspace import READ_DIRECTORY, Workspace
from brasstag.words.errors import ToolError
from brasstag.words.previews import digest_in


def sweep(workspace: Workspace, is_live: Callable[[str], bool]) -> int:
    """Remove the temporary files of every call that is not live; return how many.

    What a call took from its place goes only if the blobs have the same bytes; anything else is left for a person.
    """
    count = 0
    pending = [ROOT]
    while pending:
        path = pending.pop()
        try:
            with workspace.directory(path, READ_DIRECTORY) as directory:
                for name in os.listdir(directory):
                    if call_in(name):
                        count += _sweep_one(workspace, directory, name, is_live)
                    elif _is_open_directory(workspace, directory, path, name):
                        pending.append(join_path(path, name))
        except (OSError, ToolError):
            # Gone, not readable, or an environment: no call of ours has worked in there.
            continue
    return count


def _sweep_one(workspace: Workspace, directory: int, name: str, is_live: Callable[[str], bool]) -> int:
    call_id = call_in(name)
    if call_id is None or is_live(call_id):
        return 0
    if name.endswith((".old", ".src")):
        digest = digest_in(state_at(directory, name))
        if digest is None or not workspace.blobs.has(digest):
            return 0
    discard(directory, name)
    return 1


def _is_open_directory(workspace: Workspace, directory: int, path: str, name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    return stat.S_ISDIR(status.st_mode) and not workspace.control.covers(join_path(path, name))
