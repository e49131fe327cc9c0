"""Runtime: the services the engine works with; the app puts them together when a room opens."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.gate.gate import Gate
from brasstag.catalog.injection import DEFAULT_TOKENS
from brasstag.documents.library import Library
from brasstag.engine.agents import Agents
from brasstag.engine.in_flight import InFlight
from brasstag.engine.listeners import Listeners
from brasstag.engine.path_queue import PathQueue
from brasstag.engine.proven_permissions import ProvenPermissions
from brasstag.engine.read_set import ReadSets
from brasstag.engine.tracebacks import Tracebacks
from brasstag.policy.roles import Roles
from brasstag.policy.verdict import Rules
from brasstag.sandbox.network.web import Web
from brasstag.sandbox.process.sandbox import Sandbox
from brasstag.sandbox.threads import Threads
from brasstag.sandbox.workspace.change.apply import ignore_step
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.settings import ToolSettings
from brasstag.store.store import Store
from brasstag.store.tasks.processes import ProcessLock
from brasstag.toolkit.registry import ToolRegistry
from brasstag.words.errors import Code
from brasstag.words.messages import Fences
from brasstag.words.turns import ModelError, Opinions, Turn


class _NoOpinions:
    """Stands for models where a room has none."""

    async def ask(self, model: str, prompt: str) -> Turn:  # noqa: ARG002 - there is no model to ask
        raise ModelError(f"this room has no models, so not {model} either", Code.MODEL_NOT_CONFIGURED)


@dataclass(slots=True)
class Policy:
    """Who may do what, as it is now; a rule or a tool that is added replaces what is here."""

    rules: Rules
    roles: Roles
    replacing: threading.Lock = field(default_factory=threading.Lock)
    """Held while they are replaced: any thread may add a rule."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Tools, rules, workspace and store of one open room."""

    registry: ToolRegistry
    policy: Policy
    workspace: Workspace
    store: Store
    threads: Threads
    in_flight: InFlight
    boot: ProcessLock
    """The opening of the room all this belongs to."""
    agents: Agents = field(default_factory=Agents)
    listeners: Listeners = field(default_factory=Listeners)
    models: Opinions = field(default_factory=_NoOpinions)
    """Whom tools may ask for a second opinion."""
    web: Web = field(default_factory=Web)
    """How tools reach the web."""
    sandbox: Sandbox | None = None
    """Where code runs confined; None where the room has no workspace on disk."""
    library: Library | None = None
    """The documents of the workspace."""
    catalog: PromptCatalog | None = None
    """The live prompt tools."""
    catalog_tokens: int = DEFAULT_TOKENS
    gate: Gate | None = None
    """The way by which prompt tools change."""
    tracebacks: Tracebacks = field(default_factory=Tracebacks)
    """Where a person finds why a tool failed."""
    patches: Path | None = None
    """Where changes of code are kept that did not land."""
    tool_settings: dict[str, ToolSettings] = field(default_factory=dict)
    approvals_expire_after: timedelta | None = None
    argument_bytes: int = 10_000_000
    """The most a call's arguments may weigh."""
    host_paths: tuple[str, ...] = ()
    """Places of the host that must not show in what a caller reads."""
    stopped_seconds: float = 30.0
    """After so long without a beat a worker counts as stopped, and what it holds without acting is given to another."""
    read_sets: ReadSets = field(default_factory=ReadSets)
    """What tasks whose calls would replace something have seen of it."""
    permissions: ProvenPermissions = field(default_factory=ProvenPermissions)
    """The timed permissions that timelines grant."""
    path_queue: PathQueue = field(default_factory=PathQueue)
    """Where calls wait that need the same path."""
    at: Callable[[str], None] = ignore_step
    """Called between the steps of a call that acts; crash tests end the process here."""

    @property
    def fence(self) -> Fences:
        """Fences around texts that models read here."""
        return self.store.fence
