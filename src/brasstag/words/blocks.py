"""Blocks: the one form in which every document is read.

Text in a block is plain: emphasis is dropped, and a link is its words with the address behind them in brackets. What marks
a block (a heading's level, a table's cells) is in its fields, so no reader has to know Markdown.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, cast, get_args

Kind = Literal[
    "heading", "paragraph", "list", "table", "code", "quote", "image", "page_break", "reference", "rule"
]
KINDS: tuple[Kind, ...] = get_args(Kind)

FORM = 1
"""The version of this form of blocks; blocks that were kept in another version are made again."""

DEEPEST = 6
"""Levels of headings."""
DEEPEST_NESTED = 16
"""How deep lists and quotes may nest; anything deeper is shown at this depth."""


class NotBlocks(ValueError):
    """What was read is not what ``as_json`` writes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its source a block stands; what that source does not have is 0, or empty."""

    line: int = 0
    """The first line, counted from 1, of a text."""
    end_line: int = 0
    """The last line, which belongs to it."""
    page: int = 0
    """The page, counted from 1."""
    sheet: str = ""
    """The sheet of a workbook."""
    row: int = 0
    """The row of a sheet or table, counted from 1, that a table begins in; its header, if it has one, is that row."""
    paragraph: int = 0
    """The paragraph or table of a word document's body, counted from 1; empty ones count."""


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list."""

    text: str
    level: int = 0
    """How deep it lies in other lists."""
    number: int | None = None
    """What it is numbered with, in a list that counts."""
    at: Place = Place()


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of a document; ``FIELDS`` says which fields a kind has."""

    kind: Kind
    at: Place = Place()
    text: str = ""
    """The words of it, or what a picture or file is called; lines end in a line feed."""
    level: int = 0
    """For a heading from 1 to 6; for a quote how many times it is quoted."""
    items: tuple[Item, ...] = ()
    header: tuple[str, ...] = ()
    """The names of a table's columns; empty where they have none."""
    rows: tuple[tuple[str, ...], ...] = ()
    """As wide as the header, where there is one."""
    language: str = ""
    """What code is written in."""
    target: str = ""
    """Where a picture is to be found."""
    media_type: str = ""
    width: int = 0
    """In pixels."""
    height: int = 0
    size_bytes: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return its fields that are not empty."""
        found: dict[str, Any] = {"kind": self.kind}
        if self.at != NOWHERE:
            found["at"] = _told_place(self.at)
        for name in FIELDS[self.kind]:
            value = getattr(self, name)
            if value:
                found[name] = _WRITTEN.get(name, _as_it_is)(value)
        return found

    @classmethod
    def from_json(cls, stored: Any) -> "Block":
        """Read what ``as_json`` wrote; raise NotBlocks where it is anything else."""
        given = dict(_mapping(stored, "a block"))
        kind = given.pop("kind", None)
        if kind not in KINDS:
            raise NotBlocks(f"there is no kind of block {kind!r}")
        at = _place(given.pop("at", {}))
        strange = given.keys() - FIELDS[kind]
        if strange:
            raise NotBlocks(f"a block of kind {kind} has no {min(strange)}")
        return cls(kind, at, **{name: _READ[name](value) for name, value in given.items()})


@dataclass(frozen=True, slots=True)
class Blocks:
    """A document in blocks, in the order it is read."""

    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know about them: a guess that was made, or what was left out."""
    truncated: bool = False
    """Whether there is more in the document than in here."""

    def as_json(self) -> dict[str, Any]:
        """Return everything."""
        return {
            "form": FORM,
            "blocks": [block.as_json() for block in self.blocks],
            "notes": list(self.notes),
            "truncated": self.truncated,
        }

    @classmethod
    def from_json(cls, stored: Any) -> "Blocks":
        """Read what ``as_json`` wrote; raise NotBlocks where it is anything else."""
        given = _mapping(stored, "a document")
        if given.keys() != {"form", "blocks", "notes", "truncated"} or given["form"] != FORM:
            raise NotBlocks("this is no document in blocks, or in another form of them")
        if not isinstance(given["truncated"], bool):
            raise NotBlocks("truncated is yes or no")
        blocks = tuple(map(Block.from_json, _list(given["blocks"], "blocks")))
        return cls(blocks, _texts(given["notes"]), given["truncated"])


NOWHERE = Place()

FIELDS: Mapping[str, tuple[str, ...]] = {
    "heading": ("text", "level"),
    "paragraph": ("text",),
    "list": ("items",),
    "table": ("header", "rows"),
    "code": ("text", "language"),
    "quote": ("text", "level"),
    "image": ("text", "target", "media_type", "width", "height", "size_bytes"),
    "page_break": (),
    "reference": ("text", "media_type", "size_bytes"),
    "rule": (),
}
"""What a block of each kind says beside where it stands."""


def _told_place(place: Place) -> dict[str, Any]:
    found = {field.name: getattr(place, field.name) for field in fields(place)}
    return {name: value for name, value in found.items() if value}


def _told_item(item: Item) -> dict[str, Any]:
    found: dict[str, Any] = {"text": item.text}
    if item.level:
        found["level"] = item.level
    if item.number is not None:
        found["number"] = item.number
    if item.at != NOWHERE:
        found["at"] = _told_place(item.at)
    return found


def _as_it_is(value: Any) -> Any:
    return value


_WRITTEN: Mapping[str, Callable[[Any], Any]] = {
    "items": lambda items: list(map(_told_item, items)),
    "header": list,
    "rows": lambda rows: [list(row) for row in rows],
}


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise NotBlocks(f"{what} is an object, not {type(value).__name__}")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise NotBlocks(f"{what} is a list, not {type(value).__name__}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise NotBlocks(f"a text was expected, not {type(value).__name__}")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise NotBlocks("a count was expected, 0 or more")
    return value


def _level(value: Any) -> int:
    # The author of blocks may be hostile, and every level takes space on every line.
    return min(_count(value), DEEPEST_NESTED)


def _texts(value: Any) -> tuple[str, ...]:
    found = tuple(_list(value, "texts"))
    # All are checked at once, because a table may have a million.
    if not all(map(_is_text, found)):
        raise NotBlocks("every one of the texts has to be a text")
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _rows(value: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(map(_texts, _list(value, "rows")))


def _items(value: Any) -> tuple[Item, ...]:
    return tuple(map(_item, _list(value, "items")))


def _item(value: Any) -> Item:
    given = _mapping(value, "an item")
    if not {"text"} <= given.keys() <= {"text", "level", "number", "at"}:
        raise NotBlocks("an item has text, level, number and at")
    number = given.get("number")
    return Item(
        _text(given["text"]),
        _level(given.get("level", 0)),
        None if number is None else _count(number),
        _place(given.get("at", {})),
    )


def _place(value: Any) -> Place:
    given = _mapping(value, "a place")
    names = {field.name for field in fields(Place)}
    if not given.keys() <= names:
        raise NotBlocks(f"a place has {', '.join(sorted(names))}")
    read = {name: (_text if name == "sheet" else _count)(told) for name, told in given.items()}
    return Place(**cast("dict[str, Any]", read))


_READ: Mapping[str, Callable[[Any], Any]] = {
    "text": _text,
    "level": _level,
    "items": _items,
    "header": _texts,
    "rows": _rows,
    "language": _text,
    "target": _text,
    "media_type": _text,
    "width": _count,
    "height": _count,
    "size_bytes": _count,
}
