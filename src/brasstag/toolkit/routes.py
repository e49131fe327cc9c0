"""Routes: the tools by which a role gives a task to another, made from the crew's settings."""

from collections.abc import Mapping

from brasstag.settings import SETTINGS_FILE, RoleSettings, route_name
from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.config.parameters import Parameter, Shape
from brasstag.toolkit.kinds import ToolType
from brasstag.toolkit.tool import Tool

_REQUEST = Parameter(
    type="string",
    description="What is to be done, with all it takes to do it: the other agent does not see this conversation.",
    required=True,
    min_length=1,
)
_DOCUMENTS = Parameter(
    type="array",
    items=Shape(type="string"),
    description="Workspace paths that travel with the request; the other agent finds them in its context.",
)


def route_tools(roles: Mapping[str, RoleSettings]) -> list[Tool]:
    """Return ``route_to_NAME`` for each role that another role delegates to, in the order of the settings."""
    reached = {name for role in roles.values() for name in role.delegates_to}
    return [_route(name, role) for name, role in roles.items() if name in reached]


def _route(name: str, role: RoleSettings) -> Tool:
    about = " ".join(role.description.split())
    config = ToolConfig(
        tool_id=route_name(name),
        description=f"Give a task to {name}, and wait for what comes of it. {about}",
        type=ToolType.AGENT_AS_TOOL,
        parameters={"request": _REQUEST, "documents": _DOCUMENTS},
        effects="none",
    )
    return Tool(config, origin=f"{SETTINGS_FILE}: [roles.{name}]")
