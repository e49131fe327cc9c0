"""Load a project's control files: settings, tools, rules and roles; or only look at them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from brasstag.app.project.services import strange_services
from brasstag.app.project.silent_tools import as_answered
from brasstag.app.project.wires import Additions, load_wires
from brasstag.policy.load import project_rules, strange_roles, strange_tools
from brasstag.policy.roles import OPERATOR, Roles
from brasstag.policy.rule import Rule
from brasstag.policy.rule_engine import AnyRule
from brasstag.settings import (
    SETTINGS_FILE,
    TOOLS_DIRECTORY,
    WIRES_FILE,
    Settings,
    ToolSettings,
    read_settings,
    readable_settings,
)
from brasstag.toolkit.arguments.arguments import compiled
from brasstag.toolkit.config.config import ToolConfig
from brasstag.toolkit.config.load import read_config
from brasstag.toolkit.discovery import (
    discover_entry_points,
    discover_folder,
    shipped_tools,
    tool_files,
    unparsed_files,
)
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.routes import route_tools
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem

_T = TypeVar("_T")
_COMMON_LIMITS = frozenset({"timeout_seconds", "max_result_bytes"})

NO_ANSWERS: Mapping[str, str] = MappingProxyType({})
Source = Callable[[], Iterable[Tool]]
_SOME_TOOL = Tool(ToolConfig(tool_id="some_tool", description="Declared in code.", effects="none"))


def load_project(
    project: Path, answers: Mapping[str, str]
) -> tuple[Settings, ToolRegistry, tuple[AnyRule, ...]]:
    """Load everything a person has accepted; raise ConfigError with every problem there is.

    ``answers`` are what a person said of tools that leave open where they act.
    """
    problems: list[Problem] = []
    settings, registry, rules = _gather(project, problems, answers)
    if problems:
        raise ConfigError(problems)
    return settings, registry, rules


def _load_tools(
    own: Iterable[Source], answers: Mapping[str, str], settings: Settings, problems: list[Problem]
) -> ToolRegistry:
    """Return every tool of a project: the shipped ones, its own, those of installed packages, and its crew's routes."""
    registry = ToolRegistry()
    answered = [partial(_answered, source, answers) for source in own]
    sources: list[Source] = [
        shipped_tools,
        *answered,
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
    return project_rules(read_settings(project), aliases_of(described_tools(project)))


def check_configuration(project: Path) -> list[Problem]:
    """Return everything wrong with a project's settings, tools, rules and roles, without opening its room."""
    problems: list[Problem] = []
    _gather(project, problems)
    return problems


def check_unloaded(project: Path) -> list[Problem]:
    """Return what is wrong with a project's control files, as far as it shows without running its tools."""
    problems: list[Problem] = []
    wires = list(project.glob(WIRES_FILE))
    problems += unparsed_files([*tool_files(project / TOOLS_DIRECTORY), *wires])
    files = [*sorted((project / TOOLS_DIRECTORY).glob("*.py")), *wires]
    code = "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
    _gather(project, problems, unrun=code)
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
    project: Path,
    problems: list[Problem],
    answers: Mapping[str, str] = NO_ANSWERS,
    *,
    unrun: str | None = None,
) -> tuple[Settings, ToolRegistry, tuple[AnyRule, ...]]:
    """Read everything, and collect every problem; where ``unrun`` is given, that code may declare more, and is not run."""
    settings = _collecting(problems, lambda: read_settings(project)) or readable_settings(project)
    folder = project / TOOLS_DIRECTORY
    discover = discover_folder if unrun is None else _describe_folder
    wires = (_collecting(problems, lambda: load_wires(project)) if unrun is None else None) or Additions()
    registry = _load_tools([lambda: discover(folder), lambda: wires.tools], answers, settings, problems)
    tools = _Guessed(registry, unrun or "")
    problems += _strange_settings(settings.tools, tools)
    problems += strange_services(project, settings.roles)
    rules = _collecting(problems, lambda: project_rules(settings, aliases_of(registry))) or ()
    problems += strange_tools(rules, lambda name: tools.get(name) is not None)
    problems += strange_roles(rules, (OPERATOR, *settings.roles))
    of_wires = _collecting(
        problems, lambda: list(wires.problems(settings.room.profile, registry, aliases_of(registry)))
    )
    problems += of_wires or ()
    _collecting(problems, lambda: Roles(settings.roles, tools))
    return settings, registry, (*rules, *wires.rules)


def _answered(source: Source, answers: Mapping[str, str]) -> list[Tool]:
    return [as_answered(tool, answers) for tool in source()]


def _strange_settings(names: Iterable[str], tools: "_Guessed") -> Iterator[Problem]:
    """Yield a problem for each ``[tools.NAME]`` that would change nothing."""
    for name in names:
        tool = tools.get(name)
        if tool is None:
            yield Problem(SETTINGS_FILE, f"tools.{name}", "is not a tool of this room", tools.advice(name))
        elif name in tool.config.aliases:
            what, mend = f"is another name of {tool.name}", f"Write [tools.{tool.name}]."
            yield Problem(SETTINGS_FILE, f"tools.{name}", what, mend)


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
    """Return the tool with the words and limits the project's settings give it; raise for what does not fit it."""
    chosen = settings.tools.get(tool.name)
    if chosen is None:
        return tool
    problems = [*_wrong_limits(tool, chosen), *_wrong_defaults(tool, chosen)]
    if problems:
        raise ConfigError(problems)
    limits = tool.config.limits
    words = {} if chosen.description is None else {"description": chosen.description}
    own = {name: int(value) for name, value in chosen.limits.items() if name in limits.numbers}
    given: dict[str, Any] = {name: value for name, value in chosen.limits.items() if name in _COMMON_LIMITS}
    changed = limits.model_copy(update=given | {"numbers": {**limits.numbers, **own}})
    return replace(tool, config=tool.config.model_copy(update=words | {"limits": changed}))


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
