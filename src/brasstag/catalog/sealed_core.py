"""The core prompt tools: read from the wheel, and checked against the digest they were sealed with."""

import json
from functools import cache
from importlib.resources import files

from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ConfigError, Problem, ToolError
from brasstag.words.review.prompt_tools import PromptTool

CORE_FILE = "brasstag/catalog/core/tools.json"
CORE_DIGEST = "3f40298727919e76d8913274f70d88115331fdab1a332a68cb63a278feb09bd9"
"""The SHA-256 of that file; a test holds it equal to what is shipped."""


@cache
def core_tools() -> tuple[PromptTool, ...]:
    """Return the core tools in their order; raise ConfigError where the shipped file was changed."""
    data = files("brasstag.catalog.core").joinpath("tools.json").read_bytes()
    if sha256(data) != CORE_DIGEST:
        raise ConfigError(
            [
                Problem(
                    CORE_FILE,
                    "",
                    "is not the file this release was sealed with",
                    "Install Brasstag again; core tools cannot be changed.",
                )
            ]
        )
    return tuple(PromptTool.from_json(one, CORE_FILE) for one in json.loads(data))


def is_core(tool_id: str) -> bool:
    """Say whether an id belongs to a core tool."""
    return any(tool.id == tool_id for tool in core_tools())


def refuse_core(tool_id: str) -> None:
    """Raise ToolError where an id belongs to a core tool."""
    if is_core(tool_id):
        raise ToolError(
            Code.CORE_LOCKED,
            f"{tool_id} is a core tool and locked: it can be neither changed nor removed. Propose a tool with another id, "
            f"such as {copied_id(tool_id)}",
            hint=f"`brasstag prompts copy {tool_id}` makes a copy of your own",
        )


def copied_id(tool_id: str) -> str:
    """Return the id that a copy of a tool gets."""
    return f"{tool_id}_custom"
