"""Write a prompt tool as an Agent Skill: ``SKILL.md``, and ``evals/evals.json`` where there are test cases."""

from collections.abc import Sequence
from typing import Any

from brasstag.catalog.skills.evals import EVALS, write_evals
from brasstag.catalog.skills.frontmatter import write_frontmatter
from brasstag.catalog.skills.skill_body import lengths_of, skill_body
from brasstag.catalog.skills.skill_folder import MOST_BYTES, SKILL
from brasstag.catalog.skills.skill_name import skill_name
from brasstag.words.canonical import why_not_json
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import PromptTool, Source
from brasstag.words.review.proposals import TestCase

MOST_DESCRIPTION = 1_024
"""Characters that the format allows."""
OURS = "brasstag-"
"""What our keys in the metadata begin with, apart from ``title``."""


def skill_files(
    tool: PromptTool,
    *,
    source: Source = "project",
    rationale: str = "",
    examples: Sequence[str] = (),
    test_cases: Sequence[TestCase] = (),
) -> dict[str, bytes]:
    """Return the files of the skill, by their path inside its folder; :func:`read_skill` loses nothing of them."""
    known: dict[str, Any] = {
        **tool.as_json(),
        "rationale": rationale,
        "examples": list(examples),
        "testCases": [case.as_json() for case in test_cases],
    }
    if reason := why_not_json(known):
        raise ToolError(Code.INVALID_PROPOSAL, f"{tool.id} cannot be written as a skill: {reason}")
    name = skill_name(tool.id)
    metadata = {
        "title": tool.name,
        f"{OURS}id": tool.id,
        f"{OURS}archetype": tool.archetype,
        f"{OURS}scope": tool.scope,
        f"{OURS}source": source,
        f"{OURS}rationale": rationale,
        f"{OURS}lengths": lengths_of(tool),
        f"{OURS}digest": tool.digest,
    }
    front: dict[str, str | dict[str, str]] = {
        "name": name,
        "description": description_of(tool.usage_notes),
        "metadata": metadata,
    }
    found = {SKILL: (write_frontmatter(front) + skill_body(tool)).encode()}
    if examples or test_cases:
        found[EVALS] = write_evals(name, examples, test_cases)
    for path, data in found.items():
        if len(data) > MOST_BYTES:
            raise ToolError(
                Code.TOO_LARGE, f"{path} of {name} would have {len(data):,} bytes; {MOST_BYTES:,} are read"
            )
    return found


def description_of(usage_notes: str) -> str:
    """Return what agents choose a skill by: the usage notes on one line, cut where the format cuts."""
    text = " ".join(usage_notes.split())
    return text if len(text) <= MOST_DESCRIPTION else text[: MOST_DESCRIPTION - 1].rstrip() + "…"
