"""Origins: what a task was opened as, by its first entry; its row says the same."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import Row

from brasstag.store.tasks.rows import Task

TITLE_LENGTH = 80
"""How much of a request names its task in lists."""

_KINDS: Mapping[str, str] = MappingProxyType({"agent_as_tool": "agent", "ask_master": "question"})
"""By the type of the first entry; a root is of an agent, or a desk."""


def title_of(request: str) -> str:
    """Return what names a task in lists: the beginning of what it was asked to do."""
    words = " ".join(request.replace("\0", " ").split())
    return words if len(words) <= TITLE_LENGTH else f"{words[: TITLE_LENGTH - 1]}…"


def differing(task: Task | Row[Any], opened: Mapping[str, Any]) -> list[str]:
    """Return the columns of a task's row that say something else than what it was opened with."""
    return [name for name, told in _origin(task.id, opened).items() if getattr(task, name) != told]


def _origin(task_id: str, opened: Mapping[str, Any]) -> dict[str, Any]:
    asked, parent = opened.get("input") or {}, opened.get("parent") or {}
    root = "desk" if opened.get("tool") == "desk" else "agent"
    return {
        "kind": _KINDS.get(str(opened.get("type")), root),
        "actor": asked.get("actor"),
        "role": asked.get("role"),
        "title": title_of(asked.get("request", "")),
        "parent_id": parent.get("task", ""),
        "parent_call": parent.get("call", ""),
        "tree": opened.get("tree", task_id),
        "depth": opened.get("depth", 0),
    }
