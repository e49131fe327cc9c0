"""Load a project's control files: settings, tools, rules and roles; or only look at them."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from brasstag.policy.load import rules_from, strange_roles, strange_tools
from brasstag.policy.roles import OPERATOR, Roles
from brasstag.policy.rule import Rule
from brasstag.settings import (
    SETTINGS_FILE,
    TOOLS_DIRECTORY,
    Settings,
    ToolSettings,
    read_settings,
    readable_settings,
)
from brasstag.toolkit.arguments.arguments import compiled
from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.config.load import read_config
from brasstag.toolkit.discovery import discover_entry_points, discover_folder, shipped_tools
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.routes import route_tools
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem

_T = TypeVar("_T")
_COMMON_LIMITS = frozenset({"timeout_seconds", "max_result_bytes"})

_SOME_TOOL = Tool(ToolConfig(tool_id="some_tool", description="Declared in code.", effects="none"))

Discover = Callable[[Path], list[Tool]]
"""Finds the tools of a project's folder."""


def load_project(project: Path) -> tuple[Settings, ToolRegistry, tuple[Rule, ...]]:
    """Load everything a person has accepted; raise ConfigError with every problem there is."""
    problems: list[Problem] = []
    settings, registry, rules = _gather(project, problems, discover_folder)
    if problems:
        raise ConfigError(problems)
    return settings, registry, rules


def load_tools(
    project: Path, settings: Settings, problems: list[Problem], discover: Discover = discover_folder
) -> ToolRegistry:
    """Return every tool of a project: the shipped ones, its own, those of installed packages, and its crew's routes."""
    registry = ToolRegistry()
    sources: list[Callable[[], Iterable[Tool]]] = [
        shipped_tools,
        lambda: discover(project / TOOLS_DIRECTORY) if (project / TOOLS_DIRECTORY).is_dir() else (),
        discover_entry_points,
        lambda: route_tools(settings.roles),
    ]
    for source in sources:
        for tool in _collecting(problems, source) or ():
            _collecting(problems, partial(_register, registry, tool, settings))
    return registry


def read_rules(project: Path) -> tuple[Rule, ...]:
    """Read a project's own rules and check their examples, without loading any tool of the project.

    So a change to the rules can be tried before a person accepts it; of the project's tools only the aliases count.
    """
    return rules_from(read_settings(project).rules, aliases_of(described_tools(project)))


def check_configuration(project: Path) -> list[Problem]:
    """Return everything wrong with a project's settings, tools, rules and roles, without opening its room."""
    problems: list[Problem] = []
    _gather(project, problems, discover_folder)
    return problems


def check_unloaded(project: Path) -> list[Problem]:
    """Return what is wrong with a project's control files, as far as it shows without running its tools."""
    problems: list[Problem] = []
    files = sorted((project / TOOLS_DIRECTORY).glob("*.py"))
    code = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    _gather(project, problems, _describe_folder, code)
    return problems


def described_tools(project: Path) -> ToolRegistry:
    """Return the shipped tools and those the project describes in JSON; none of its code runs, and none can be called."""
    registry = ToolRegistry(shipped_tools())
    folder = project / TOOLS_DIRECTORY
    for file in _configs(folder):
        config = _collecting([], partial(read_config, file.read_bytes(), file.name))
        if config is not None:
            _collecting([], partial(registry.register, Tool(config, origin=str(file))))
    return registry


def aliases_of(registry: ToolRegistry) -> dict[str, str]:
    """Return the tool each alias stands for."""
    return {alias: tool.name for tool in registry.list() for alias in tool.config.aliases}


def _gather(
    project: Path, problems: list[Problem], discover: Discover, code: str = ""
) -> tuple[Settings, ToolRegistry, tuple[Rule, ...]]:
    """Read everything, and collect every problem; ``code`` was not run, and may declare more tools."""
    settings = _collecting(problems, lambda: read_settings(project)) or readable_settings(project)
    registry = load_tools(project, settings, problems, discover)
    tools = _Guessed(registry, code)
    problems += [
        Problem(SETTINGS_FILE, f"tools.{name}", "is not a tool of this room", tools.advice(name))
        for name in settings.tools
        if tools.get(name) is None
    ]
    rules = _collecting(problems, lambda: rules_from(settings.rules, aliases_of(registry))) or ()
    problems += strange_tools(rules, lambda name: tools.get(name) is not None)
    problems += strange_roles(rules, (OPERATOR, *settings.roles))
    _collecting(problems, lambda: Roles(settings.roles, tools))
    return settings, registry, rules


class _Guessed:
    """The known tools, and those that unrun code may declare: every name that the code mentions."""

    def __init__(self, registry: ToolRegistry, code: str) -> None:
        self._registry = registry
        self._names = frozenset(re.findall(r"\w+", code))
        self.list = registry.list
        self.advice = registry.advice

    def get(self, name: str) -> Tool | None:
        return self._registry.get(name) or (_SOME_TOOL if name in self._names else None)


def _describe_folder(folder: Path) -> list[Tool]:
    """Return the tools a folder describes in JSON, without their code."""
    problems: list[Problem] = []
    found = [
        _collecting(problems, partial(read_config, file.read_bytes(), str(file))) for file in _configs(folder)
    ]
    if problems:
        raise ConfigError(problems)
    return [Tool(config, origin=str(folder)) for config in found if config is not None]


def _configs(folder: Path) -> list[Path]:
    return [*sorted(folder.glob("*.json")), *sorted((folder / "configs").glob("*.json"))]


def _as_project_says(tool: Tool, settings: Settings) -> Tool:
    """Return the tool under the limits the project's settings give it; raise for what does not fit it."""
    chosen = settings.tools.get(tool.name)
    if chosen is None:
        return tool
    problems = [*_wrong_limits(tool, chosen), *_wrong_defaults(tool, chosen)]
    if problems:
        raise ConfigError(problems)
    limits = tool.config.limits
    own = {name: int(value) for name, value in chosen.limits.items() if name in limits.numbers}
    given: dict[str, Any] = {name: value for name, value in chosen.limits.items() if name in _COMMON_LIMITS}
    changed = limits.model_copy(update=given | {"numbers": {**limits.numbers, **own}})
    return replace(tool, config=tool.config.model_copy(update={"limits": changed}))


def _wrong_limits(tool: Tool, chosen: ToolSettings) -> Iterator[Problem]:
    known = _COMMON_LIMITS | tool.config.limits.numbers.keys()
    for name in sorted(chosen.limits.keys() - known):
        yield Problem(
            SETTINGS_FILE,
            f"tools.{tool.name}.limits.{name}",
            "is no limit of it",
            f"It has {', '.join(sorted(known))}.",
        )


def _wrong_defaults(tool: Tool, chosen: ToolSettings) -> Iterator[Problem]:
    for name, value in chosen.defaults.items():
        place = f"tools.{tool.name}.defaults.{name}"
        parameter = tool.config.parameters.get(name)
        if parameter is None:
            names = ", ".join(tool.config.parameters)
            yield Problem(SETTINGS_FILE, place, "is no argument of it", f"It has {names}.")
        elif not compiled(parameter.as_schema()).is_valid(value):
            yield Problem(SETTINGS_FILE, place, f"cannot be {value!r}", parameter.description)


def _register(registry: ToolRegistry, tool: Tool, settings: Settings) -> None:
    registry.register(_as_project_says(tool, settings))


def _collecting(problems: list[Problem], act: Callable[[], _T]) -> _T | None:
    try:
        return act()
    except ConfigError as error:
        problems += error.problems
        return None
