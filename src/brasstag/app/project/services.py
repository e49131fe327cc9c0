"""Services: the code in a project's ``tools/`` folder that its roles name, loaded once a person has accepted it."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from brasstag.engine.agents import Service
from brasstag.settings import SETTINGS_FILE, TOOLS_DIRECTORY, RoleSettings
from brasstag.toolkit.discovery import load_file
from brasstag.words.errors import ConfigError, Problem


def load_services(project: Path, roles: Mapping[str, RoleSettings]) -> dict[str, Service]:
    """Load the code that serves each role that names some; raise ConfigError where it cannot be loaded."""
    found: dict[str, Service] = {}
    for name, role in roles.items():
        if role.service is None:
            continue
        file, function = _place(project, role.service)
        try:
            found[name] = getattr(load_file(file), function)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a file may do anything while it loads
            what = f"{role.service!r} cannot be loaded: {type(error).__name__}: {error}"
            mend = f"Correct {file.relative_to(project).as_posix()}."
            raise ConfigError([Problem(SETTINGS_FILE, f"roles.{name}.service", what, mend)]) from None
    return found


def strange_services(project: Path, roles: Mapping[str, RoleSettings]) -> Iterator[Problem]:
    """Yield a problem for each service that is not there, as far as it shows without running anything."""
    for name, role in roles.items():
        if role.service is None:
            continue
        file, function = _place(project, role.service)
        shown = file.relative_to(project).as_posix()
        if not _declares(file, function):
            what = f"{role.service!r} is not there"
            mend = f"Write `async def {function}(context)` into {shown}."
            yield Problem(SETTINGS_FILE, f"roles.{name}.service", what, mend)


def _place(project: Path, service: str) -> tuple[Path, str]:
    module, _, function = service.partition(":")
    return project / TOOLS_DIRECTORY / f"{module}.py", function


def _declares(file: Path, function: str) -> bool:
    try:
        module = ast.parse(file.read_bytes())
    except FileNotFoundError:
        return False
    except (OSError, SyntaxError, ValueError, RecursionError):
        # What is wrong with the file itself is told where it is loaded.
        return True
    return any(isinstance(one, ast.AsyncFunctionDef) and one.name == function for one in module.body)
