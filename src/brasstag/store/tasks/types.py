"""What the graph takes and returns: tasks to open, held tasks, and how they end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from brasstag.store.tasks.rows import Status, Task, TaskKind
from brasstag.words.approvals import Approval
from brasstag.words.events import EntryKind

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """Proof that this process holds a task; only the graph makes one."""

    task: Task

    @property
    def id(self) -> str:
        """The task's id."""
        return self.task.id

    @property
    def epoch(self) -> int:
        """The number of this holding: a later holder has a higher one."""
        return self.task.epoch


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task about to be opened."""

    id: str
    kind: TaskKind
    actor: str
    role: str
    title: str
    payload: Payload
    """Its first entry."""
    parent_id: str = ""
    parent_call: str = ""
    tree: str = ""
    queue: str = ""
    depth: int = 0
    budget: str = "{}"
    most_siblings: int | None = None
    """How many tasks its parent may open; asked again when it is opened, as calls of one turn run together."""


@dataclass(frozen=True, slots=True)
class Message:
    """An entry for another task's timeline, written when this one ends."""

    task_id: str
    kind: EntryKind
    call_id: str
    payload: Payload


@dataclass(frozen=True, slots=True)
class Ending:
    """How a task ends, and who is told."""

    status: Status
    payload: Payload
    messages: Sequence[Message] = ()
    """For the parent first, then for the task above it: locks are taken in that order."""


@dataclass(slots=True)
class Stopped:
    """What a cancellation did: tasks ended, requests withdrawn, calls of which it is not known yet how they ended."""

    tasks: list[str] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    acting: list[str] = field(default_factory=list)
