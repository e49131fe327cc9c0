"""Settings: ``brasstag.toml``, read once.

places    where things are: the project, its state, the user's own directory
model     what may stand in the file, section by section
reading   the file into Settings, or every problem in it
problems  a refusal of pydantic as a Problem a person can mend
writing   TOML that we write: the first file of a project, and text in it
"""

from brasstag.settings.model import (
    ApprovalSettings,
    ExampleSettings,
    LimitSettings,
    ProfileName,
    RoleSettings,
    RoomSettings,
    RuleSettings,
    Settings,
    ToolSettings,
)
from brasstag.settings.places import (
    SETTINGS_FILE,
    STATE_DIRECTORY,
    TOOLS_DIRECTORY,
    find_project,
    user_directory,
)
from brasstag.settings.reading import parse_settings, read_settings
from brasstag.settings.writing import template, toml_string

__all__ = [
    "SETTINGS_FILE",
    "STATE_DIRECTORY",
    "TOOLS_DIRECTORY",
    "ApprovalSettings",
    "ExampleSettings",
    "LimitSettings",
    "ProfileName",
    "RoleSettings",
    "RoomSettings",
    "RuleSettings",
    "Settings",
    "ToolSettings",
    "find_project",
    "parse_settings",
    "read_settings",
    "template",
    "toml_string",
    "user_directory",
]
