"""Cutting blocks: a part of a block is a block, so that a part of a table is a table, with its header."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from brasstag.words.blocks import Block

Strand = tuple[str, ...]
"""Texts that belong together: the cells of a row, or the one text of an entry."""


def length(block: Block) -> int:
    """Return how many places a block has to be cut at, counted in characters; 0 where it is only given whole."""
    strands = _strands(block)
    return len(block.text) * _has_words(block) if strands is None else sum(map(_weight, strands))


def seams(block: Block) -> list[int]:
    """Return where a block is best cut: behind a row, an entry or a line."""
    strands = _strands(block)
    if strands is None:
        return (
            [place + 1 for place, sign in enumerate(block.text) if sign == "\n"] if _has_words(block) else []
        )
    return list(accumulate(map(_weight, strands)))


def cut(block: Block, start: int, stop: int) -> Block:
    """Return the part of a block between two places; parts one after the other hold all of it exactly once."""
    if block.kind == "table":
        return replace(block, rows=tuple(strand for _, strand in _within(block.rows, start, stop)))
    if block.kind == "list":
        found = _within([(item.text,) for item in block.items], start, stop)
        return replace(block, items=tuple(replace(block.items[place], text=text) for place, (text,) in found))
    return replace(block, text=block.text[start:stop])


def told(block: Block, start: int, stop: int) -> str:
    """Say in a few words which part of a block that is."""
    strands = _strands(block)
    if strands is None:
        return f"characters {start + 1:,} to {stop:,} of its {length(block):,}"
    places = [place for place, _ in _within(strands, start, stop)]
    name = "rows" if block.kind == "table" else "entries"
    return f"{name} {places[0] + 1:,} to {places[-1] + 1:,} of its {len(strands):,}"


def _has_words(block: Block) -> bool:
    return block.kind in ("heading", "paragraph", "code", "quote")


def _strands(block: Block) -> Sequence[Strand] | None:
    if block.kind == "table":
        return block.rows
    return [(item.text,) for item in block.items] if block.kind == "list" else None


def _weight(strand: Strand) -> int:
    # An empty one counts, too: it would be in no part otherwise.
    return max(1, sum(map(len, strand)))


def _within(strands: Sequence[Strand], start: int, stop: int) -> list[tuple[int, Strand]]:
    """Return the strands between two places, each with its number; where one is cut, what is not there is empty."""
    found: list[tuple[int, Strand]] = []
    begin = 0
    for number, strand in enumerate(strands):
        end = begin + _weight(strand)
        if begin >= stop:
            break
        if end > start:
            is_whole = start <= begin and end <= stop
            found.append((number, strand if is_whole else _clipped(strand, start - begin, stop - begin)))
        begin = end
    return found


def _clipped(strand: Strand, start: int, stop: int) -> Strand:
    clipped, begin = [], 0
    for text in strand:
        clipped.append(text[max(0, start - begin) : max(0, stop - begin)])
        begin += len(text)
    return tuple(clipped)
