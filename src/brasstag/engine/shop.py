"""What the engine works with; the app fits it out once, when a room opens."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from brasstag.engine.threads import Threads
from brasstag.policy.judging import Rules
from brasstag.policy.roles import Roles
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.settings import ToolSettings
from brasstag.store.books import Books
from brasstag.toolkit.registry import ToolRegistry
from brasstag.words.approvals import Approval
from brasstag.words.calls import Tag

Notify = Callable[[Approval], None]


def _pass(_step: str) -> None:
    """Nothing happens between two steps."""


@dataclass(slots=True)
class Shop:
    """Tools, rules, workspace and books of one open room."""

    registry: ToolRegistry
    rules: Rules
    roles: Roles
    workspace: Workspace
    books: Books
    threads: Threads
    notify: Notify
    """Told of each approval that waits; what it does must not matter to the call."""
    tool_settings: dict[str, ToolSettings] = field(default_factory=dict)
    approval_lifetime: timedelta | None = None
    argument_bytes: int = 10_000_000
    """The most a call's arguments may weigh."""
    host_paths: tuple[str, ...] = ()
    """Places of the host that must not show in what a caller reads."""
    unsettled: list[Callable[[], Tag]] = field(default_factory=list)
    """Endings that could not be written down yet; tried again before the next call, as their paths are still held."""
    at: Callable[[str], None] = _pass
    """Called between the steps of a call that acts; crash tests end the process here."""
