"""Describe a document in one sentence, where it has no sentences that would do so."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from brasstag.documents.converters.delimiters import layout_of
from brasstag.documents.converters.text import LANGUAGES
from brasstag.documents.formats.kinds import MARKDOWN, PLAIN
from brasstag.documents.study.summarize import LONGEST, shortened, summarise
from brasstag.words.blocks import Block, Blocks

MOST_PARSED = 2_000_000
"""Characters of JSON that are read to say what is in it."""
MOST_NAMES = 20
"""Columns, keys or sheets that are named."""
LONGEST_SAID = 300
"""Characters of what code says of itself."""

_OPENING = 20_000
_CALLED = {
    **{name: name.upper() for name in ("css", "ini", "json", "php", "sql", "toml", "xml", "yaml")},
    "bash": "Shell",
    "cpp": "C++",
    "csharp": "C#",
    "javascript": "JavaScript",
    "latex": "LaTeX",
    "typescript": "TypeScript",
}
_PREAMBLE = re.compile(r"(?:\s+|#![^\n]*\n|#.*coding[:=][^\n]*\n|<\?.*?\?>|<!DOCTYPE[^>]*>)*")
_COMMENTS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"[rRuU]?\"\"\"(.*?)\"\"\"",
        r"[rRuU]?'''(.*?)'''",
        r"/\*+(.*?)\*/",
        r"<!--(.*?)-->",
        r"((?:[ \t]*(?://+|#+(?=\s)|--|;+|%+)[^\n]*\n)+)",
    )
)
_LEADERS = re.compile(r"^[ \t]*(?://+!?|#+|--|\*+|;+|%+)[ \t]?", re.MULTILINE)
_NOT_ABOUT_IT = re.compile(r"copyright|licen[cs]e|spdx|all rights reserved", re.IGNORECASE)
_SVG = re.compile(r"<svg\b[^>]*>")
_SIDE = re.compile(r"\b(width|height)\s*=\s*[\"']([\d.]+)(?:px)?[\"']")
_TITLE = re.compile(r"<title\b[^>]*>([^<]*)</title>")


def describe_text(text: str, media_type: str) -> str:
    """Return a summary of a text: its own sentences where it is prose, else what it is."""
    if media_type in (PLAIN, MARKDOWN):
        return summarise(text)
    describe = _DESCRIBED.get(media_type)
    if describe is not None:
        return shortened(describe(text))
    return _code(text, LANGUAGES[media_type]) if media_type in LANGUAGES else summarise(text)


def describe_blocks(blocks: Blocks, markdown: str) -> str:
    """Return a summary of a converted document: a workbook by its sheets, all else by its own sentences."""
    sheets = list(dict.fromkeys(block.at.sheet for block in blocks.blocks if block.at.sheet))
    if sheets:
        return shortened(_workbook(sheets, blocks.blocks, "at least " if blocks.truncated else ""))
    tables = [block for block in blocks.blocks if block.kind == "table"]
    has_words = any(block.kind in ("paragraph", "list", "quote", "code") for block in blocks.blocks)
    if tables and not has_words:
        titles = [block.text for block in blocks.blocks if block.kind == "heading"][:1]
        return shortened(f"{': '.join([*titles, _capital(_table(len(tables[0].rows), tables[0].header))])}.")
    return summarise(markdown)


def describe_picture(media_type: str, size: tuple[int, int]) -> str:
    """Say how large a picture is."""
    return f"A picture of {size[0]} x {size[1]} pixels ({media_type})."


def _workbook(sheets: Sequence[str], blocks: Sequence[Block], about: str) -> str:
    tables = {block.at.sheet: block for block in blocks if block.kind == "table"}
    told = []
    for name in sheets[:MOST_NAMES]:
        table = tables.get(name)
        told.append(f"{name} ({_table(len(table.rows), table.header, about) if table else 'empty'})")
    return f"A workbook of {_many(len(sheets), 'sheet')}: {_listed(told, len(sheets))}."


def _table(rows: int, names: Sequence[str], about: str = "") -> str:
    named = f": {_listed([name for name in names if name][:MOST_NAMES], len(names))}" if any(names) else ""
    return f"a table of {about}{_many(rows, 'row')}{named}"


def _separated(text: str, tab: bool = False) -> str:
    layout = layout_of(text, "\t" if tab else "")
    lines = islice(io.StringIO(text, newline=""), layout.above, None)
    try:
        count = sum(1 for row in csv.reader(lines, delimiter=layout.delimiter) if row) - layout.is_named
    except csv.Error:
        return "A table whose rows cannot all be read."
    if not layout.first:
        return ""
    names = [" ".join(name.split()) for name in layout.first] if layout.is_named else []
    return f"{_capital(_table(count, names))}."


def _json_text(text: str) -> str:
    if len(text) > MOST_PARSED:
        return "JSON."
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "JSON that cannot be read."
    return f"{_value(value)}."


def _json_lines(text: str) -> str:
    first = text[:MOST_PARSED].partition("\n")[0]
    rows = sum(1 for line in text.split("\n") if line.strip())
    try:
        names = _names([json.loads(first)])
    except (ValueError, RecursionError):
        names = []
    return f"JSON lines, {_table(rows, names)}."


def _value(value: Any) -> str:
    if isinstance(value, list):
        names = _names(value)
        return _capital(_table(len(value), names)) if names else f"A JSON list of {len(value):,}"
    if isinstance(value, dict):
        return f"JSON with {_listed(list(value)[:MOST_NAMES], len(value)) or 'nothing in it'}"
    return f"The JSON value {json.dumps(value, ensure_ascii=False)[:LONGEST]}"


def _names(values: Sequence[Any]) -> list[str]:
    """Return the keys of objects; nothing where not all are objects."""
    if not all(isinstance(one, dict) for one in values):
        return []
    return list(dict.fromkeys(name for one in values for name in one))


def _code(text: str, language: str) -> str:
    if not text.strip():
        return ""
    lines = text.count("\n") + (not text.endswith("\n"))
    what = f"{_CALLED.get(language, language.capitalize())}, {_many(lines, 'line')}"
    said = _said_first(text[:_OPENING])
    return f"{what}: {said}" if said else f"{what}."


def _said_first(opening: str) -> str:
    """Return what the comments at the beginning of code say, but for who owns it."""
    at = 0
    while True:
        preamble = _PREAMBLE.match(opening, at)
        at = preamble.end() if preamble else at
        found = next(filter(None, (comment.match(opening, at) for comment in _COMMENTS)), None)
        if found is None:
            return ""
        for paragraph in re.split(r"\n\s*\n", _LEADERS.sub("", found[1])):
            said = " ".join(paragraph.split())
            if said and not _NOT_ABOUT_IT.search(said):
                return shortened(said, LONGEST_SAID)
        at = found.end()


def _drawing(text: str) -> str:
    opening = text[:_OPENING]
    tag = _SVG.search(opening)
    sides = dict(_SIDE.findall(tag[0])) if tag else {}
    size = f" of {sides['width']} x {sides['height']}" if len(sides) == 2 else ""
    title = _TITLE.search(opening)
    named = " ".join(title[1].split()) if title else ""
    return f"A drawing{size} (SVG){f': {named}' if named else ''}."


_DESCRIBED: Mapping[str, Callable[[str], str]] = {
    "text/csv": _separated,
    "text/tab-separated-values": lambda text: _separated(text, tab=True),
    "application/json": _json_text,
    "application/jsonl": _json_lines,
    "application/x-ipynb+json": _json_text,
    "image/svg+xml": _drawing,
}


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _listed(names: Sequence[str], total: int) -> str:
    more = total - len(names)
    return ", ".join([*names, *([f"and {more:,} more"] if more > 0 else ())])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
