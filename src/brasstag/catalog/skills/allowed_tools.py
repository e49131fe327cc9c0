"""``allowed-tools`` of a skill from outside: it becomes a guardrail, which narrows what an agent does and grants nothing."""

import re

from brasstag.catalog.skills.frontmatter import FrontValue
from brasstag.words.errors import Code, ToolError
from brasstag.words.review.prompt_tools import MOST_IN_FIELD

_TOOL = re.compile(r"[^\s,()\[\]\"']+(?:\([^)]*\))?")


def narrowed(guardrails: str, allowed: FrontValue) -> str:
    """Return guardrails that also say which tools may be used."""
    text = " ".join(allowed) if isinstance(allowed, list | dict) else allowed
    if len(text) > MOST_IN_FIELD:
        raise ToolError(
            Code.INVALID_PROPOSAL,
            f"SKILL.md: allowed-tools has {len(text):,} characters; at most {MOST_IN_FIELD:,} are allowed",
        )
    tools = _TOOL.findall(text)
    sentence = (
        f"Use only these tools, and of these only the ones your role may use: {', '.join(tools)}."
        if tools
        else "Use no tools."
    )
    if sentence in guardrails:
        return guardrails
    return f"{guardrails}\n\n{sentence}" if guardrails.strip() else sentence
