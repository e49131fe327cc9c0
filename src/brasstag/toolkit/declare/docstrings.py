"""Read a function's docstring: the first paragraph, and Google's ``Args:`` section."""

import inspect
import re
from dataclasses import dataclass

_SECTION = re.compile(r"^(\w[\w ]*):\s*$")
_ENTRY = re.compile(r"^\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")
_ARGUMENTS = frozenset({"args", "arguments", "parameters"})


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says."""

    description: str
    arguments: dict[str, str] | None
    """By name; None where there is no ``Args:`` section."""


def read_docstring(text: str | None) -> Docstring:
    """Read a docstring; a missing one has an empty description."""
    lines = inspect.cleandoc(text or "").splitlines()
    paragraph: list[str] = []
    for line in lines:
        if not line.strip() or _SECTION.match(line):
            break
        paragraph.append(line.strip())
    return Docstring(" ".join(paragraph), _arguments(lines))


def _arguments(lines: list[str]) -> dict[str, str] | None:
    start = next((at for at, line in enumerate(lines) if _heads_arguments(line)), None)
    if start is None:
        return None
    found: dict[str, str] = {}
    name, indent = "", 0
    for line in lines[start + 1 :]:
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth == 0:
            break
        entry = _ENTRY.match(line.strip())
        if entry and (not name or depth <= indent):
            name, indent = entry[1], depth
            found[name] = entry[2]
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _heads_arguments(line: str) -> bool:
    section = _SECTION.match(line)
    return section is not None and section[1].lower() in _ARGUMENTS
