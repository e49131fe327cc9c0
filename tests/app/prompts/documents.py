"""Proposals for tests, complete and as people write them."""

from pathlib import Path
from typing import Any

from brasstag import Room
from brasstag.words.prompts import Proposal

CASES: list[dict[str, Any]] = [
    {
        "name": "finds one",
        "input": '"No," she hissed.',
        "expect": "pass",
        "checks": [{"contains": "hissed"}],
        "sampleOutput": "1: hissed",
    },
    {"name": "plain", "input": '"No," she said.', "checks": ["no_fences"], "sampleOutput": "none"},
]


def proposal(**changes: Any) -> dict[str, Any]:
    """Return a complete proposal of a new tool, with changes."""
    return {
        "id": "tag_hunter",
        "name": "Tag hunter",
        "archetype": "editor",
        "scope": "file",
        "usageNotes": "Use it on dialogue.",
        "goals": "Find speech tags that say more than said.",
        "guardrails": "Change nothing.",
        "prompt": "List every speech tag other than said, one a line, with its line number.",
        "proposalType": "new",
        "target": "project",
        "rationale": "The style guide asks for plain tags.",
        "examples": ["Check scene one.", "Check scene two."],
        "testCases": CASES,
    } | changes


async def make_live(room: Room, **changes: Any) -> Proposal:
    """Propose and approve a tool."""
    found = await room.prompts.propose(proposal(**changes))
    return await room.prompts.approve(found.id, "ada", seen=found.digest)


def live_file(project: Path) -> Path:
    return project / ".brasstag" / "prompts" / "prompts.json"


def live_ids(project: Path) -> list[str]:
    import json

    file = live_file(project)
    return [entry["id"] for entry in json.loads(file.read_text())] if file.exists() else []
