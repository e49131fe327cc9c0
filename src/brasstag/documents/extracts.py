"""Extracts: what is shown of a text that is too long to be shown whole, and how to read on."""

import json
from collections.abc import Iterable, Iterator, Mapping

from brasstag.documents.examining import HEAD, Examined
from brasstag.documents.kinds import TABLES
from brasstag.words.tokens import BYTES_PER_TOKEN

READ_FILE_BYTES = 1_000_000
"""What read_file gives at once, unless a project says otherwise."""
READ_FILE_SCANS = 64_000_000
"""How large a file may be for read_file to give lines of it."""

LONGEST_LINE = 300
"""Characters of a line that is quoted."""
_CUT = "… (line cut here)"
_BEGINS = "It begins:"
_HEADINGS = "Its headings, or the first of them:"

NEXT_BYTES = 40_000
"""About how much the reader is told to ask for next, at most."""


def extract(found: Examined, tokens: int, next_tokens: int) -> tuple[str, str]:
    """Return a summary of a text in about so many tokens, taken from the text itself, and how to load the rest.

    ``next_tokens`` is about how much the reader can load at once.
    """
    size = _size(found)
    room = tokens * BYTES_PER_TOKEN - sum(map(_bytes, (size, _BEGINS)))
    headings = list(_within(found.headings, room // 2 - _bytes(_HEADINGS)))
    parts = [size, *([_HEADINGS, *headings] if headings else ())]
    quoted = list(_within(_lines(found), room - sum(map(_bytes, parts[1:]))))
    parts += [_BEGINS, *quoted] if quoted else ()
    whole = sum(1 for line in quoted if not line.endswith(_CUT))
    return "\n".join(parts), _how(found, whole, min(NEXT_BYTES, next_tokens * BYTES_PER_TOKEN))


def _size(found: Examined) -> str:
    if found.media_type in TABLES:
        return f"A table with {max(0, found.lines - 1)} lines below its header."
    return f"A text of {found.lines} lines."


def _lines(found: Examined) -> Iterator[str]:
    """Yield the lines of the head, up to one that is too long or that the head does not hold whole: that one is cut."""
    pieces = found.head.split("\n")
    ends_whole = found.size <= HEAD or not pieces[-1]
    if not pieces[-1]:
        pieces.pop()
    for place, piece in enumerate(pieces, start=1):
        if len(piece) > LONGEST_LINE or (place == len(pieces) and not ends_whole):
            yield piece[:LONGEST_LINE] + _CUT
            return
        yield piece.removesuffix("\r")


def _within(lines: Iterable[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= _bytes(line)
        if room < 0:
            return
        yield line


def _bytes(line: str) -> int:
    return len(line.encode()) + 1


def _how(found: Examined, shown: int, next_bytes: int) -> str:
    if found.size > READ_FILE_SCANS:
        return f"it has {found.size} bytes, more than read_file takes; split it, or compute with it where it lies"
    usual = found.size // max(1, found.lines)
    if usual > READ_FILE_BYTES // 2:
        if found.size <= READ_FILE_BYTES:
            return f"call read_file with {_json({'path': found.path})}"
        return "its lines are longer than what read_file gives at once; find parts of it with search_code"
    last = min(found.lines, shown + max(1, next_bytes // max(1, usual)))
    given = _json({"path": found.path, "start_line": min(shown + 1, found.lines), "end_line": last})
    return f"call read_file with {given}; it has {found.lines} lines"


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
