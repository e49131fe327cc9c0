"""Where things are: the project, its state, and the user's own directory."""

import os
from pathlib import Path

from brasstag.words.errors import ConfigError, Problem

SETTINGS_FILE = "brasstag.toml"
STATE_DIRECTORY = ".brasstag"
TOOLS_DIRECTORY = "tools"
WIRES_FILE = "wires.py"
"""Adds rules and tools in Python."""
USER_DIRECTORY_VARIABLE = "BRASSTAG_USER_DIR"


def find_project(start: Path) -> Path:
    """Return the nearest directory at or above ``start`` that holds a ``brasstag.toml``."""
    here = start.absolute()
    for directory in (here, *here.parents):
        if (directory / SETTINGS_FILE).is_file():
            return directory
    raise ConfigError(
        [
            Problem(
                SETTINGS_FILE,
                "",
                f"was not found in {here}, nor in any directory above it",
                "Run `brasstag init` to create a project here, or go to the directory of a project.",
            )
        ]
    )


def user_directory() -> Path:
    """Return the directory for what belongs to the user and not to a project, such as the signing key."""
    if chosen := os.environ.get(USER_DIRECTORY_VARIABLE):
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_config_path  # noqa: PLC0415 - only when the variable is not set

    return user_config_path("brasstag", appauthor=False)
