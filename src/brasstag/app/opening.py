"""Fitting out a room: settings, tools, rules, workspace and books, put together once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from brasstag.app.loading import aliases_of, load_project
from brasstag.app.notices import notifier, question_notifier
from brasstag.app.trust import Trust
from brasstag.app.vault import Vault, memory_vault, open_vault, require_same_room
from brasstag.app.watching import Watchers
from brasstag.documents.bodies import Sizes
from brasstag.documents.converting import Converter
from brasstag.documents.library import Library
from brasstag.documents.scanning import Scanner
from brasstag.documents.study import Study
from brasstag.documents.watching import Watch
from brasstag.engine.agents import Agents
from brasstag.engine.audience import Audience
from brasstag.engine.dispatch import Counter
from brasstag.engine.recovery import Recovered, recover
from brasstag.engine.shop import Shop
from brasstag.engine.threads import Threads
from brasstag.models.rack import Rack
from brasstag.policy.judging import Rules
from brasstag.policy.loading import rules_from
from brasstag.policy.roles import OPERATOR, Roles
from brasstag.policy.rule_engine import AnyRule, RuleEngine
from brasstag.policy.shipped import shipped_rules
from brasstag.sandbox.network.web import open_web
from brasstag.sandbox.process.booth import Booth
from brasstag.sandbox.workspace.control import ControlFiles
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.settings import (
    SETTINGS_FILE,
    STATE_DIRECTORY,
    ProfileName,
    RoomSettings,
    Settings,
    parse_settings,
    read_settings,
    user_directory,
)
from brasstag.toolkit.discovery import shipped_tools
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import ConfigError, Problem
from brasstag.words.times import Clock


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
    library: Library
    watch: Watch
    watchers: Watchers
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
        aliases = aliases_of(self.shop.registry)
        engine = RuleEngine((*shipped_rules(), *rules_from(settings.rules, aliases, settings_file.name)))
        return _rules(engine, settings, self.shop.registry)

    def close(self) -> None:
        """Let go of everything."""
        self.library.close()
        self.shop.workspace.close()
        self.shop.threads.close()
        self.vault.close()

    def _refit(self) -> None:
        self.shop.rules = _rules(self.engine, self.settings, self.shop.registry)
        self.shop.roles = Roles(self.settings.roles, self.shop.registry)
        # Rules say what is a document.
        self.library.refresher.doubt()


async def fit_out(project: Path, clock: Clock) -> Fittings:
    """Open a project's room as a person last accepted it, and settle what a dead process left."""
    threads = Threads()
    fittings = await threads.run(_fit_project, project, clock, threads)
    try:
        watched = await fittings.counter.watched(recover, fittings.shop)
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
    registry = ToolRegistry(shipped_tools())
    settings = Settings(room=RoomSettings(workspace=str(root), profile=profile))
    control = ControlFiles(root, root)
    return _fit(vault, settings, registry, shipped_rules(), root, control, Threads())


def _fit_project(project: Path, clock: Clock, threads: Threads) -> Fittings:
    project = project.absolute()
    if not (project / SETTINGS_FILE).is_file():
        read_settings(project)  # says what is missing, and leaves nothing behind where there is no project
    vault = open_vault(project, clock)
    try:
        require_same_room(project, vault)
        Trust(project, vault.folder).require()
        settings, registry, loaded = load_project(project)
        root = settings.workspace(project)
        root.mkdir(parents=True, exist_ok=True)
        control = ControlFiles(project, root, (project / STATE_DIRECTORY,))
        return _fit(vault, settings, registry, (*shipped_rules(), *loaded), root, control, threads)
    except BaseException:
        vault.close()
        raise


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
    booth = Booth(workspace, root, _scratch(vault, root))
    # Asked for each time: rules and tools may be added while the room is open.
    scanner = _scanner(vault, settings, workspace, lambda: shop.rules)
    library = Library(vault.books, scanner, Study(vault.books, Converter(booth)))
    rack = Rack(vault.books.blobs.get, folder=vault.project or root)
    watchers = Watchers()
    shop = Shop(
        registry=registry,
        rules=_rules(engine, settings, registry),
        roles=Roles(settings.roles, registry),
        workspace=workspace,
        books=vault.books,
        threads=threads,
        boot=vault.boot,
        agents=Agents(settings.roles, settings.crew, rack.model, rack.measure),
        audience=_audience(settings, watchers),
        models=rack,
        web=open_web(settings.web),
        booth=booth,
        library=library,
        patches=(vault.project / STATE_DIRECTORY if vault.project else vault.folder) / "patches",
        tool_settings=dict(settings.tools),
        approval_lifetime=settings.approvals.expires_after,
        argument_bytes=settings.limits.argument_bytes,
        host_paths=_host_paths(root, root.parent, *vault.places, *_home()),
    )
    watch = Watch(root, workspace, scanner, settings.documents.ignore)
    return Fittings(vault, settings, root, shop, Counter(shop), engine, rack, library, watch, watchers)


def _audience(settings: Settings, watchers: Watchers) -> Audience:
    return Audience(
        asked=notifier(settings.approvals),
        questioned=question_notifier(settings.approvals),
        said=watchers.say,
        retrying=watchers.retry,
        heard=watchers.listeners.of,
    )


def _scanner(
    vault: Vault, settings: Settings, workspace: Workspace, rules_now: Callable[[], Rules]
) -> Scanner:
    def hidden(paths: Sequence[str]) -> frozenset[str]:
        # What no tool may read is no document either.
        rules = rules_now()
        if rules.is_silent_about(paths):
            return frozenset()
        return frozenset(path for path in paths if rules.hides(path, role=OPERATOR) is not None)

    chosen = settings.documents
    return Scanner(
        workspace,
        vault.books,
        hidden=hidden,
        ignore=chosen.ignore,
        sizes=Sizes(chosen.largest_kept_bytes, chosen.largest_indexed_bytes),
    )


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
    return Rules(engine.rules, settings.room.profile, aliases_of(registry))
