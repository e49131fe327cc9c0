"""The Python of a project, and what confined code has to see of the host to run it."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from brasstag.sandbox.workspace.control import ENVIRONMENT_MARK

_NAMES = (".venv", "venv")
# Bound for every job anyway.
_SYSTEM = Path("/usr")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that runs confined when ``binds`` are given to the job."""

    program: str
    binds: tuple[Path, ...]


def project_python(workspace: Path) -> Interpreter:
    """Return the Python of the environment in a workspace, or the one that runs Brasstag."""
    for name in _NAMES:
        environment = workspace / name
        program = environment / "bin" / "python"
        if (environment / ENVIRONMENT_MARK).is_file() and program.exists():
            return Interpreter(str(program), _binds(environment, _home(environment), program))
    return running_python()


def running_python() -> Interpreter:
    """Return the Python that runs this very process, with its packages."""
    program = Path(sys.executable)
    return Interpreter(str(program), _binds(Path(sys.prefix), Path(sys.base_prefix), program))


def _home(environment: Path) -> Path:
    for line in (environment / ENVIRONMENT_MARK).read_text().splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home":
            return Path(value.strip()).parent
    return environment


def _binds(environment: Path, base: Path, program: Path) -> tuple[Path, ...]:
    found: dict[Path, None] = {}
    for place in (environment, base, *_behind_links(program)):
        for path in (place, place.resolve()):
            # A prefix that is the root of everything is no interpreter's own directory.
            if not path.is_relative_to(_SYSTEM) and path != Path("/") and path.is_dir():
                found[path] = None
    return tuple(
        path for path in found if not any(path != other and path.is_relative_to(other) for other in found)
    )


def _behind_links(program: Path) -> Iterator[Path]:
    """Yield the prefix of every step from a program's name to the file it is."""
    for _ in range(10):
        yield program.parent.parent
        if not program.is_symlink():
            return
        program = program.parent / program.readlink()
