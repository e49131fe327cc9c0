"""Read what `brasstag prompts run` was told: a file, lines of it, words."""

import re
from dataclasses import dataclass
from pathlib import Path

import typer

_LINES = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True, slots=True)
class PromptRun:
    """A prompt tool, and on what it is to be used."""

    tool_id: str
    words: str
    file: Path | None
    lines: tuple[int, int] | None
    role: str
    model: str


def prompt_use(tool_id: str, words: str, file: Path | None, lines: str, role: str, model: str) -> PromptRun:
    """Return what was asked for; raise BadParameter for lines that are none."""
    if lines and file is None:
        raise typer.BadParameter("--lines are lines of a file; give --file, too")
    found = _LINES.fullmatch(lines) if lines else None
    if lines and found is None:
        raise typer.BadParameter(f"--lines is {lines!r}; write a range such as 10-25")
    chosen = None if found is None else (int(found[1]), int(found[2] or found[1]))
    if chosen is not None and not 1 <= chosen[0] <= chosen[1]:
        raise typer.BadParameter(f"--lines is {lines!r}; lines count from 1, and the first comes first")
    return PromptRun(tool_id, words, file, chosen, role, model)
