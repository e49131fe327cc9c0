"""Extracts: what is shown of a long text, and how to read on."""

import json
from collections.abc import Iterable, Iterator, Mapping

from brasstag.documents.blocks.pieces import BlockPieces
from brasstag.documents.formats.kinds import TABLES
from brasstag.documents.reading.examine import LONGEST_HEADING, MOST_HEADINGS, Examined
from brasstag.documents.reading.load import part_of
from brasstag.words.blocks import Blocks
from brasstag.words.errors import ToolError
from brasstag.words.tokens import BYTES_PER_TOKEN

READ_FILE_BYTES = 1024 * 1024
"""What read_file gives at once, unless a project says otherwise."""
READ_FILE_SCANS = 64_000_000
"""How large a file may be for read_file to give lines of it."""
LOADED_BYTES = 200_000_000
"""How large a file may be for load_to_context, unless a project says otherwise."""

LONGEST_LINE = 300
"""Characters of a line that is quoted."""
_CUT = "… (line cut here)"
_BEGINS = "It begins:"
_HEADINGS = "Its headings, or the first of them:"

NEXT_BYTES = 40_000
"""About how much the reader is told to ask for next, at most."""


def extract(found: Examined, tokens: int, next_tokens: int, *, loads: bool) -> tuple[str, str]:
    """Return a summary of a text in about so many tokens, taken from the text itself, and how to load the rest.

    ``next_tokens`` is about how much the reader can load at once, and ``loads`` whether it has load_to_context.
    """
    if found.blocks is not None:
        return _of_blocks(found, found.blocks, tokens, next_tokens, loads=loads)
    size = _size(found)
    room = tokens * BYTES_PER_TOKEN - sum(map(_bytes, (size, _BEGINS)))
    headings = list(_within(found.headings, room // 2 - _bytes(_HEADINGS)))
    parts = [size, *([_HEADINGS, *headings] if headings else ())]
    quoted = list(_within(_lines(found), room - sum(map(_bytes, parts[1:]))))
    parts += [_BEGINS, *quoted] if quoted else ()
    whole = sum(1 for line in quoted if not line.endswith(_CUT))
    return "\n".join(parts), _how(found, whole, next_tokens, loads=loads)


def how_to_load(found: Examined, next_tokens: int, *, loads: bool, **start: int) -> str:
    """Say with which call a document that has to be converted is read."""
    if not loads:
        return "only load_to_context reads the rest, and your role does not have this tool; ask the sender for it"
    given = {"path": found.path, **start, "max_tokens": _at_once(next_tokens)}
    return f"call load_to_context with {_json(given)}"


def _of_blocks(
    found: Examined, blocks: Blocks, tokens: int, next_tokens: int, *, loads: bool
) -> tuple[str, str]:
    total = len(blocks.blocks)
    size = f"A document of {total} blocks, {found.tokens.tokens} tokens of Markdown."
    room = tokens * BYTES_PER_TOKEN - sum(map(_bytes, (size, _BEGINS)))
    headings = list(_within(_headings(blocks), room // 2 - _bytes(_HEADINGS)))
    parts = [size, *([_HEADINGS, *headings] if headings else ())]
    left = max(1, room - sum(map(_bytes, parts[1:])))
    start = {"start_block": 0}
    try:
        part = part_of(
            BlockPieces(blocks.blocks, "markdown"), None, None, 0, lambda text: _bytes(text) / left
        )
    except ToolError:
        # Not even the beginning of its first block fits.
        part = None
    if part is not None and part.next is not None:
        parts += [_BEGINS, part.shown.text.rstrip("\n")]
        start = {"start_block": part.next} | ({"offset": part.next_offset} if part.next_offset else {})
    return "\n".join(parts), f"{how_to_load(found, next_tokens, loads=loads, **start)}; it has {total} blocks"


def _headings(blocks: Blocks) -> Iterator[str]:
    titles = [(place, one) for place, one in enumerate(blocks.blocks) if one.kind == "heading"]
    for place, one in titles[:MOST_HEADINGS]:
        yield f"block {place}: {'#' * one.level} {one.text[:LONGEST_HEADING]}"


def _at_once(next_tokens: int) -> int:
    return max(1, min(NEXT_BYTES // BYTES_PER_TOKEN, next_tokens))


def _size(found: Examined) -> str:
    if found.media_type in TABLES:
        return f"A table with {max(0, found.lines - 1)} lines below its header."
    return f"A text of {_many_lines(found)}."


def _lines(found: Examined) -> Iterator[str]:
    """Yield the lines of the head, up to one that is too long or that the head does not hold whole: that one is cut."""
    pieces = found.head.split("\n")
    ends_whole = found.is_head_all or not pieces[-1]
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


def _how(found: Examined, shown: int, next_tokens: int, *, loads: bool) -> str:
    if loads and found.size <= LOADED_BYTES:
        start = min(shown + 1, found.lines)
        return (
            f"{how_to_load(found, next_tokens, loads=loads, start_line=start)}; it has {_many_lines(found)}"
        )
    if not found.encoding.startswith("utf-8"):
        return f"it is {found.encoding}, which read_file cannot read; ask the sender for it in UTF-8"
    if found.size > READ_FILE_SCANS:
        return f"it has {found.size} bytes, more than read_file reads; split it, or let code read it"
    usual = found.size // max(1, found.lines)
    if usual > READ_FILE_BYTES // 2:
        if found.size <= READ_FILE_BYTES:
            return f"call read_file with {_json({'path': found.path})}"
        return "its lines are longer than what read_file gives at once; find parts of it with search_code"
    next_bytes = min(NEXT_BYTES, next_tokens * BYTES_PER_TOKEN)
    last = min(found.lines, shown + max(1, next_bytes // max(1, usual)))
    given = _json({"path": found.path, "start_line": min(shown + 1, found.lines), "end_line": last})
    return f"call read_file with {given}; it has {_many_lines(found)}"


def _many_lines(found: Examined) -> str:
    return f"{found.lines} lines" if found.lines != 1 else "1 line"


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
