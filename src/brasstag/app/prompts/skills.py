"""Skills of a room: write a live prompt tool as an Agent Skill, and make a document to propose from one."""

from pathlib import Path
from typing import Any

from brasstag.catalog.catalog import PromptCatalog
from brasstag.catalog.gate.read import read_draft, read_proposal
from brasstag.catalog.gate.screened import require_unblocked
from brasstag.catalog.sealed_core import copied_id, is_core
from brasstag.catalog.skills.notes import with_notes
from brasstag.catalog.skills.read_skill import read_skill
from brasstag.catalog.skills.skill_folder import write_skill_folder
from brasstag.catalog.skills.skill_name import skill_name
from brasstag.catalog.skills.write_skill import skill_files
from brasstag.catalog.snapshots import Snapshot
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import FIELDS, MOST_IN_FIELD, Target
from brasstag.words.review.proposals import ProposalContent


def write_skill(catalog: PromptCatalog, tool_id: str, folder: Path) -> list[Path]:
    """Write a live prompt tool into a folder of the skill's name; return the files."""
    entry = catalog.get(tool_id)
    approved = None if entry.source == "core" else catalog.accepted(entry.source, tool_id)
    files = skill_files(
        entry.tool,
        source=entry.source,
        rationale=approved.rationale if approved else "",
        examples=approved.examples if approved else (),
        test_cases=approved.test_cases if approved else (),
    )
    return write_skill_folder(folder, skill_name(tool_id), files)


def skill_proposal(catalog: PromptCatalog, folder: Path, target: Target) -> tuple[dict[str, Any], list[str]]:
    """Return the document that a skill proposes, and what it still needs; raise ToolError where it is screened out.

    A document that is not complete says in its rationale what it needs.
    """
    document = _fitted(read_skill(folder) | {"target": target}, catalog)
    try:
        content = read_proposal(document, catalog)
        missing: list[str] = []
    except ToolError as error:
        if error.code is not Code.INVALID_PROPOSAL:
            raise
        missing = list(error.details["problems"])
        content = read_draft(document)
    require_unblocked(content)
    if missing:
        document = _noted(document, f"Still to do: {'; '.join(missing)}.")
    return document, missing


def _fitted(document: dict[str, Any], catalog: PromptCatalog) -> dict[str, Any]:
    """Return the document as this room can take it: beside what is locked, or as a change of what is live."""
    taken = document["id"]
    if is_core(taken) or taken in catalog.callable_tools():
        document |= {"id": copied_id(taken), "name": f"{document['name']} (custom)"[:MOST_IN_FIELD]}
        document = _noted(
            document,
            f"The id {taken} belongs to a tool that cannot be replaced, so this one is {document['id']}.",
        )
    live = catalog.accepted(document["target"], document["id"])
    return document if live is None or live.tool is None else _changed(document, live)


def _changed(document: dict[str, Any], live: Snapshot) -> dict[str, Any]:
    """Return a document that changes the live tool; raise ToolError where it would change nothing."""
    content = ProposalContent.from_json(document)
    before = live.tool.as_json() if live.tool else {}
    after = content.tool.as_json()
    parts = [field for field in FIELDS if after[field] != before.get(field)]
    if content.examples and content.examples != live.examples:
        parts.append("examples")
    if content.test_cases and content.test_cases != live.test_cases:
        parts.append("testCases")
    if not parts:
        raise ToolError(
            Code.INVALID_PROPOSAL,
            f"{live.tool_id} is live with exactly this content; there is nothing to propose",
        )
    why = f"The imported skill differs from the live tool in {', '.join(parts)} (content {content.digest[:12]})."
    return _noted(document, why) | {"proposalType": "modify"}


def _noted(document: dict[str, Any], note: str) -> dict[str, Any]:
    """Return a document whose rationale begins with a note, so that a long rationale does not push it out."""
    return document | {"rationale": with_notes(note, [text for text in (document["rationale"],) if text])}
