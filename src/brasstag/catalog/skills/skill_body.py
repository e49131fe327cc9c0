"""The body of a skill: headed sections, which other agents read as they are and we take apart without a loss."""

import re
from collections.abc import Iterator, Mapping

from brasstag.words.review.prompt_tools import PromptTool

HEADINGS: Mapping[str, str] = {
    "usageNotes": "Usage notes",
    "goals": "Goals",
    "guardrails": "Guardrails",
    "prompt": "Prompt",
}
"""The section of each field, in the order of the body."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*")


def skill_body(tool: PromptTool) -> str:
    """Return the body for a prompt tool."""
    fields = tool.as_json()
    sections = (f"## {heading}\n\n{fields[field]}" for field, heading in HEADINGS.items())
    return "\n\n".join((f"\n# {' '.join(tool.name.split())}", *sections)) + "\n"


def lengths_of(tool: PromptTool) -> str:
    """Return how many characters each section has: a heading inside a field looks like one of ours."""
    fields = tool.as_json()
    return " ".join(str(len(fields[field])) for field in HEADINGS)


def cut_by_lengths(body: str, lengths: str) -> dict[str, str] | None:
    """Return the fields of a body that was written with these lengths; None where the lengths do not fit it."""
    given = lengths.split()
    if len(given) != len(HEADINGS) or not all(
        one.isascii() and one.isdigit() and len(one) < 9 for one in given
    ):
        return None
    found = {}
    # The title is one line, so the first line break before this heading is ours.
    at = body.find(f"\n\n## {HEADINGS['usageNotes']}\n\n")
    for (field, heading), length in zip(HEADINGS.items(), map(int, given), strict=True):
        begin = f"\n\n## {heading}\n\n"
        if at < 0 or not body.startswith(begin, at):
            return None
        at += len(begin)
        found[field] = body[at : at + length]
        at += length
    return found if body[at:] == "\n" else None


def cut_by_headings(body: str) -> dict[str, str]:
    """Return the sections with our headings, outside of fenced code; the prompt goes to the end."""
    found: dict[str, list[str]] = {}
    wanted = {heading.lower(): field for field, heading in HEADINGS.items()}
    current: list[str] = []
    for line, heading in _lines(body):
        field = wanted.get(heading)
        if "prompt" in found:
            field = None
        elif heading and field is None:
            current = []
        if field is not None and field not in found:
            current = found[field] = []
        else:
            current.append(line)
    return {field: "\n".join(lines).strip() for field, lines in found.items()}


def _lines(body: str) -> Iterator[tuple[str, str]]:
    """Yield each line, and the words of the heading it is, of the first or second level."""
    fence = ""
    for line in body.split("\n"):
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not opened[2].strip():
                fence = ""
            yield line, ""
            continue
        if opened:
            fence = opened[1]
        found = None if opened else _HEADING.fullmatch(line.rstrip("\r"))
        yield line, found[2].lower() if found and len(found[1]) <= 2 else ""
