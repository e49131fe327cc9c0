"""The form in which commands print, read by itself: commands have to print something while other settings are broken."""

from pathlib import Path
from typing import Literal

from brasstag.settings.places import SETTINGS_FILE, find_project
from brasstag.words.errors import ConfigError

OutputName = Literal["people", "json"]


def chosen_output(start: Path) -> OutputName:
    """Return ``[cli] output`` of the project at or above ``start``.

    Where there is no project, or the file cannot be used, it is the default; reading all settings names what is wrong.
    """
    import tomllib  # noqa: PLC0415 - the name of the type alone is asked for by every command, also by --help

    try:
        found = tomllib.loads((find_project(start) / SETTINGS_FILE).read_bytes().decode())
    except (ConfigError, OSError, ValueError):
        return "people"
    section = found.get("cli")
    return "json" if isinstance(section, dict) and section.get("output") == "json" else "people"
