"""Toolbox: a room's tools in the forms of model providers, limited to those a role may use."""

from collections.abc import Callable
from typing import Any

from brasstag.policy.roles import OPERATOR, Roles
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import Code, ToolError

# Named here, because inside the class ``list`` is a method.
Exported = list[dict[str, Any]]
Names = list[str]


class Toolbox:
    """What one room has to offer."""

    def __init__(self, registry: ToolRegistry, roles_now: Callable[[], Roles]) -> None:
        self._registry = registry
        self._roles_now = roles_now

    def get(self, name: str) -> Tool | None:
        """Return the tool that answers to a name or an alias, whichever roles may use it."""
        return self._registry.get(name)

    def closest(self, name: str) -> str | None:
        """Return the name of the tool a wrong name probably meant, if any is close."""
        return self._registry.closest(name)

    def list(self, role: str = OPERATOR) -> list[Tool]:
        """Return the tools a role may use; raise ToolError where there is no such role."""
        roles = self._roles_now()
        if role not in roles.names:
            names = ", ".join(roles.names)
            raise ToolError(Code.INVALID_ARGUMENTS, f"there is no role {role!r}; this room has {names}")
        return [tool for tool in self._registry.list() if roles.why_not(role, tool.name) is None]

    def for_openai(self, role: str = OPERATOR, *, wrapped: bool = True, strict: bool = False) -> Exported:
        """Return OpenAI function definitions; ``wrapped`` as chat APIs and LM Studio take them."""
        return self._registry.to_openai_functions(wrapped=wrapped, strict=strict, only=self._names(role))

    def for_anthropic(self, role: str = OPERATOR) -> Exported:
        """Return Anthropic tool definitions."""
        return self._registry.to_anthropic(only=self._names(role))

    def for_mcp(self, role: str = OPERATOR) -> Exported:
        """Return MCP tool definitions, with output schemas and annotations."""
        return self._registry.to_mcp(only=self._names(role))

    def _names(self, role: str) -> Names:
        return [tool.name for tool in self.list(role)]
