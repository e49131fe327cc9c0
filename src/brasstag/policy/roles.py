"""Roles: which tools an agent may use, and to whom it may give work."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from brasstag.settings.crew import OPERATOR, RoleSettings, route_name
from brasstag.settings.places import SETTINGS_FILE
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem

__all__ = ["EVERYONES", "EVERY_TOOL", "OPERATOR", "Roles"]

EVERY_TOOL = "*"

EVERYONES = frozenset(
    {
        "handoff",
        "ask_master",
        "stop_and_think",
        "plan_next_steps",
        "load_prompt_tool",
        "recall",
        "save_to_short_term_memory",
        "save_to_long_term_memory",
    }
)
"""The tools of every role."""

LASTING = frozenset(
    {
        "save_to_short_term_memory",
        "save_to_long_term_memory",
        "tag_document",
        "describe_document",
        "propose_prompt_tool",
        "comment_issue",
    }
)
"""Tools whose effect outlives the node that uses them; so a node that only answers may not use them."""

ASSIGN = "assign_task"
"""The tool of every role that delegates at all."""


class ToolLookup(Protocol):
    """The lookup of a room's tools, as far as roles need it."""

    def get(self, name: str) -> Tool | None:
        """Return the tool that answers to a name or an alias."""

    def list(self) -> Sequence[Tool]:
        """Return every tool."""

    def advice(self, name: str) -> str:
        """Return what to do about a name that is no tool's."""


class Roles:
    """Every role of a room; the operator is built in, may use every tool and give work to every role."""

    def __init__(self, roles: Mapping[str, RoleSettings], lookup: ToolLookup) -> None:
        """Take the roles and the tools; raise ConfigError for a tool that is missing, or not for that role."""
        problems = list(_unknown_names(roles, lookup))
        if problems:
            raise ConfigError(problems)
        self._lookup = lookup
        self._routes = {route_name(name): name for name in roles}
        self._delegates = {name: frozenset(role.delegates_to) for name, role in roles.items()} | {
            OPERATOR: frozenset(roles)
        }
        self._tools = {name: _tools_of(role, lookup) for name, role in roles.items()} | {
            OPERATOR: frozenset({EVERY_TOOL})
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every role there is, in order of name."""
        return tuple(sorted(self._tools))

    def why_not(self, role: str, tool: str) -> str | None:
        """Return why a role may not use a tool, given by its id, or None when it may."""
        tools = self._tools.get(role)
        if tools is None:
            return self._no_such(role)
        if tool in self._routes:
            # Even a role with every tool may use only the routes that its settings give it.
            return self.may_delegate(role, self._routes[tool])
        if tool in tools or EVERY_TOOL in tools:
            return None
        return f"the role {role} may not use {tool}; it may use {', '.join(sorted(tools))}"

    def may_delegate(self, role: str, target: str) -> str | None:
        """Return why a role may not give a task to another, or None when it may."""
        delegates = self._delegates.get(role)
        if delegates is None:
            return self._no_such(role)
        if target in delegates:
            return None
        whom = ", ".join(sorted(delegates)) or "no role"
        if target not in self._routes.values():
            return f"there is no role {target!r} to give a task to; {role} may give tasks to {whom}"
        return f"the role {role} may not give tasks to {target}; it may give them to {whom}"

    def target_of(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the role a call gives a task to: a route's own, or the one it names as ``target_agent``."""
        return self._routes.get(tool) or str(arguments.get("target_agent", ""))

    def answering(self, role: str) -> frozenset[str]:
        """Return the tools of a node that only answers a question in this role: nothing it does changes anything."""
        if role not in self._tools:
            return frozenset()
        looking = {tool.name for tool in self._lookup.list() if _changes_nothing(tool)}
        return (EVERYONES | {name for name in looking if self.why_not(role, name) is None}) - LASTING

    def _no_such(self, role: str) -> str:
        return f"there is no role {role!r}; this room has {', '.join(self.names)}"


def _changes_nothing(tool: Tool) -> bool:
    return tool.config.effects == "none" and not tool.config.behaviour.creates_node


def _tools_of(role: RoleSettings, lookup: ToolLookup) -> frozenset[str]:
    routes = {route_name(name) for name in role.delegates_to}
    return EVERYONES | {*_ids(role.tools, lookup)} | routes | ({ASSIGN} if routes else set())


def _unknown_names(roles: Mapping[str, RoleSettings], lookup: ToolLookup) -> Iterator[Problem]:
    routes = {route_name(name): name for name in roles}
    for role, settings in roles.items():
        for index, name in enumerate(settings.tools):
            place = f"roles.{role}.tools[{index}]"
            if name in routes:
                if routes[name] not in settings.delegates_to:
                    what = f"{name!r} leads to a role it does not delegate to"
                    mend = f'Add "{routes[name]}" to delegates_to; the tool comes with it.'
                    yield Problem(SETTINGS_FILE, place, what, mend)
            elif name != EVERY_TOOL and lookup.get(name) is None:
                yield Problem(
                    SETTINGS_FILE, place, f"{name!r} is not a tool of this room", lookup.advice(name)
                )


def _ids(names: Iterable[str], lookup: ToolLookup) -> Iterator[str]:
    for name in names:
        tool = lookup.get(name)
        yield name if tool is None else tool.name
