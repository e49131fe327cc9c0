"""Remembering: which notes are kept for later tasks of a role, and for how long."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from brasstag.engine.shop import Shop
from brasstag.store.memories import Memory
from brasstag.store.tasks import find_task
from brasstag.words.calls import Call
from brasstag.words.ids import new_id

KEPT: Mapping[str, Literal["run", "always"]] = MappingProxyType(
    {"save_to_short_term_memory": "run", "save_to_long_term_memory": "always"}
)
"""The notes that are remembered: for the rest of the run, or for good."""


def memory_of(shop: Shop, call: Call) -> Memory | None:
    """Return what a note asks to be remembered, or None for a note that is only written down."""
    scope = KEPT.get(call.tool)
    if scope is None:
        return None
    tree = ""
    if scope == "run":
        task = shop.books.read(lambda view: find_task(view, call.task_id))
        tree = call.task_id if task is None else task.tree
    content = str(call.arguments["content"])
    return Memory(new_id("mem"), call.role, tree, content, call.task_id, call.id, shop.books.now())
