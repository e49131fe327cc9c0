"""Calls behind document commands; their messages name commands instead of tools."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brasstag.surfaces.cli.commands.call import call_tool
from brasstag.surfaces.cli.terminal.console import OutputName

if TYPE_CHECKING:
    from brasstag.words.calls import Outcome

_OF_THE_PRESENT = frozenset({"tag", "describe"})
"""Commands for documents that exist now."""


def no_document(path: str) -> str:
    """Say that there is no such document, and how people can list the documents."""
    from brasstag.sandbox import shown

    return f"{shown(path)} is not a document; `brasstag documents list` lists the documents"


async def call_for(
    command: str,
    project: Path,
    given: dict[str, Any],
    role: str,
    yes: bool,
    later: bool,
    output: OutputName | None,
) -> int:
    """Call the tool that does for a role what a command about documents does; return the exit code."""
    from brasstag.words.calls import Failed
    from brasstag.words.errors import Code

    def retold(outcome: "Outcome") -> "Outcome":
        if isinstance(outcome, Failed) and outcome.code is Code.FILE_NOT_FOUND and command in _OF_THE_PRESENT:
            return replace(outcome, message=no_document(given["path"]))
        return outcome

    usage = f"brasstag documents {command} --help"
    return await call_tool(
        project, f"{command}_document", given, role, yes, later, output, retold=retold, usage=usage
    )
