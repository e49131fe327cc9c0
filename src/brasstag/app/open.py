"""Open a room: settings, tools, rules, workspace and store are put together once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from brasstag.app.notices import notifier, question_notifier
from brasstag.app.project.load import aliases_of, load_project
from brasstag.app.project.services import load_services
from brasstag.app.project.trust import Trust
from brasstag.app.state import RoomState, memory_state, open_state, require_same_room
from brasstag.app.watch.events import Watchers
from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.gate.four_eyes import FourEyes
from brasstag.catalog.gate.gate import Gate
from brasstag.documents.formats.convert import Converter
from brasstag.documents.formats.limits import Sizes
from brasstag.documents.library import Library
from brasstag.documents.scan.scanner import Scanner
from brasstag.documents.scan.watch import WorkspaceWatch
from brasstag.documents.study.study import Study
from brasstag.engine.agents import Agents, Service
from brasstag.engine.calls.counter import Counter
from brasstag.engine.in_flight import InFlight
from brasstag.engine.listeners import Listeners
from brasstag.engine.path_queue import PathQueue
from brasstag.engine.recovery.crashed import Recovered, recover
from brasstag.engine.runtime import Policy, Runtime
from brasstag.models.pool import ModelPool
from brasstag.policy.load import project_rules
from brasstag.policy.roles import OPERATOR, Roles
from brasstag.policy.rule_engine import AnyRule, ReadRule, RuleEngine
from brasstag.policy.shipped import shipped_rules
from brasstag.policy.verdict import Rules
from brasstag.sandbox.network.web import open_web
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.sandbox.threads import Threads
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
from brasstag.store.catalog.proposals import newest_approvals
from brasstag.toolkit.discovery import shipped_tools
from brasstag.toolkit.registry import ToolRegistry
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import Code, ConfigError, Problem, ToolError
from brasstag.words.times import Clock

NO_SERVICES: Mapping[str, Service] = {}


@dataclass(slots=True, weakref_slot=True)
class OpenRoom:
    """A room's engine, and everything that must be closed when the room closes."""

    room_state: RoomState
    settings: Settings
    workspace: Path
    runtime: Runtime
    counter: Counter
    engine: RuleEngine
    models: ModelPool
    library: Library
    watch: WorkspaceWatch
    watchers: Watchers
    proposed: list[Callable[[str], None]] = field(default_factory=list)
    """Told of each proposal that an agent makes."""
    recovered: Recovered = field(default_factory=Recovered)

    def __post_init__(self) -> None:
        """Have every rule that is added to the engine count at once, whichever thread adds it."""
        self.engine.when_added(self._refit)
        self._refit()

    @property
    def gate(self) -> Gate:
        """The way by which prompt tools change, with the live catalog."""
        if self.runtime.gate is None:
            raise ToolError(Code.NOT_SUPPORTED, "this room has no catalog of prompt tools")
        return self.runtime.gate

    def register(self, thing: Any) -> Tool:
        """Add a tool to the open room."""
        tool = self.runtime.registry.register(thing)
        self._refit()
        return tool

    def add_rule(self, rule: AnyRule) -> None:
        """Add a rule, or the rules of an engine, to the open room."""
        self.engine.add_rule(rule)

    def rules_of(self, settings_file: Path) -> Rules:
        """Return the rules another settings file would give this room."""
        try:
            text = settings_file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            problem = Problem(str(settings_file), "", "is not UTF-8 text", "Give a settings file.")
            raise ConfigError([problem]) from None
        settings = parse_settings(text, settings_file.name)
        aliases = aliases_of(self.runtime.registry)
        # Rules that were added in Python stay, whatever the settings say.
        ours = project_rules(self.settings, aliases)
        stay = [rule for rule in self.engine.own_rules if rule not in ours]
        shipped = _shipped(settings)
        theirs = project_rules(settings, aliases, settings_file.name)
        return _rules((*shipped, *stay, *theirs), settings, self.runtime.registry)

    def on_proposed(self, told: Callable[[str], None]) -> None:
        """Tell of each proposal that an agent makes from now on."""
        self.proposed.append(told)

    def close(self) -> None:
        """Close everything."""
        self.library.close()
        self.runtime.workspace.close()
        self.runtime.threads.close()
        self.room_state.close()

    def _refit(self) -> None:
        policy, registry = self.runtime.policy, self.runtime.registry
        with policy.replacing:
            policy.rules = _rules(self.engine.rules, self.settings, registry)
            policy.roles = Roles(self.settings.roles, registry)
        # Rules decide what is a document.
        self.library.refresher.doubt()


async def open_project(project: Path, clock: Clock, rules: AnyRule | None = None) -> OpenRoom:
    """Open a project's room as a person last accepted it, with more rules, and settle what a dead process left."""
    threads = Threads()
    open_room = await threads.run(_open_project, project, clock, threads, rules)
    try:
        watched = await open_room.runtime.in_flight.run(recover, open_room.runtime)
    except BaseException:
        # This frees its lock, too: tasks of dead processes must not look as if a worker held them.
        open_room.close()
        raise
    open_room.recovered = cast("Recovered", watched)
    return open_room


async def open_in_memory(
    workspace: Path | None, profile: ProfileName, clock: Clock, rules: AnyRule | None = None
) -> OpenRoom:
    """Open a room that has the shipped tools and rules, and leaves nothing behind."""
    room_state = memory_state(clock)
    root = workspace or room_state.folder / "workspace"
    root.mkdir(exist_ok=True)
    registry = ToolRegistry(shipped_tools())
    settings = Settings(room=RoomSettings(workspace=str(root), profile=profile))
    control = ControlFiles(root, root)
    try:
        every = (*shipped_rules(), *_added(rules))
        return _assemble(room_state, settings, registry, every, root, control, Threads())
    except BaseException:
        room_state.close()
        raise


def _open_project(project: Path, clock: Clock, threads: Threads, rules: AnyRule | None) -> OpenRoom:
    project = project.absolute()
    if not (project / SETTINGS_FILE).is_file():
        read_settings(project)  # says what is missing, and leaves nothing behind where there is no project
    room_state = open_state(project, clock)
    try:
        require_same_room(project, room_state)
        trust = Trust(project, room_state.folder)
        trust.require()
        settings, registry, loaded = load_project(project, trust.answers())
        services = load_services(project, settings.roles)
        root = settings.workspace(project)
        root.mkdir(parents=True, exist_ok=True)
        control = ControlFiles(project, root, (project / STATE_DIRECTORY,))
        every = (*_shipped(settings), *loaded, *_added(rules))
        return _assemble(room_state, settings, registry, every, root, control, threads, services)
    except BaseException:
        room_state.close()
        raise


def _shipped(settings: Settings) -> tuple[ReadRule, ...]:
    return shipped_rules(settings.policy.dangerous_commands, settings.policy.switched_off)


def _added(rules: AnyRule | None) -> tuple[AnyRule, ...]:
    return () if rules is None else (rules,)


def _scratch(room_state: RoomState, root: Path) -> Path:
    """Return the directory for layers over the workspace; it is never inside the workspace."""
    inside = room_state.folder.resolve().is_relative_to(root.resolve())
    return (user_directory() if inside else room_state.folder) / "layers"


def _assemble(
    room_state: RoomState,
    settings: Settings,
    registry: ToolRegistry,
    rules: Iterable[AnyRule],
    root: Path,
    control: ControlFiles,
    threads: Threads,
    services: Mapping[str, Service] = NO_SERVICES,
) -> OpenRoom:
    engine = RuleEngine(rules, settings.room.profile)
    policy = Policy(_rules(engine.rules, settings, registry), Roles(settings.roles, registry))
    store = room_state.store
    workspace = Workspace(
        root, control, store.blobs, settings.limits.undo_bytes, is_at_work=store.is_unsettled
    )
    sandbox = Sandbox(workspace, root, _scratch(room_state, root))
    # Asked for each time: rules and tools may be added while the room is open.
    scanner = _scanner(room_state, settings, workspace, lambda: policy.rules)
    library = Library(room_state.store, scanner, Study(room_state.store, Converter(sandbox)))
    models = ModelPool(room_state.store.blobs.get, folder=room_state.project or root)
    watchers = Watchers()
    proposed: list[Callable[[str], None]] = []
    catalog = _catalog(room_state, registry)
    runtime = Runtime(
        registry=registry,
        policy=policy,
        workspace=workspace,
        store=room_state.store,
        threads=threads,
        in_flight=InFlight(threads),
        boot=room_state.boot,
        agents=Agents(settings.roles, settings.crew, models.model, services, models.measure),
        listeners=_listeners(settings, watchers, proposed, room_state.project),
        models=models,
        web=open_web(settings.web),
        sandbox=sandbox,
        library=library,
        catalog=catalog,
        catalog_tokens=settings.prompts.catalog_tokens,
        gate=Gate(room_state.store, catalog, FourEyes(room_state.store, settings.prompts).are_required),
        tracebacks=room_state.tracebacks,
        patches=(room_state.project / STATE_DIRECTORY if room_state.project else room_state.folder)
        / "patches",
        tool_settings=dict(settings.tools),
        approvals_expire_after=settings.approvals.expires_after,
        argument_bytes=settings.limits.argument_bytes,
        host_paths=_host_paths(root, root.parent, *room_state.places, *_home()),
        path_queue=PathQueue(room_state.store.blobs.root.parent / "queue"),
    )
    watch = WorkspaceWatch(root, workspace, scanner, settings.documents.ignore)
    return OpenRoom(
        room_state,
        settings,
        root,
        runtime,
        Counter(runtime),
        engine,
        models,
        library,
        watch,
        watchers,
        proposed,
    )


def _catalog(room_state: RoomState, registry: ToolRegistry) -> PromptCatalog:
    def callable_tools() -> dict[str, str]:
        return {
            name: tool.origin or tool.name
            for tool in registry.list()
            for name in (tool.name, *tool.config.aliases)
        }

    store = room_state.store
    return PromptCatalog(
        *room_state.prompt_files,
        room_state.receipts,
        callable_tools,
        lambda: store.read(newest_approvals),
        store.fence,
    )


def _listeners(
    settings: Settings, watchers: Watchers, proposed: list[Callable[[str], None]], project: Path | None
) -> Listeners:
    def tell_proposed(proposal_id: str) -> None:
        for told in proposed:
            told(proposal_id)

    return Listeners(
        asked=notifier(settings.approvals, project),
        questioned=question_notifier(settings.approvals, project),
        proposed=tell_proposed,
        said=watchers.say,
        retrying=watchers.retry,
        heard=watchers.listeners.of,
    )


def _scanner(
    room_state: RoomState, settings: Settings, workspace: Workspace, rules_now: Callable[[], Rules]
) -> Scanner:
    def hidden(paths: Sequence[str]) -> frozenset[str]:
        # A file that no tool may read is no document.
        rules = rules_now()
        if rules.is_silent_about(paths):
            return frozenset()
        return frozenset(path for path in paths if rules.hides(path, role=OPERATOR) is not None)

    chosen = settings.documents
    return Scanner(
        workspace,
        room_state.store,
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
    """Return the paths that no caller of a tool should read, the longest first, so that no end of one is left over."""
    shown = {str(path) for place in paths for path in (place, place.resolve()) if len(path.parts) > 1}
    return tuple(sorted(shown, key=len, reverse=True))


def _rules(rules: Iterable[ReadRule], settings: Settings, registry: ToolRegistry) -> Rules:
    return Rules(rules, settings.room.profile, aliases_of(registry))
