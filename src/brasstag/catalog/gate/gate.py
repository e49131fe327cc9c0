"""Gate: what every step of a proposal works with."""

from collections.abc import Callable
from dataclasses import dataclass

from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.gate.apply import At
from brasstag.store.catalog.proposals import get_proposal
from brasstag.store.store import Store
from brasstag.words.prompts import Proposal, ProposalContent


def _no_step(_step: str) -> None:
    """Nothing happens between steps."""


def _two_eyes() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Gate:
    """The store and the catalog of one open room."""

    store: Store
    catalog: PromptCatalog
    four_eyes: Callable[[], bool] = _two_eyes
    """Says whether author and approver must be two persons."""
    at: At = _no_step

    def get(self, name: str) -> Proposal:
        """Return a proposal by its id or the end of it."""
        return self.store.read(lambda view: get_proposal(view, name))

    def base(self, content: ProposalContent) -> str:
        """Return the digest of the live tool that a proposal would change; empty where there is none."""
        found = self.catalog.accepted(content.target, content.tool.id)
        return "" if found is None else found.content_digest
