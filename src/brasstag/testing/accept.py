"""Control files that a test accepts, in a user directory of its own: no account of a person is touched."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brasstag.app import Trust, check_configuration, open_state, require_same_room
from brasstag.settings import STATE_DIRECTORY, USER_DIRECTORY_VARIABLE
from brasstag.words.errors import ConfigError, Problem


@contextmanager
def accepted(project: Path) -> Iterator[Path]:
    """Accept the control files of a project, as `brasstag trust` does, and yield the user directory in which that counts.

    The directory is a temporary one; it is that of this process, and of those it starts, while the block runs. Raises
    ConfigError for files that do not load, and for a project with a room: its keys lie in another user directory.
    """
    if (project / STATE_DIRECTORY).exists():
        mend = "Copy its control files, not its state, to a temporary directory, and name that."
        raise ConfigError([Problem(str(project), STATE_DIRECTORY, "is the state of a room", mend)])
    with tempfile.TemporaryDirectory(prefix="brasstag-") as folder:
        before = os.environ.get(USER_DIRECTORY_VARIABLE)
        os.environ[USER_DIRECTORY_VARIABLE] = folder
        try:
            _accept(project)
            yield Path(folder)
        finally:
            if before is None:
                del os.environ[USER_DIRECTORY_VARIABLE]
            else:
                os.environ[USER_DIRECTORY_VARIABLE] = before


def _accept(project: Path) -> None:
    if problems := check_configuration(project):
        raise ConfigError(problems)
    room_state = open_state(project)
    try:
        trust = Trust(project, room_state.folder)
        trust.accept(trust.changes())
        require_same_room(project, room_state, accept=True)
    finally:
        room_state.close()
