"""Outcomes: which runs had a version of a prompt tool, and how they ended."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from brasstag.catalog.injection import LOAD
from brasstag.store.database.base import View
from brasstag.store.tasks.rows import Task, read_tasks
from brasstag.store.timeline.timeline import entries_since
from brasstag.words.budgets import MICRO
from brasstag.words.events import EntryKind
from brasstag.words.review.prompt_tools import Source


@dataclass(slots=True)
class VersionOutcome:
    """What came of the tasks that had one version of a prompt tool in their catalog."""

    hash: str
    source: Source
    tasks: int = 0
    used: int = 0
    """How many of them were started with it, had it whole, or loaded it."""
    done: int = 0
    failed: int = 0
    stopped: int = 0
    still_open: int = 0
    steps: int = 0
    tokens: int = 0
    cost: int = 0
    """Millionths of a dollar."""
    last: str = ""
    """When the newest of them was opened."""

    def add(self, task: Task, *, used: bool) -> None:
        """Count one task."""
        self.tasks += 1
        self.used += used
        self.done += task.status == "done"
        self.failed += task.status == "failed"
        self.stopped += task.status == "cancelled"
        self.still_open += not task.has_ended
        self.steps += task.steps
        self.tokens += task.tokens
        self.cost += task.cost
        self.last = max(self.last, task.opened_at)

    def as_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {
            "hash": self.hash,
            "source": self.source,
            "tasks": self.tasks,
            "used": self.used,
            "done": self.done,
            "failed": self.failed,
            "stopped": self.stopped,
            "open": self.still_open,
            "steps": self.steps,
            "tokens": self.tokens,
            "cost": self.cost / MICRO,
            "last": self.last,
        }


def outcomes_of(view: View, tool_id: str) -> list[VersionOutcome]:
    """Return what came of each version of a tool, the newest first."""
    found: dict[str, VersionOutcome] = {}
    for task in read_tasks(view):
        if task.is_desk or task.kind == "question":
            continue
        entries = entries_since(view, task.id, 0)
        opened = (entries[0].payload if entries else None) or {}
        version = _version(opened, tool_id)
        if version is None:
            continue
        used = version.get("form") != "named" or any(
            entry.kind is EntryKind.CALLED and _loads(entry.payload or {}, tool_id) for entry in entries
        )
        outcome = found.setdefault(version["hash"], VersionOutcome(version["hash"], version["source"]))
        outcome.add(task, used=used)
    return sorted(found.values(), key=lambda one: one.last, reverse=True)


def _version(opened: Mapping[str, Any], tool_id: str) -> Mapping[str, Any] | None:
    started = opened.get("prompt_tool") or {}
    if started.get("id") == tool_id:
        return {**started, "form": "started with"}
    return next(_listed(opened, tool_id), None)


def _listed(opened: Mapping[str, Any], tool_id: str) -> Iterator[Mapping[str, Any]]:
    for one in opened.get("catalog", ()):
        if one.get("id") == tool_id and one.get("form") != "left out":
            yield one


def _loads(payload: Mapping[str, Any], tool_id: str) -> bool:
    given = payload.get("input")
    return payload.get("tool") == LOAD and isinstance(given, Mapping) and given.get("id") == tool_id
