"""Find programs of the host that cannot have been put there from the workspace."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_VERSION = re.compile(rb"(\d+)\.(\d+)(?:\.(\d+))?")


def trusted_programs(name: str, directories: Iterable[str], workspace: Path) -> Iterator[Path]:
    """Yield the programs of this name, in the order of the directories; none of them can be reached from the workspace."""
    for directory in dict.fromkeys(directories):
        if not directory.startswith("/"):
            continue
        program = Path(directory, name).resolve()
        if program.is_relative_to(workspace) or Path(directory).absolute().is_relative_to(workspace):
            continue
        if _is_trustworthy(program):
            yield program


def _is_trustworthy(program: Path) -> bool:
    try:
        status = program.stat()
    except OSError:
        return False
    is_ours = status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o022
    return stat.S_ISREG(status.st_mode) and is_ours and os.access(program, os.X_OK)


def version_in(said: bytes) -> tuple[int, ...] | None:
    """Return the first version number in what a program says of itself."""
    found = _VERSION.search(said)
    return tuple(int(part) for part in found.groups() if part is not None) if found else None
