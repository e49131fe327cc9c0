"""Render blocks as text, as Markdown or as JSON."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from brasstag.words.blocks import NOWHERE, Block, Blocks, Item, Kind, Place

_GAP = "\n\n"
_BULLETS = ("-", "*")
_ENDS = (".", ")")
# What would mean something in Markdown, wherever in a line it stands.
_MARKS = re.compile(
    r"""\\(?=[!-/:-@\[-`{-~]|\Z)      # a backslash before a sign, or at the end
      | [`\[]                        # code and links
      | \*(?![ ])|(?<=[^ ])\*        # emphasis: not between spaces
      | (?<![^\W_])_|_(?![^\W_])     # the same, but not inside a word
      | ~(?=~)|(?<=~)~
      | <(?=[A-Za-z/!?])             # tags
      | &(?=\#?[A-Za-z0-9]{1,40};)   # named characters
      | \|""",
    re.VERBOSE,
)
_LINE_START = re.compile(r"(?:\#{1,6}(?=\s|\Z)|>|[-+*](?=\s|\Z)|\+{3}|(?:[-=]\s*)+\Z|~~~|:?-[-:|\s]*\Z)")
_NUMBER_START = re.compile(r"(\d{1,9})([.)])(?=\s|\Z)")
_FENCE = re.compile("`{3,}")


def as_json(blocks: Blocks) -> str:
    """Return blocks as JSON a person can read, too."""
    return json.dumps(blocks.as_json(), ensure_ascii=False, indent=2)


def as_markdown(blocks: Blocks) -> str:
    """Return blocks as Markdown; those of a Markdown document are the same when that is read again."""
    parts: list[str] = []
    is_other = False
    for before, block in zip((None, *blocks.blocks), blocks.blocks, strict=False):
        # Two lists one after the other would be one, were they marked alike.
        is_other = not is_other if before and before.kind == block.kind == "list" else False
        parts.append(
            _list(block.items, int(is_other)) if block.kind == "list" else _MARKDOWN[block.kind](block)
        )
    return _GAP.join(part for part in parts if part) + "\n" if parts else ""


def as_text(blocks: Blocks) -> str:
    """Return the plain words of blocks."""
    return text_of(blocks)[0]


def text_of(blocks: Blocks) -> tuple[str, list[int]]:
    """Return the plain words of blocks, and where in them each block begins."""
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for block in blocks.blocks:
        text = plain(block)
        starts.append(at)
        if text:
            parts.append(text)
            at += len(text) + len(_GAP)
    return _GAP.join(parts), starts


def plain(block: Block) -> str:
    """Return the words of one block; the cells of a row are set apart by tabs."""
    if block.kind == "list":
        return "\n".join(map(_plain_item, block.items))
    if block.kind == "table":
        return "\n".join(
            "\t".join(row) for row in ((block.header, *block.rows) if block.header else block.rows)
        )
    if block.kind in ("image", "reference"):
        return _described(block)
    return block.text


def place_in(block: Block, offset: int) -> Place:
    """Return where in its source that stands which is so far into the words of a block."""
    if block.kind == "list":
        at = _item_at(block.items, offset).at
        return block.at if at == NOWHERE else at
    if block.kind == "table" and block.at.row:
        # The cells of a row stand in one line, so lines are rows.
        return replace(block.at, row=block.at.row + plain(block).count("\n", 0, offset))
    return block.at


def _item_at(items: Sequence[Item], offset: int) -> Item:
    ends = accumulate(len(_plain_item(item)) + 1 for item in items)
    return next((item for item, end in zip(items, ends, strict=True) if offset < end), Item(""))


def _plain_item(item: Item) -> str:
    mark = "-" if item.number is None else f"{item.number}."
    return f"{'  ' * item.level}{mark} {item.text}"


def _described(block: Block) -> str:
    """Say in a line what a picture or file is."""
    size = f"{block.width} x {block.height} pixels" if block.width else ""
    weight = f"{block.size_bytes} bytes" if block.size_bytes else ""
    said = [block.text, block.target, block.media_type, size, weight]
    return ", ".join(part for part in said if part)


def escaped(text: str) -> str:
    """Return plain words as Markdown that means them."""
    return "\n".join(map(_escaped_line, text.split("\n")))


def _escaped_line(line: str) -> str:
    line = _MARKS.sub(r"\\\g<0>", line.strip())
    if _LINE_START.match(line):
        return f"\\{line}"
    return _NUMBER_START.sub(r"\1\\\2", line, count=1) if _NUMBER_START.match(line) else line


def _heading(block: Block) -> str:
    # At its end, signs like those before it would not count as words.
    text = re.sub(r"(#+)\Z", r"\\\1", _cell(block.text))
    return f"{'#' * max(1, min(6, block.level))} {text}"


def _quote(block: Block) -> str:
    mark = "> " * max(1, block.level)
    return "\n".join(f"{mark}{line}" for line in escaped(block.text).split("\n"))


def _code(block: Block) -> str:
    longest = max(map(len, _FENCE.findall(block.text)), default=2)
    fence = "`" * (longest + 1)
    return (
        f"{fence}{block.language}\n{block.text}\n{fence}"
        if block.text
        else f"{fence}{block.language}\n{fence}"
    )


def _table(block: Block) -> str:
    width = len(block.header) or max(map(len, block.rows), default=0)
    header = block.header or ("",) * width
    return "\n".join([_row(header), "|" + " --- |" * width, *map(_row, block.rows)]) if width else ""


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    # The signs for columns are read before anything else in a row, so even a backslash before one has to be told apart.
    return _MARKS.sub(r"\\\g<0>", " ".join(text.split()))


def _list(items: Sequence[Item], style: int) -> str:
    return "\n".join(_item_lines(items, style))


def _item_lines(items: Sequence[Item], style: int) -> Iterator[str]:
    indents = [0]
    for item in items:
        level = min(item.level, len(indents) - 1)
        mark = _BULLETS[style] if item.number is None else f"{item.number}{_ENDS[style]}"
        indent = indents[level]
        del indents[level + 1 :]
        indents.append(indent + len(mark) + 1)
        first, *others = escaped(item.text).split("\n")
        yield f"{' ' * indent}{mark} {first}"
        yield from (f"{' ' * indents[-1]}{line}" for line in others)


def _aside(block: Block) -> str:
    # In round brackets, which mean nothing in Markdown.
    return f"({escaped(_described(block))})"


def _image(block: Block) -> str:
    if not block.target:
        return _aside(block)
    address = re.sub(r"[<>\\\n]", lambda found: f"%{ord(found[0]):02X}", block.target)
    words = _cell(block.text).replace("]", "\\]")
    return f"![{words}](<{address}>)"


_MARKDOWN: Mapping[Kind, Callable[[Block], str]] = {
    "heading": _heading,
    "paragraph": lambda block: escaped(block.text),
    "quote": _quote,
    "code": _code,
    "table": _table,
    "image": _image,
    "reference": _aside,
    "page_break": lambda _block: "",
    "rule": lambda _block: "* * *",
}
