"""Names: the skill's name for the id of a prompt tool, and the id for a skill's name."""

import re

from brasstag.words.errors import Code, ToolError

_LONGEST = 64
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def skill_name(tool_id: str) -> str:
    """Return the name of the skill, which is also that of its folder: each run of underscores becomes one hyphen."""
    return "-".join(part for part in tool_id.split("_") if part)


def require_name(name: object) -> str:
    """Return the name of a skill; raise ToolError where the format does not allow it."""
    if isinstance(name, str) and len(name) <= _LONGEST and _NAME.fullmatch(name):
        return name
    shown = repr(name)[:100] if name else "missing"
    raise ToolError(
        Code.INVALID_PROPOSAL,
        f"SKILL.md: the name is {shown}; it has 1 to {_LONGEST} lower-case letters, digits and single hyphens between them",
    )


def tool_id_of(name: str) -> str:
    """Return the id for a skill from elsewhere; an id begins with a letter."""
    found = name.replace("-", "_")
    return found if found[0].isalpha() else f"skill_{found}"[:_LONGEST].rstrip("_")
