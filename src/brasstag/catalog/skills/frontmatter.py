"""The frontmatter of a skill: read the part of YAML that skills use, and nothing that can expand or call code."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from brasstag.catalog.skills.scalars import quoted, read_text, without_comment
from brasstag.words.errors import Code, ToolError

FrontValue = str | list[str] | dict[str, str]
MOST_FRONTMATTER = 128_000
"""Characters; the largest one that is written has about 75,000."""

_FENCED = re.compile(r"---[ \t]*+\r?\n(.*?)^---[ \t]*+(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"([\w.-]++(?: [\w.-]++)*+)[ \t]*+:(?:[ \t]++(.*))?")
_EXPANDS = re.compile(r"(?:^|[\s,\[{:-])(?:[&*]\w|!)")


@dataclass(frozen=True, slots=True)
class _FrontEntry:
    """A key, what stands behind it, and the lines below that belong to it."""

    number: int
    key: str
    first: str
    more: list[str]


def split_skill(text: str) -> tuple[str, str]:
    """Return the frontmatter and the body of SKILL.md."""
    found = _FENCED.match(text)
    if found is None:
        raise ToolError(
            Code.INVALID_PROPOSAL,
            "SKILL.md has no frontmatter: its first line is ---, then follow name and description, then a line ---",
        )
    return found[1], text[found.end() :]


def read_frontmatter(text: str) -> dict[str, FrontValue]:
    """Return the values by key: texts, lists of texts, and maps of texts; what nests deeper is kept as it is written."""
    if len(text) > MOST_FRONTMATTER:
        raise ToolError(
            Code.TOO_LARGE,
            f"the frontmatter of SKILL.md has {len(text):,} characters; at most {MOST_FRONTMATTER:,} are read",
        )
    lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    return {entry.key: _value(entry) for entry in _entries(lines, 2)}


def write_frontmatter(values: Mapping[str, str | dict[str, str]]) -> str:
    """Return frontmatter with its two ``---`` lines."""
    lines = []
    for key, value in values.items():
        if isinstance(value, str):
            lines.append(f"{key}: {quoted(value)}")
        else:
            lines += [f"{key}:", *(f"  {name}: {quoted(text)}" for name, text in value.items())]
    return "\n".join(("---", *lines, "---", ""))


def _entries(lines: Sequence[str], begin: int) -> Iterator[_FrontEntry]:
    """Yield the entries of a map; ``begin`` is the number of its first line in the file."""
    entry: _FrontEntry | None = None
    seen, ended = set(), False
    for number, line in enumerate(lines, begin):
        if line.startswith("#"):
            ended = True
            continue
        if not line.strip() or line[0] == " " or line.startswith(("- ", "-\t")) or line == "-":
            # A comment at the margin ends a block of text, so what follows belongs to no key.
            if entry is not None and not ended:
                entry.more.append(line)
            elif line.strip() and not line.lstrip().startswith("#"):
                raise _wrong(number, "belongs to no key; indent the comment above it, if there is one")
            continue
        if entry is not None:
            yield entry
        found = _KEY.fullmatch(line)
        if found is None:
            raise _wrong(number, "is not of the form `key: value`")
        if found[1] in seen:
            raise _wrong(number, f"gives {found[1]} a second time")
        seen.add(found[1])
        ended = False
        entry = _FrontEntry(number, found[1], (found[2] or "").strip(" \t"), [])
    if entry is not None:
        yield entry


def _value(entry: _FrontEntry) -> FrontValue:
    below = [line for line in entry.more if line.strip() and not line.lstrip().startswith("#")]
    if without_comment(entry.first) or not below:
        return _text(entry)
    start = below[0].lstrip(" ")
    if start.startswith("- ") or start == "-":
        return _list(entry, below)
    if _KEY.fullmatch(start):
        inner = list(_entries(_dedented(entry), entry.number + 1))
        return {one.key: _text(one) for one in inner}
    return _text(entry)


def _text(entry: _FrontEntry) -> str:
    bare = without_comment(entry.first)
    first = next((place for place, line in enumerate(entry.more) if line.strip()), 0)
    start = entry.more[first].lstrip(" ") if entry.more else ""
    nests = not bare and (start.startswith("- ") or _KEY.fullmatch(start))
    if nests or entry.first[:1] in ("[", "{"):
        return _as_written(entry)
    if any(line[:1] == "-" for line in entry.more):
        raise _wrong(entry.number, "holds a text and a list")
    try:
        return read_text(entry.first, entry.more) if bare else read_text(start, entry.more[first + 1 :])
    except ValueError as error:
        raise _wrong(entry.number, str(error)) from None


def _list(entry: _FrontEntry, below: Sequence[str]) -> list[str]:
    items: list[_FrontEntry] = []
    outer = _indent(below[0])
    for line in below:
        begins = _indent(line) == outer and (line.strip() == "-" or line.lstrip(" ").startswith("- "))
        if begins:
            items.append(_FrontEntry(entry.number, entry.key, line.strip()[1:].strip(), []))
        elif _indent(line) > outer and not _KEY.fullmatch(items[-1].first):
            items[-1].more.append(line)
        else:
            return [_as_written(entry)]
    return [_text(item) for item in items]


def _as_written(entry: _FrontEntry) -> str:
    """Return a value that is not interpreted; refuse what another reader would expand."""
    text = "\n".join((entry.first, *_dedented(entry))).strip()
    if _EXPANDS.search(text):
        raise _wrong(entry.number, "holds an alias, an anchor or a tag; these are not read")
    return text


def _dedented(entry: _FrontEntry) -> list[str]:
    filled = [line for line in entry.more if line.strip()]
    indent = min(map(_indent, filled), default=0)
    return [line[indent:] for line in entry.more]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _wrong(number: int, what: str) -> ToolError:
    return ToolError(Code.INVALID_PROPOSAL, f"SKILL.md: line {number} {what}", {"line": number})
