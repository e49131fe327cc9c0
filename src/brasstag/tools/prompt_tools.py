"""load_prompt_tool and propose_prompt_tool: read a prompt tool whole, and propose a new or changed one."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from brasstag.toolkit.declare.declare import tool
from brasstag.words.errors import Code, ToolError

if TYPE_CHECKING:
    from brasstag.catalog.merge import CatalogEntry
    from brasstag.store.catalog.writer import Move

_WORD = re.compile(r"\w+")


class PromptLookup(Protocol):
    """What a tool may know and propose of prompt tools; the engine hands it in. It can approve nothing."""

    def find(self, tool_id: str) -> "CatalogEntry":
        """Return a live prompt tool."""

    def live(self) -> "Sequence[CatalogEntry]":
        """Return every live prompt tool."""

    def propose(self, document: Mapping[str, Any]) -> "Move":
        """Return what would be written for a proposal."""


@tool(execution_type="function")
def load_prompt_tool(prompts: PromptLookup, id: str = "", query: str = "", limit: int = 10) -> dict[str, Any]:  # noqa: A002 - S4's name
    """load_prompt_tool"""
    if bool(id) == bool(query):
        raise ToolError(Code.INVALID_ARGUMENTS, "give an id to load one, or a query to find some")
    if id:
        entry = prompts.find(id)
        found = {**entry.tool.as_json(), "source": entry.source, "hash": entry.tool.digest}
        return {"tool": found, "matches": []}
    words = [word.casefold() for word in _WORD.findall(query)]
    scored = [(_score(entry, words), entry) for entry in prompts.live()]
    ranked = sorted(((score, entry) for score, entry in scored if score), key=lambda one: -one[0])
    return {
        "tool": None,
        "matches": [
            {"id": entry.tool.id, "name": entry.tool.name, "usageNotes": entry.tool.usage_notes}
            for _, entry in ranked[:limit]
        ],
    }


@tool(execution_type="function")
def propose_prompt_tool(
    prompts: PromptLookup,
    id: str,  # noqa: A002 - S4's name
    proposal_type: str,
    target: str = "project",
    name: str = "",
    archetype: str = "",
    scope: str = "",
    usage_notes: str = "",
    goals: str = "",
    guardrails: str = "",
    prompt: str = "",
    rationale: str = "",
    examples: list[str] | None = None,
    test_cases: list[dict[str, Any]] | None = None,
    owner: str = "",
) -> dict[str, Any]:
    """propose_prompt_tool"""
    given = {
        "id": id,
        "proposal_type": proposal_type,
        "target": target,
        "name": name,
        "archetype": archetype,
        "scope": scope,
        "usage_notes": usage_notes,
        "goals": goals,
        "guardrails": guardrails,
        "prompt": prompt,
        "rationale": rationale,
        "examples": examples,
        "test_cases": test_cases,
        "owner": owner,
    }
    proposal = prompts.propose(given).proposal
    return {
        "proposal": proposal.id,
        "state": proposal.state.value,
        "revision": proposal.revision,
        "issue": proposal.issues[0],
        "note": "The Chief of Staff reviews it, then a person decides. It is not live before that.",
    }


def _score(entry: "CatalogEntry", words: Sequence[str]) -> int:
    tool = entry.tool
    named = f"{tool.id} {tool.name}".casefold().replace("_", " ")
    about = f"{tool.usage_notes} {tool.goals} {tool.prompt}".casefold()
    return sum(3 * (word in named) + (word in about) for word in words)
