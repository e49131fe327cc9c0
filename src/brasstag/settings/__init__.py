"""Settings: ``brasstag.toml``, read once.

Places are cheap to ask for; whatever needs pydantic is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from brasstag.settings.places import (
    SETTINGS_FILE,
    STATE_DIRECTORY,
    TOOLS_DIRECTORY,
    find_project,
    user_directory,
)

if TYPE_CHECKING:
    from brasstag.settings.crew import BudgetSettings, CrewSettings, RoleSettings, route_name
    from brasstag.settings.model import (
        ApprovalSettings,
        DocumentSettings,
        ExampleSettings,
        LimitSettings,
        ProfileName,
        RoomSettings,
        RuleSettings,
        Settings,
        ToolSettings,
        WebSettings,
    )
    from brasstag.settings.read import parse_settings, read_settings, readable_settings
    from brasstag.settings.write import template, toml_string

__all__ = [
    "SETTINGS_FILE",
    "STATE_DIRECTORY",
    "TOOLS_DIRECTORY",
    "ApprovalSettings",
    "BudgetSettings",
    "CrewSettings",
    "DocumentSettings",
    "ExampleSettings",
    "LimitSettings",
    "ProfileName",
    "RoleSettings",
    "RoomSettings",
    "RuleSettings",
    "Settings",
    "ToolSettings",
    "WebSettings",
    "find_project",
    "parse_settings",
    "read_settings",
    "readable_settings",
    "route_name",
    "template",
    "toml_string",
    "user_directory",
]

_ELSEWHERE = {
    "BudgetSettings": "crew",
    "CrewSettings": "crew",
    "RoleSettings": "crew",
    "route_name": "crew",
    "parse_settings": "read",
    "read_settings": "read",
    "readable_settings": "read",
    "template": "write",
    "toml_string": "write",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"brasstag.settings has no {name}")
    return getattr(import_module(f"brasstag.settings.{_ELSEWHERE.get(name, 'model')}"), name)
