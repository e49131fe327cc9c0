"""Fitting out a room: settings, tools, rules, workspace and books, put together once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from brasstag.app.notices import notifier, question_notifier
from brasstag.app.trust import Trust
from brasstag.app.vault import Vault, memory_vault, open_vault, require_same_room
from brasstag.engine.agents import Agents
from brasstag.engine.dispatch import Counter
from brasstag.engine.recovery import Recovered, recover
from brasstag.engine.shop import Shop
from brasstag.engine.threads import Threads
from brasstag.models.rack import Rack
from brasstag.policy.judging import Rules
from brasstag.policy.loading import rules_from, strange_roles, strange_tools
from brasstag.policy.profiles import LANDING
from brasstag.policy.roles import OPERATOR, Roles
from brasstag.policy.rule_engine import AnyRule, RuleEngine
from brasstag.policy.rules import Rule
from brasstag.policy.shipped import shipped_rules
from brasstag.sandbox.network.web import open_web
from brasstag.sandbox.process.booth import Booth
from brasstag.sandbox.workspace.control import ControlFiles
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.settings import (
    SETTINGS_FILE,
    STATE_DIRECTORY,
    TOOLS_DIRECTORY,
    ProfileName,
    RoomSettings,
    Settings,
    ToolSettings,
    parse_settings,
    read_settings,
    user_directory,
)
from brasstag.toolkit.arguments import compiled
from brasstag.toolkit.discovery import discover_entry_points, discover_folder, discover_package
from brasstag.toolkit.loading import read_config
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.routes import route_tools
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem
from brasstag.words.times import Clock

_T = TypeVar("_T")
_COMMON_LIMITS = frozenset({"timeout_seconds", "max_result_bytes"})


@dataclass(slots=True)
class Fittings:
    """A room's engine and everything that has to be let go of when it closes."""

    vault: Vault
    settings: Settings
    workspace: Path
    shop: Shop
    counter: Counter
    engine: RuleEngine
    models: Rack
    recovered: Recovered = field(default_factory=Recovered)

    def register(self, thing: Any) -> Tool:
        """Add a tool to the open room."""
        tool = self.shop.registry.register(thing)
        self._refit()
        return tool

    def add_rule(self, rule: AnyRule) -> None:
        """Add a rule to the open room."""
        self.engine.add_rule(rule)
        self._refit()

    def rules_of(self, settings_file: Path) -> Rules:
        """Return the rules another settings file would give this room."""
        try:
            text = settings_file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            problem = Problem(str(settings_file), "", "is not UTF-8 text", "Give a settings file.")
            raise ConfigError([problem]) from None
        settings = parse_settings(text, settings_file.name)
        aliases = _aliases(self.shop.registry)
        engine = RuleEngine((*shipped_rules(), *rules_from(settings.rules, aliases, settings_file.name)))
        return _rules(engine, settings, self.shop.registry)

    def close(self) -> None:
        """Let go of everything."""
        self.shop.workspace.close()
        self.shop.threads.close()
        self.vault.close()

    def _refit(self) -> None:
        self.shop.rules = _rules(self.engine, self.settings, self.shop.registry)
        self.shop.roles = Roles(self.settings.roles, self.shop.registry)


async def fit_out(project: Path, clock: Clock) -> Fittings:
    """Open a project's room as a person last accepted it, and settle what a dead process left."""
    threads = Threads()
    fittings = await threads.run(_fit_project, project, clock, threads)
    try:
        watched = await fittings.counter.watched(recover, fittings.shop, fittings.vault.boot)
    except BaseException:
        # Its lock, too: what it has taken over from the dead must not look as if somebody were at it.
        fittings.close()
        raise
    fittings.recovered = cast("Recovered", watched)
    return fittings


async def fit_out_in_memory(workspace: Path | None, profile: ProfileName, clock: Clock) -> Fittings:
    """Open a room with the shipped tools and rules that leaves nothing behind."""
    vault = memory_vault(clock)
    root = workspace or vault.folder / "workspace"
    root.mkdir(exist_ok=True)
    registry = ToolRegistry(discover_package("brasstag.tools"))
    settings = Settings(room=RoomSettings(workspace=str(root), profile=profile))
    control = ControlFiles(root, root)
    return _fit(vault, settings, registry, shipped_rules(), root, control, Threads())


def load_tools(project: Path, settings: Settings, problems: list[Problem]) -> ToolRegistry:
    """Return every tool of a project: the shipped ones, its own, those of installed packages, and its crew's routes."""
    registry = ToolRegistry()
    sources: list[Callable[[], Iterable[Tool]]] = [
        lambda: discover_package("brasstag.tools"),
        lambda: discover_folder(project / TOOLS_DIRECTORY) if (project / TOOLS_DIRECTORY).is_dir() else (),
        discover_entry_points,
        lambda: route_tools(settings.roles),
    ]
    for source in sources:
        for tool in _collecting(problems, source) or ():
            _collecting(problems, partial(_register, registry, tool, settings))
    problems += [
        Problem(SETTINGS_FILE, f"tools.{name}", "is no tool of this room", "`brasstag tools` lists them.")
        for name in settings.tools
        if registry.get(name) is None
    ]
    return registry


def read_rules(project: Path) -> tuple[Rule, ...]:
    """Read a project's own rules and check their examples, without loading any tool of the project.

    So a change to the rules can be tried before a person accepts it; of the project's tools only the aliases count.
    """
    registry = ToolRegistry(discover_package("brasstag.tools"))
    aliases = _aliases(registry)
    for file in sorted((project / TOOLS_DIRECTORY).glob("*.json")):
        config = _collecting([], partial(read_config, file.read_bytes(), file.name))
        if config is not None:
            aliases |= dict.fromkeys(config.aliases, config.tool_id)
    return rules_from(read_settings(project).rules, aliases)


def check_configuration(project: Path) -> list[Problem]:
    """Return everything wrong with a project's settings, tools, rules and roles, without opening its room."""
    try:
        _load(project)
    except ConfigError as error:
        return list(error.problems)
    return []


def _fit_project(project: Path, clock: Clock, threads: Threads) -> Fittings:
    project = project.absolute()
    if not (project / SETTINGS_FILE).is_file():
        read_settings(project)  # says what is missing, and leaves nothing behind where there is no project
    vault = open_vault(project, clock)
    try:
        require_same_room(project, vault)
        Trust(project, vault.folder).require()
        settings, registry, loaded = _load(project)
        root = settings.workspace(project)
        root.mkdir(parents=True, exist_ok=True)
        control = ControlFiles(project, root, (project / STATE_DIRECTORY,))
        return _fit(vault, settings, registry, (*shipped_rules(), *loaded), root, control, threads)
    except BaseException:
        vault.close()
        raise


def _load(project: Path) -> tuple[Settings, ToolRegistry, tuple[Rule, ...]]:
    problems: list[Problem] = []
    settings = _collecting(problems, lambda: read_settings(project)) or Settings()
    registry = load_tools(project, settings, problems)
    loaded = _collecting(problems, lambda: rules_from(settings.rules, _aliases(registry))) or ()
    problems += strange_tools(loaded, lambda name: name == LANDING or registry.get(name) is not None)
    problems += strange_roles(loaded, (OPERATOR, *settings.roles))
    _collecting(problems, lambda: Roles(settings.roles, registry))
    if problems:
        raise ConfigError(problems)
    return settings, registry, loaded


def _scratch(vault: Vault, root: Path) -> Path:
    """Return where layers over the workspace lie: never in it."""
    inside = vault.folder.resolve().is_relative_to(root.resolve())
    return (user_directory() if inside else vault.folder) / "layers"


def _fit(
    vault: Vault,
    settings: Settings,
    registry: ToolRegistry,
    rules: Iterable[AnyRule],
    root: Path,
    control: ControlFiles,
    threads: Threads,
) -> Fittings:
    engine = RuleEngine(rules)
    workspace = Workspace(root, control, vault.books.blobs, settings.limits.undo_bytes)
    rack = Rack(vault.books.blobs.get, folder=vault.project or root)
    shop = Shop(
        registry=registry,
        rules=_rules(engine, settings, registry),
        roles=Roles(settings.roles, registry),
        workspace=workspace,
        books=vault.books,
        threads=threads,
        notify=notifier(settings.approvals),
        boot=vault.boot,
        agents=Agents(settings.roles, settings.crew, rack.model),
        models=rack,
        notify_question=question_notifier(settings.approvals),
        web=open_web(settings.web),
        booth=Booth(workspace, root, _scratch(vault, root)),
        patches=(vault.project / STATE_DIRECTORY if vault.project else vault.folder) / "patches",
        tool_settings=dict(settings.tools),
        approval_lifetime=settings.approvals.expires_after,
        argument_bytes=settings.limits.argument_bytes,
        host_paths=_host_paths(root, root.parent, *vault.places, *_home()),
    )
    return Fittings(vault, settings, root, shop, Counter(shop), engine, rack)


def _home() -> tuple[Path, ...]:
    try:
        return (Path.home(),)
    except RuntimeError:
        # A user the system does not know, as in many containers.
        return ()


def _host_paths(*paths: Path) -> tuple[str, ...]:
    """Return the paths nobody outside should read, the longest first, so that no end of one is left over."""
    shown = {str(path) for place in paths for path in (place, place.resolve()) if len(path.parts) > 1}
    return tuple(sorted(shown, key=len, reverse=True))


def _rules(engine: RuleEngine, settings: Settings, registry: ToolRegistry) -> Rules:
    return Rules(engine.rules, settings.room.profile, _aliases(registry))


def _aliases(registry: ToolRegistry) -> dict[str, str]:
    return {alias: tool.name for tool in registry.list() for alias in tool.config.aliases}


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
