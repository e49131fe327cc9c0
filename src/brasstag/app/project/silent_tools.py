"""Tools of a project that do not say where they act: a person says it once for each version of such a tool."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from brasstag.app.project.trust import Trust
from brasstag.app.project.wires import load_wires
from brasstag.settings import TOOLS_DIRECTORY
from brasstag.toolkit.discovery import discover_folder
from brasstag.toolkit.tool import Tool
from brasstag.words.errors import Code, ToolError

ANSWERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "workspace": {"effects": "files"},
        "ask": {"effects": "external", "approval": "confirm"},
        "free": {"effects": "external", "approval": "auto"},
    }
)
"""What a person may say of such a tool, and what its config then says."""


def unanswered_tools(project: Path, trust: Trust) -> list[Tool]:
    """Load what a person has accepted, and return the tools that leave open where they act."""
    trust.require()
    answers = trust.answers()
    return [tool for tool in _silent(project) if answers.get(tool.version) not in ANSWERS]


def answer(project: Path, trust: Trust, given: Mapping[str, str]) -> None:
    """Remember what a person said of tools by their names; it counts for these versions of them only."""
    trust.require()
    silent = require_silent(project, given)
    current = {tool.version for tool in silent.values()}
    kept = {version: said for version, said in trust.answers().items() if version in current}
    trust.remember(kept | {silent[name].version: said for name, said in given.items()})


def require_silent(project: Path, names: Iterable[str]) -> dict[str, Tool]:
    """Load the tools that leave open where they act, by name; raise ToolError where one of these is not among them."""
    silent = {tool.name: tool for tool in _silent(project)}
    unknown = sorted(set(names) - silent.keys())
    if unknown:
        names = ", ".join(silent) or "none"
        raise ToolError(
            Code.INVALID_ARGUMENTS,
            f"{', '.join(unknown)}: not a tool of this project that leaves open where it acts; those are: {names}",
        )
    return silent


def as_answered(tool: Tool, answers: Mapping[str, str]) -> Tool:
    """Return a tool as a person said where it acts; ``answers`` are by version."""
    said = answers.get(tool.version, "")
    if tool.config.says_effects or said not in ANSWERS:
        return tool
    given = dict(ANSWERS[said])
    if tool.config.approval is not None and said == "free":
        # What the tool itself says of approval stays; a person's yes to running freely does not loosen it.
        del given["approval"]
    return replace(tool, config=tool.config.model_copy(update=given))


def _silent(project: Path) -> list[Tool]:
    tools = (*discover_folder(project / TOOLS_DIRECTORY), *load_wires(project).tools)
    return [tool for tool in tools if not tool.config.says_effects]
