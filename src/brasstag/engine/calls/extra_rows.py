"""Rows that a call without file changes writes with its entry, in the same commit."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from brasstag.catalog.gate.save import require_few_open
from brasstag.engine.calls.capabilities.prompts import proposal_of
from brasstag.engine.calls.types import Extra
from brasstag.engine.runtime import Runtime
from brasstag.policy.grants import Grant
from brasstag.store.catalog.issues import change_issue, get_issue
from brasstag.store.database.base import Transaction
from brasstag.store.documents.annotations import describe, retag
from brasstag.store.tasks.memories import Memory, add_memory
from brasstag.store.tasks.rows import find_task
from brasstag.words.calls import Call
from brasstag.words.ids import new_id
from brasstag.words.previews import Preview
from brasstag.words.review.issues import IssueEvent


def extra_rows(runtime: Runtime, grant: Grant) -> Extra | None:
    """Return what writes down more than a granted call's entry, or None where its entry is all."""
    found = EXTRA_ROWS.get(grant.call.tool)
    return None if found is None else found(runtime, grant.call, grant.preview)


def _remember_in_run(runtime: Runtime, call: Call, _preview: Preview) -> Extra:
    task = runtime.store.read(lambda view: find_task(view, call.task_id))
    return _remember(runtime, call, call.task_id if task is None else task.tree)


def _remember_for_good(runtime: Runtime, call: Call, _preview: Preview) -> Extra:
    return _remember(runtime, call, tree="")


def _remember(runtime: Runtime, call: Call, tree: str) -> Extra:
    content = str(call.arguments["content"])
    memory = Memory(new_id("mem"), call.role, tree, content, call.task_id, call.id, runtime.store.now())
    return Extra(partial(add_memory, memory=memory, key=runtime.store.sealer.key), {"memory": memory.id})


def _tag(runtime: Runtime, call: Call, preview: Preview) -> Extra:
    add, remove = call.arguments.get("add") or (), call.arguments.get("remove") or ()

    def write(transaction: Transaction) -> None:
        for path in preview.annotates:
            retag(transaction, path, add, remove, runtime.store.now(), call.role)

    return Extra(write)


def _describe(runtime: Runtime, call: Call, preview: Preview) -> Extra:
    def write(transaction: Transaction) -> None:
        for path in preview.annotates:
            describe(
                transaction, path, str(call.arguments["description"]), at=runtime.store.now(), by=call.role
            )

    return Extra(write)


def _propose(runtime: Runtime, call: Call, _preview: Preview) -> Extra:
    move = proposal_of(runtime, call, call.arguments)

    def write(transaction: Transaction) -> None:
        # Counted again here: several calls may have looked at the same moment.
        require_few_open(transaction.connection, move.proposal.author, move.proposal.id)
        runtime.store.catalog.write_move(transaction, call.task_id, move)
        transaction.after_commit.append(partial(runtime.listeners.proposed, move.proposal.id))

    return Extra(write)


def _comment(runtime: Runtime, call: Call, _preview: Preview) -> Extra:
    issue = runtime.store.read(lambda view: get_issue(view, str(call.arguments["issue"])))
    event = IssueEvent(runtime.store.now(), call.actor, "commented", str(call.arguments["text"]))

    def write(transaction: Transaction) -> None:
        change_issue(transaction, issue.id, event)

    return Extra(write)


EXTRA_ROWS: Mapping[str, Callable[[Runtime, Call, Preview], Extra]] = MappingProxyType(
    {
        "save_to_short_term_memory": _remember_in_run,
        "save_to_long_term_memory": _remember_for_good,
        "tag_document": _tag,
        "describe_document": _describe,
        "propose_prompt_tool": _propose,
        "comment_issue": _comment,
    }
)
"""The tools whose calls write more than their entry: memories, what is said of documents and issues, and proposals."""
