"""line_editor: proposed edits checked against a file, and safe edits that can be computed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from brasstag.tools.manuscript.text import SourceText

_SAFE: tuple[tuple[str, "re.Pattern[str]", str], ...] = (
    ("double_space", re.compile(r"(?<=[^\s|])(  +)(?=[^\s|])"), " "),
    ("repeated_mark", re.compile(r"([,;:])\1+"), r"\1"),
    ("space_before_mark", re.compile(r"(?<=\w) +(?=[,;](?:\s|$))"), ""),
)
_DOUBLED = re.compile(r"\b([^\W\d_]{2,})([ ]+)\1\b", re.IGNORECASE)
_MAY_DOUBLE = frozenset(
    {"had", "that", "ha", "no", "very", "so", "there", "bye", "knock", "her", "is", "do", "in", "on"}
)
_AROUND = 30
_LONGEST_LINE = 20_000
_TRIES = 3
"""How many places are tried for each suggestion that is wanted: each costs one look through the file."""


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """One replacement, as edit_file takes it."""

    search: str
    replace: str
    reason: str


def checked(source: SourceText, edits: Sequence[ProposedEdit]) -> list[dict[str, Any]]:
    """Say for each edit whether it applies exactly once to the file, and where."""
    found = []
    for edit in edits:
        count = source.text.count(edit.search) if edit.search else 0
        at = source.text.find(edit.search) if count else -1
        found.append(
            {
                "search_text": edit.search,
                "replace_text": edit.replace,
                "reason": edit.reason,
                "applies": count == 1 and edit.search != edit.replace,
                "matches": count,
                "line": source.line_of(at) if at >= 0 else None,
                "problem": _problem(source, edit, count),
            }
        )
    return found


def _problem(source: SourceText, edit: ProposedEdit, count: int) -> str:
    if edit.search == edit.replace:
        return "search and replace are the same"
    if count == 1:
        return ""
    if count > 1:
        return f"the text occurs {count} times; give more of what surrounds it"
    if " ".join(edit.search.split()) in " ".join(source.text.split()):
        return "the text is there with other white space or line ends; copy it exactly"
    return "the text is not in the file"


def overlapping(source: SourceText, edits: Sequence[ProposedEdit]) -> list[list[int]]:
    """Return the pairs of edits that touch the same characters, so that only one of them can be applied."""
    spans = sorted(
        (at, at + len(edit.search), number)
        for number, edit in enumerate(edits)
        if edit.search and source.text.count(edit.search) == 1 and (at := source.text.find(edit.search)) >= 0
    )
    return [[one[2], other[2]] for one, other in pairwise(spans) if other[0] < one[1]]


def suggestions(source: SourceText, most: int) -> list[dict[str, Any]]:
    """Return edits that change no meaning; each search text occurs exactly once in the file."""
    found: list[dict[str, Any]] = []
    start, tried = 0, 0
    for line in source.text.split("\n"):
        if not line.startswith(("    ", "\t", "|", "```", "#")) and len(line) <= _LONGEST_LINE:
            for check, first, after, new in _in_line(line):
                tried += 1
                if tried > most * _TRIES:
                    return found
                edit = _unique_edit(source, line, (first, after), new)
                if edit is not None and len(found) < most:
                    quote = source.quote(start + first, start + after)
                    found.append({**edit, "check": check, "line": quote.line, "evidence": [quote.as_json()]})
        start += len(line) + 1
        if len(found) >= most:
            break
    return found


def _in_line(line: str) -> Iterator[tuple[str, int, int, str]]:
    for check, pattern, new in _SAFE:
        for one in pattern.finditer(line):
            yield check, one.start(), one.end(), one.expand(new)
    for one in _DOUBLED.finditer(line):
        if one[1].lower() not in _MAY_DOUBLE:
            yield "doubled_word", one.start(), one.end(), one[1]


def _unique_edit(source: SourceText, line: str, span: tuple[int, int], new: str) -> dict[str, str] | None:
    """Widen a place until its text occurs once in the file; None where the whole line is not enough."""
    first, after = span
    for around in (0, _AROUND, 4 * _AROUND):
        left, right = max(0, first - around), min(len(line.rstrip("\r")), after + around)
        search = line[left:right]
        if around and search.strip() and source.text.count(search) == 1:
            replace = line[left:first] + new + line[after:right]
            return {"search_text": search, "replace_text": replace}
    return None
