"""The Python of a project, and the host files that confined code needs to run it."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from brasstag.sandbox.process.job import PATH
from brasstag.sandbox.workspace.control import ENVIRONMENT_MARK

_NAMES = (".venv", "venv")
# What every job has anyway; nothing can be put there.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives")
_LIBRARIES = ("lib", "lib64")
# An installation that carries the libraries of the system itself, in a directory of its own.
_CONDA_MARK = "conda-meta"
_LANDMARK = "os.py"
_MOST_LINKS = 40


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that runs confined when ``binds`` are given to the job."""

    program: str
    binds: tuple[Path, ...]

    @property
    def path(self) -> str:
        """The PATH on which it comes first."""
        return f"{os.path.dirname(self.program)}:{PATH}"


def project_python(workspace: Path) -> Interpreter:
    """Return the Python of the environment in a workspace, or the one that runs Brasstag."""
    for name in _NAMES:
        environment = workspace / name
        program = environment / "bin" / "python"
        if (environment / ENVIRONMENT_MARK).is_file() and program.exists():
            return Interpreter(str(program), _binds(program, [_home(environment)]))
    return running_python()


def running_python() -> Interpreter:
    """Return the Python that runs this very process, with its packages."""
    return Interpreter(sys.executable, _binds(Path(sys.executable), [Path(sys.base_prefix)]))


def next_step(link: Path) -> Path:
    """Return what a link leads to, named by the directory that really holds it."""
    target = os.path.join(os.path.realpath(link.parent), os.readlink(link))
    return Path(os.path.realpath(os.path.dirname(target)), os.path.basename(target))


def _home(environment: Path) -> Path:
    for line in (environment / ENVIRONMENT_MARK).read_text().splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home":
            return Path(value.strip()).parent
    return environment


def _binds(program: Path, bases: Iterable[Path]) -> tuple[Path, ...]:
    """Return what a Python needs, and no directory that could hold anything else."""
    steps = list(_behind_links(program))
    prefixes = dict.fromkeys([*(step.parent.parent for step in steps), *bases])
    wanted = [path for prefix in prefixes for place in (prefix, prefix.resolve()) for path in _parts(place)]
    # First the directories: a file or a link that lies in one is there already.
    found = dict.fromkeys(path for path in (*wanted, *steps) if not _is_system(path))
    return tuple(path for path in found if not any(above in found for above in path.parents))


def _parts(prefix: Path) -> Iterator[Path]:
    """Yield what of a prefix belongs to a Python: all it needs of an environment, or of an installation."""
    if (prefix / ENVIRONMENT_MARK).is_file():
        yield prefix / ENVIRONMENT_MARK
        yield prefix / "bin"
        yield from _packages(prefix, "site-packages")
    elif (prefix / _CONDA_MARK).is_dir():
        yield from (prefix / name for name in ("bin", "lib", "ssl") if (prefix / name).is_dir())
    else:
        yield from _packages(prefix, _LANDMARK)


def _packages(prefix: Path, mark: str) -> Iterator[Path]:
    versions = {
        place.name
        for name in _LIBRARIES
        for place in prefix.glob(f"{name}/python3*")
        if (place / mark).exists()
    }
    for name in _LIBRARIES if versions else ():
        yield from (place for version in versions if (place := prefix / name / version).is_dir())
        yield from (place for place in prefix.glob(f"{name}/*.so*") if place.is_file())


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in _SYSTEM)


def _behind_links(program: Path) -> Iterator[Path]:
    """Yield every step from a program's name to the file it is; that one also by its real directory."""
    for _ in range(_MOST_LINKS):
        yield program
        if not program.is_symlink():
            yield program.resolve()
            return
        program = next_step(program)
