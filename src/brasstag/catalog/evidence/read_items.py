"""Read the evidence in a reply: one item a line, or a list of objects; what cannot be read is named exactly."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import re2

from brasstag.catalog.evidence.items import (
    Evidence,
    EvidenceFault,
    EvidenceProblem,
    LineRef,
    Quote,
    ScopeScan,
)

MOST_LINES = 60
"""How many lines of a reply one quote may take."""

TAGS = re2.compile(r"\btag_[0-9A-Za-z_]+")

_FORM = re2.compile(
    r"^[\s>*+_`-]*(?:\d+[.)]\s+)?[*_`]*(QUOTE|LINE_REF|SCOPE_SCAN|NO_CLAIMS)[*_`]*(?::[*_`]*)?(?:\s+(.*))?$"
)
_MARKS = '"“”„‟«»‹›「」『』〝〞'
_QUOTE = re2.compile(rf"(?s)^`?(.+?):L?([0-9]{{1,9}})(?:[-–][0-9]{{1,9}})?`?\s*[{_MARKS}](.*)$")
_RECEIPT = r"[\s`*_]*(?:[\[(]\s*`?(tag_[0-9A-Za-z_]+)`?\s*[\])]|`?(tag_[0-9A-Za-z_]+)`?)?[\s`*_]*\.?$"
_QUOTE_END = re2.compile(rf"(?s)^(.*)[{_MARKS}]{_RECEIPT}")
_LINE_REF = re2.compile(rf"^`?(.+?):L?([0-9]{{1,9}})(?:\s*[-–—]\s*L?([0-9]{{1,9}}))?`?{_RECEIPT}")
_MORE_AFTER_TAG = re2.compile(rf"[{_MARKS}]\s*[\[(]?\s*tag_[0-9A-Za-z_]+")
_WORD = re2.compile(r"\pL+")

HOW_TO_WRITE = {
    "QUOTE": 'QUOTE path:line "text" [tag_…]',
    "LINE_REF": "LINE_REF path:10-14 [tag_…]",
    "SCOPE_SCAN": "SCOPE_SCAN what was searched, how, nothing found [tag_…]",
    "NO_CLAIMS": "NO_CLAIMS: why there is nothing to prove",
}
"""Each form, as a reply has it on a line of its own."""


@dataclass(slots=True)
class ReadReply:
    """A reply, taken apart."""

    items: list[Evidence] = field(default_factory=list)
    problems: list[EvidenceProblem] = field(default_factory=list)
    no_claims: int | None = None
    """The line that says there are no claims; 0 where a member of an object says so."""
    prose: list[str] = field(default_factory=list)
    """The lines of the reply, those of items empty, so that numbers of lines stay true."""

    def refuse(self, at: int, says: str) -> None:
        """Note that an item cannot be read."""
        self.problems.append(EvidenceProblem(EvidenceFault.BAD_FORM, at, says))


def read_items(reply: Any) -> ReadReply:
    """Take a reply apart: a text, or an object with a list ``evidence``, whose texts may have items, too."""
    found = ReadReply()
    if isinstance(reply, Mapping):
        members = {name: value for name, value in reply.items() if name != "evidence"}
        _read_list(reply.get("evidence"), found)
        if reply.get("no_claims"):
            found.no_claims = 0
        reply = members
    _read_text("\n".join(_texts(reply)), found)
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _read_text(text: str, found: ReadReply) -> None:
    lines = text.split("\n")
    found.prose = list(lines)
    at = 0
    while at < len(lines):
        form = _FORM.match(lines[at])
        taken = 1
        if form is not None:
            name, rest = form.group(1), (form.group(2) or "").strip()
            taken = _READERS[name](found, rest, lines, at)
            # The reason of NO_CLAIMS is prose like any other: it may not claim anything either.
            found.prose[at : at + taken] = [rest] if name == "NO_CLAIMS" else [""] * taken
        at += taken


def _read_quote(found: ReadReply, rest: str, lines: list[str], at: int) -> int:
    """Read a quote that begins in a line; return how many lines it takes."""
    begun = _QUOTE.match(rest)
    if begun is None:
        found.refuse(at + 1, f"this QUOTE cannot be read; write {HOW_TO_WRITE['QUOTE']}")
        return 1
    text = begun.group(3)
    for taken in range(1, MOST_LINES + 1):
        ended = _QUOTE_END.match(text)
        if ended is not None:
            _add_quote(found, begun.group(1), int(begun.group(2)), ended, at + 1)
            return taken
        if at + taken >= len(lines) or _FORM.match(lines[at + taken]):
            break
        text = f"{text}\n{lines[at + taken]}"
    found.refuse(
        at + 1,
        f"this QUOTE does not end with a closing mark, or with a tag behind it; write {HOW_TO_WRITE['QUOTE']}",
    )
    return 1


def _add_quote(found: ReadReply, path: str, line: int, ended: Any, at: int) -> None:
    text, tag = ended.group(1), ended.group(2) or ended.group(3) or ""
    if _MORE_AFTER_TAG.search(text):
        found.refuse(
            at, "there is more after the tag of this QUOTE; what you conclude stands on a line of its own"
        )
    elif not text.strip():
        found.refuse(at, "this QUOTE is empty; copy the words it is about")
    else:
        found.items.append(Quote(_plain(path), line, text, tag, at))


def _read_line_ref(found: ReadReply, rest: str, _lines: list[str], at: int) -> int:
    read = _LINE_REF.match(rest)
    if read is None:
        found.refuse(at + 1, f"this LINE_REF cannot be read; write {HOW_TO_WRITE['LINE_REF']}")
    else:
        first = int(read.group(2))
        _add_line_ref(
            found, read.group(1), first, int(read.group(3) or first), read.group(4) or read.group(5), at + 1
        )
    return 1


def _add_line_ref(found: ReadReply, path: str, first: int, last: int, tag: str | None, at: int) -> None:
    if last < first:
        found.refuse(at, f"this LINE_REF ends in line {last}, before it begins in line {first}")
    else:
        found.items.append(LineRef(_plain(path), first, last, tag or "", at))


def _read_scan(found: ReadReply, rest: str, _lines: list[str], at: int) -> int:
    _add_scan(found, rest, at + 1)
    return 1


def _add_scan(found: ReadReply, said: str, at: int) -> None:
    tags = tuple(dict.fromkeys(TAGS.findall(said)))
    if not _WORD.search(TAGS.sub("", said)):
        found.refuse(
            at, f"this SCOPE_SCAN does not say what was searched, and how; write {HOW_TO_WRITE['SCOPE_SCAN']}"
        )
    elif not tags:
        found.refuse(at, f"this SCOPE_SCAN has no tag of a search; write {HOW_TO_WRITE['SCOPE_SCAN']}")
    else:
        found.items.append(ScopeScan(said, tags, at))


def _read_no_claims(found: ReadReply, rest: str, _lines: list[str], at: int) -> int:
    if rest:
        found.no_claims = at + 1
    else:
        found.refuse(at + 1, f"this NO_CLAIMS has no reason; write {HOW_TO_WRITE['NO_CLAIMS']}")
    return 1


_READERS = {
    "QUOTE": _read_quote,
    "LINE_REF": _read_line_ref,
    "SCOPE_SCAN": _read_scan,
    "NO_CLAIMS": _read_no_claims,
}


def _read_list(given: Any, found: ReadReply) -> None:
    if given is None:
        return
    if not isinstance(given, list):
        found.refuse(0, "evidence is not a list; send a list of objects with type, file, line, text and tag")
        return
    for index, item in enumerate(given):
        before = len(found.problems)
        _read_object(item, found)
        found.problems[before:] = [
            EvidenceProblem(one.id, 0, f"evidence[{index}]: {one.says}") for one in found.problems[before:]
        ]


def _read_object(item: Any, found: ReadReply) -> None:
    tag = _tag_in(item)
    match item:
        case {"type": "QUOTE", "file": str(path), "line": int(line), "text": str(text)} if text.strip():
            found.items.append(Quote(_plain(path), line, text, tag, 0))
        case {"type": "LINE_REF", "file": str(path), "line": int() | str() as line}:
            read = _LINE_REF.match(f"{path}:{line}")
            if read is None:
                found.refuse(0, "line is no number and no range such as 10-14")
            else:
                first = int(read.group(2))
                _add_line_ref(found, path, first, int(item.get("end_line") or read.group(3) or first), tag, 0)
        case {"type": "SCOPE_SCAN", "text": str(what)}:
            _add_scan(found, f"{what} {tag}", 0)
        case _:
            found.refuse(
                0,
                "it is no object with type QUOTE (file, line, text), LINE_REF (file, line) or SCOPE_SCAN (text, tag)",
            )


def _tag_in(item: Any) -> str:
    given = str(item.get("tag") or "") if isinstance(item, Mapping) else ""
    named = TAGS.search(given)
    return named.group(0) if named else given


def _plain(path: str) -> str:
    """Return a path as calls record it."""
    parts = path.strip().strip("`\"'").replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", "."))
