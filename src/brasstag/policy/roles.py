"""Roles: which tools an agent may use."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from brasstag.settings.model import OPERATOR, RoleSettings
from brasstag.settings.places import SETTINGS_FILE
from brasstag.words.errors import ConfigError, Problem

__all__ = ["EVERY_TOOL", "OPERATOR", "Roles"]

EVERY_TOOL = "*"


class Named(Protocol):
    """A tool, as far as roles know one."""

    @property
    def name(self) -> str:
        """Its id."""


Find = Callable[[str], Named | None]
"""Finds the tool that answers to a name or an alias."""


class Roles:
    """Every role of a room; the operator is built in and may use every tool."""

    def __init__(
        self,
        roles: Mapping[str, RoleSettings],
        find: Find,
        everyone: Iterable[str] = (),
        file: str = SETTINGS_FILE,
    ) -> None:
        """Take the roles, what finds a tool by name, and tools that every role has; raise ConfigError for strangers."""
        problems = list(_strangers(roles, find, file))
        if problems:
            raise ConfigError(problems)
        shared = frozenset(everyone)
        self._tools = {
            name: shared | frozenset(_ids(settings.tools, find)) for name, settings in roles.items()
        } | {OPERATOR: frozenset({EVERY_TOOL})}

    @property
    def names(self) -> tuple[str, ...]:
        """Every role there is, in order of name."""
        return tuple(sorted(self._tools))

    def why_not(self, role: str, tool: str) -> str | None:
        """Return why a role may not use a tool, given by its id, or None when it may."""
        tools = self._tools.get(role)
        if tools is None:
            return f"there is no role {role!r}; this room has {', '.join(self.names)}"
        if tool in tools or EVERY_TOOL in tools:
            return None
        usable = ", ".join(sorted(tools)) or "no tool at all"
        return f"the role {role} may not use {tool}; it may use {usable}"


def _strangers(roles: Mapping[str, RoleSettings], find: Find, file: str) -> Iterator[Problem]:
    for role, settings in roles.items():
        for index, name in enumerate(settings.tools):
            if name != EVERY_TOOL and find(name) is None:
                what = f"{name!r} is no tool of this room"
                yield Problem(file, f"roles.{role}.tools[{index}]", what, "`brasstag tools` lists them.")


def _ids(names: Iterable[str], find: Find) -> Iterator[str]:
    for name in names:
        tool = find(name)
        yield name if tool is None else tool.name
