"""Read the file into Settings, or name every problem in it."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from brasstag.settings.crew import readable_roles, table, unknown_roles
from brasstag.settings.model import HOMES, Settings, ToolSettings
from brasstag.settings.places import SETTINGS_FILE, STATE_DIRECTORY, TOOLS_DIRECTORY, user_directory
from brasstag.settings.problems import problems_in
from brasstag.words.errors import ConfigError, Problem

_PLACE = re.compile(r"\s*\(at (.*)\)$")


def read_settings(project: Path) -> Settings:
    """Read and check the project's ``brasstag.toml``; raise ConfigError with everything that is wrong."""
    path = project / SETTINGS_FILE
    file = str(path)
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        mend = "Run `brasstag init` to create one."
        raise ConfigError([Problem(file, "", "does not exist", mend)]) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            [Problem(file, f"line {line}", "is not UTF-8 text", "Save the file as UTF-8.")]
        ) from None
    except OSError as error:
        mend = "Make it a file that you may read."
        raise ConfigError([Problem(file, "", f"cannot be read: {error.strerror}", mend)]) from None
    settings = parse_settings(text, file)
    if problems := list(_misplaced(settings, project, file)):
        raise ConfigError(problems)
    return settings


def readable_settings(project: Path) -> Settings:
    """Return what can be read of a file that cannot be used: its roles' tools and delegates, and which tools it sets.

    So the tools and roles that they name can be checked together with everything else.
    """
    try:
        found = tomllib.loads((project / SETTINGS_FILE).read_bytes().decode())
    except (OSError, ValueError):
        return Settings()
    tools = {name: ToolSettings() for name in table(found.get("tools"))}
    return Settings.model_construct(roles=readable_roles(found), tools=tools)


def parse_settings(text: str, file: str = SETTINGS_FILE) -> Settings:
    """Check the text of a settings file without touching any disk."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        what = _PLACE.sub("", str(error))
        mend = "Correct the TOML there; strings need quotes, and each section may appear only once."
        raise ConfigError([Problem(file, place[1] if place else "", f"is not TOML: {what}", mend)]) from None
    unknown = list(unknown_roles(found, file))
    try:
        settings = Settings.model_validate(found)
    except ValidationError as error:
        raise ConfigError([*problems_in(error, file, HOMES), *unknown]) from None
    if unknown:
        raise ConfigError(unknown)
    return settings


def _misplaced(settings: Settings, project: Path, file: str) -> Iterator[Problem]:
    """Find a workspace in which agents could reach the files that control them."""
    workspace = settings.workspace(project)
    root = project.resolve()
    mend = 'Choose a directory of its own, such as "data", or "." for the project.'
    for name in (STATE_DIRECTORY, TOOLS_DIRECTORY):
        if workspace.is_relative_to(root / name):
            yield Problem(file, "room.workspace", f"lies in {name}, which holds control files", mend)
    if workspace != root and root.is_relative_to(workspace):
        yield Problem(file, "room.workspace", "contains the whole project, with its control files", mend)
    own = user_directory().resolve()
    if own.is_relative_to(workspace) or workspace.is_relative_to(own):
        yield Problem(file, "room.workspace", f"overlaps with your configuration directory {own}", mend)
