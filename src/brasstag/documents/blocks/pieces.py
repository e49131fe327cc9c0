"""Pieces of documents: a text in lines, anything else in blocks, and parts of blocks that are blocks themselves."""

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal, Protocol

from brasstag.documents.blocks.render import as_markdown, as_text
from brasstag.documents.formats.kinds import is_own_text
from brasstag.documents.formats.text import decoded_with_note
from brasstag.words.blocks import Block, Blocks

Unit = Literal["line", "block"]
Form = Literal["text", "markdown", "json"]


def own_text(data: bytes, media_type: str) -> tuple[str, str] | None:
    """Return the text a content is, and what a reader should know of it; None where it has to be converted."""
    return decoded_with_note(data) if is_own_text(media_type) else None


@dataclass(frozen=True, slots=True, order=True)
class PieceOffset:
    """A place in a document: a piece, counted from 0, and how many characters of it lie before."""

    piece: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Extract:
    """What is given: the value itself, and the text a model reads for it."""

    value: Any
    text: str


class Pieces(Protocol):
    """A document in pieces, which are only cut where one of them alone is too much."""

    @property
    def unit(self) -> Unit:
        """What they are."""

    def __len__(self) -> int: ...

    def length(self, piece: int) -> int:
        """Return how many characters a piece has that it can be cut between."""

    def seams(self, piece: int) -> Sequence[int]:
        """Return where a piece is best cut."""

    def words(self, piece: int) -> str:
        """Return the text of a piece whose places are those of its characters; empty where they are not."""

    def shown(self, start: PieceOffset, stop: PieceOffset) -> Extract:
        """Return what lies between two places."""

    def told(self, piece: int, start: int, stop: int) -> str:
        """Say which part of a piece lies between two places of it."""


@dataclass(frozen=True, slots=True)
class TextLines:
    """A text in lines, which end at line feeds and nowhere else, as for read_file and search."""

    text: str
    starts: Sequence[int]
    """Where each line begins, and where the last one ends: of short lines there may be millions."""
    unit: Unit = "line"

    @classmethod
    def of(cls, text: str) -> "TextLines":
        """Return the lines of a text, each with what ends it."""
        starts = array("Q", accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
        # Nothing ends the last one but the end of the text.
        starts.pop()
        if starts[-1] < len(text):
            starts.append(len(text))
        return cls(text, starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def length(self, piece: int) -> int:
        """Return how many characters a line has."""
        return self.starts[piece + 1] - self.starts[piece]

    def seams(self, _piece: int) -> Sequence[int]:
        """Return nothing: inside a line no place is better than another."""
        return ()

    def words(self, piece: int) -> str:
        """Return a line."""
        return self.text[self.starts[piece] : self.starts[piece + 1]]

    def shown(self, start: PieceOffset, stop: PieceOffset) -> Extract:
        """Return the text between two places."""
        text = self.text[self.starts[start.piece] + start.offset : self.starts[stop.piece] + stop.offset]
        return Extract(text, text)

    def told(self, piece: int, start: int, stop: int) -> str:
        """Say which of its characters those are."""
        return f"characters {start + 1:,} to {stop:,} of its {self.length(piece):,}"


@dataclass(frozen=True, slots=True)
class BlockPieces:
    """A document in blocks, in the form they are given in."""

    blocks: Sequence[Block]
    form: Form
    unit: Unit = "block"

    def __len__(self) -> int:
        return len(self.blocks)

    def length(self, piece: int) -> int:
        """Return how many characters a block has that it can be cut between."""
        return length(self.blocks[piece])

    def seams(self, piece: int) -> Sequence[int]:
        """Return where its rows, entries or lines end."""
        return seams(self.blocks[piece])

    def words(self, piece: int) -> str:
        """Return the text of a block that is nothing else."""
        return self.blocks[piece].text

    def shown(self, start: PieceOffset, stop: PieceOffset) -> Extract:
        """Return the blocks between two places; parts of blocks are blocks."""
        blocks = list(self.blocks[start.piece : stop.piece])
        if stop.offset:
            blocks.append(cut(self.blocks[stop.piece], 0, stop.offset))
        if start.offset:
            end = stop.offset if stop.piece == start.piece else self.length(start.piece)
            blocks[0] = cut(self.blocks[start.piece], start.offset, end)
        return self._written(Blocks(tuple(blocks)))

    def told(self, piece: int, start: int, stop: int) -> str:
        """Say which of its rows, entries or characters those are."""
        return told(self.blocks[piece], start, stop)

    def _written(self, blocks: Blocks) -> Extract:
        if self.form == "json":
            value = blocks.as_json()["blocks"]
            # As a model is shown it.
            return Extract(value, json.dumps(value, ensure_ascii=False, sort_keys=True))
        text = as_text(blocks) if self.form == "text" else as_markdown(blocks).rstrip("\n")
        return Extract(text, text)


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
