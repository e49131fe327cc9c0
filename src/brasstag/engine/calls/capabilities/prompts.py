"""PromptAccess: what one call may know and propose of prompt tools and issues; it can approve nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.gate.gate import Gate
from brasstag.catalog.gate.save import prepare, require_few_open
from brasstag.catalog.merge import CatalogEntry
from brasstag.engine.runtime import Runtime
from brasstag.store.catalog.issues import comments_by_issue, get_issue, list_issues
from brasstag.store.catalog.writer import Move
from brasstag.store.tasks.rows import find_task
from brasstag.words.calls import Call
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.issues import Issue
from brasstag.words.review.proposals import ProposalAuthor

_CAMEL = {"usage_notes": "usageNotes", "proposal_type": "proposalType", "test_cases": "testCases"}
"""How S4's files spell arguments of propose_prompt_tool."""


@dataclass(frozen=True, slots=True)
class PromptAccess:
    """The access of one call to the catalog and the issues."""

    runtime: Runtime
    call: Call

    def find(self, tool_id: str) -> CatalogEntry:
        """Return a live prompt tool; raise ToolError where there is none of this id."""
        return self._catalog.get(tool_id)

    def live(self) -> Sequence[CatalogEntry]:
        """Return every live prompt tool."""
        return self._catalog.now.entries

    def propose(self, document: Mapping[str, Any]) -> Move:
        """Return what would be written for a proposal; raise ToolError for what is wrong with it."""
        return proposal_of(self.runtime, self.call, document)

    def issues(self) -> tuple[list[Issue], Mapping[str, str]]:
        """Return every issue, and what was said about each."""
        return self.runtime.store.read(lambda view: (list_issues(view), comments_by_issue(view)))

    def issue(self, name: str) -> Issue:
        """Return one issue, by its id or the end of it."""
        return self.runtime.store.read(lambda view: get_issue(view, name))

    @property
    def _catalog(self) -> PromptCatalog:
        if self.runtime.catalog is None:
            raise _none_here()
        return self.runtime.catalog


def proposal_of(runtime: Runtime, call: Call, document: Mapping[str, Any]) -> Move:
    """Return the move that saves what a call proposes; its id follows from the call's, so both looks give the same."""
    named = f"prp_{sha256(call.id.encode())[:32]}"
    written = {
        _CAMEL.get(name, name): value for name, value in document.items() if value not in (None, "", [])
    }
    gate = _gate(runtime)
    move = prepare(gate, written, _author(runtime, call), named=named, epoch=call.epoch)
    gate.store.read(lambda view: require_few_open(view, move.proposal.author, move.proposal.id))
    return move


def _author(runtime: Runtime, call: Call) -> ProposalAuthor:
    """Return who proposes; an agent counts as the person who started its run."""

    def starter(view: Any) -> str:
        task = find_task(view, call.task_id)
        root = None if task is None or task.is_desk else find_task(view, task.tree)
        return call.actor if root is None else root.actor

    return ProposalAuthor(call.actor, runtime.store.read(starter))


def _gate(runtime: Runtime) -> Gate:
    if runtime.gate is None:
        raise _none_here()
    return runtime.gate


def _none_here() -> ToolError:
    return ToolError(Code.NOT_SUPPORTED, "this room has no catalog of prompt tools")
