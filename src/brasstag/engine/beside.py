"""Beside: what a call that changes no file writes down with its entry, in the same commit."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from brasstag.engine.shop import Shop
from brasstag.policy.grants import Grant
from brasstag.store.annotating import describe, retag
from brasstag.store.books import Beside
from brasstag.store.database import Transaction
from brasstag.store.memories import Memory, add_memory
from brasstag.store.tasks import find_task
from brasstag.words.calls import Call
from brasstag.words.ids import new_id
from brasstag.words.previews import Preview


def written_beside(shop: Shop, grant: Grant) -> Beside | None:
    """Return what writes down more than a granted call's entry, or None where its entry is all."""
    found = BESIDE.get(grant.call.tool)
    return None if found is None else found(shop, grant.call, grant.preview)


def _remember_in_run(shop: Shop, call: Call, _preview: Preview) -> Beside:
    task = shop.books.read(lambda view: find_task(view, call.task_id))
    return _remember(shop, call, call.task_id if task is None else task.tree)


def _remember_for_good(shop: Shop, call: Call, _preview: Preview) -> Beside:
    return _remember(shop, call, tree="")


def _remember(shop: Shop, call: Call, tree: str) -> Beside:
    content = str(call.arguments["content"])
    memory = Memory(new_id("mem"), call.role, tree, content, call.task_id, call.id, shop.books.now())
    return partial(add_memory, memory=memory, key=shop.books.sealer.key)


def _tag(shop: Shop, call: Call, preview: Preview) -> Beside:
    add, remove = call.arguments.get("add") or (), call.arguments.get("remove") or ()

    def write(transaction: Transaction) -> None:
        for path in preview.annotates:
            retag(transaction, path, add, remove, shop.books.now(), call.role)

    return write


def _describe(shop: Shop, call: Call, preview: Preview) -> Beside:
    def write(transaction: Transaction) -> None:
        for path in preview.annotates:
            describe(transaction, path, str(call.arguments["description"]), at=shop.books.now(), by=call.role)

    return write


BESIDE: Mapping[str, Callable[[Shop, Call, Preview], Beside]] = MappingProxyType(
    {
        "save_to_short_term_memory": _remember_in_run,
        "save_to_long_term_memory": _remember_for_good,
        "tag_document": _tag,
        "describe_document": _describe,
    }
)
"""The tools whose calls write more than their entry: memories for the run or for good, and what is said of documents."""
