"""BlockWriter: converters write blocks with it, up to limits that hold for every document."""

import re
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from brasstag.words.blocks import DEEPEST_NESTED

MOST_BLOCKS = 50_000
MOST_CHARACTERS = 12_000_000
"""Of all text together."""
MOST_CELLS = 500_000
MOST_COLUMNS = 1_000
LONGEST_CELL = 32_767
"""Characters; what a spreadsheet takes in one."""
MOST_COUNTED = 999_999_999
"""Items beyond have no number in Markdown."""
MOST_NOTES = 20
MOST_SECONDS = 20.0
"""After which what was found has to do."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ufeff\ud800-\udfff]")
_IN_CODE = re.compile("[\x00\ud800-\udfff]")
_BREAKS = re.compile("\r\n?")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")


class Full(Exception):
    """The block writer takes no more: what it has is the beginning of the document."""


class Unreadable(Exception):
    """A document that cannot be converted, and why: ``code`` is one of Brasstag's."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def clean(text: str) -> str:
    """Return text without what no reader shows, its lines without white space at their ends."""
    text = _CONTROL.sub(_shown, _BREAKS.sub("\n", text))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def flush(text: str) -> str:
    """Return clean text whose lines are not indented, none of them empty."""
    return "\n".join(line for one in clean(text).split("\n") if (line := one.strip()))


def in_one_line(text: str) -> str:
    """Return text with single spaces for all its white space."""
    return " ".join(_CONTROL.sub(_shown, text).split())


class ListEntry(NamedTuple):
    """An item of a list as it is found."""

    text: str
    level: int
    number: int | None
    at: dict[str, Any]

    def going_on(self, text: str, at: dict[str, Any]) -> "ListEntry":
        """Return it with words that stand below its own."""
        return self._replace(text=f"{self.text}\n{text}", at={**self.at, "end_line": at.get("end_line", 0)})


class BlockWriter:
    """The blocks of one document as they are found."""

    def __init__(self, size: int = 0) -> None:
        self.size = size
        """Bytes of the whole document, of which a converter may have got only the first."""
        self.blocks: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.truncated = False
        self._characters = 0
        self._cells = 0
        self._items: list[ListEntry] = []
        self._code: list[str] = []
        self._code_at: dict[str, Any] = {}
        self._deadline = time.monotonic() + MOST_SECONDS

    def note(self, text: str) -> None:
        """Tell the reader something, once."""
        if text not in self.notes and len(self.notes) < MOST_NOTES:
            self.notes.append(text)

    def leave_out(self, what: str) -> None:
        """Tell the reader what is missing here."""
        self.truncated = True
        self.note(what)

    def add(self, kind: str, at: dict[str, Any], **said: Any) -> None:
        """Write a block; fields that say nothing are left out. Raises Full."""
        if len(self.blocks) >= MOST_BLOCKS:
            self.leave_out(f"only the first {MOST_BLOCKS:,} blocks are here")
            raise Full
        text = said.get("text", "")
        room = MOST_CHARACTERS - self._characters
        if len(text) > room:
            said["text"] = text[:room]
        self._characters += len(text)
        block = {"kind": kind, **{name: value for name, value in said.items() if value}}
        if place := _told(at):
            block["at"] = place
        self.blocks.append(block)
        self._refuse_more()

    def heading(self, text: str, level: int, at: dict[str, Any]) -> None:
        """Write a heading, if it says anything."""
        if said := in_one_line(text):
            self.add("heading", at, text=said, level=max(1, min(6, level)))

    def paragraph(self, text: str, at: dict[str, Any], quoted: int = 0) -> None:
        """Write a paragraph, or a quoted one, if it says anything."""
        if said := flush(text):
            if quoted:
                self.add("quote", at, text=said, level=min(quoted, DEEPEST_NESTED))
            else:
                self.add("paragraph", at, text=said)

    def code(self, text: str, language: str, at: dict[str, Any]) -> None:
        """Write code as it is."""
        said = _IN_CODE.sub("\ufffd", _BREAKS.sub("\n", text))
        self.add("code", at, text=said, language=language if _LANGUAGE.fullmatch(language) else "")

    def gather_code(self, line: str, at: dict[str, Any]) -> None:
        """Keep a line of code; ``end`` writes those that were gathered as one block, at the place of the first."""
        self._code_at = self._code_at if self._code else at
        self._code.append(line)

    def gather_item(self, item: ListEntry, *, is_new: bool = True) -> None:
        """Keep an item of a list until ``end_list``; one that is not new goes on with the words of the last."""
        if is_new or not self._items:
            self._items.append(item)
        else:
            self._items[-1] = self._items[-1].going_on(item.text, item.at)

    def end(self) -> None:
        """Write the items and the code that were gathered."""
        self.end_list()
        self.end_code()

    def end_code(self) -> None:
        """Write the code that was gathered."""
        code, self._code = self._code, []
        if code:
            self.code("\n".join(code), "", self._code_at)

    def end_list(self) -> None:
        """Write the items that were gathered as a list, or two where bullets follow numbers."""
        items, self._items = self._items, []
        found: list[dict[str, Any]] = []
        for text, level, number, at in items:
            if not (said := flush(text)):
                continue
            # An item is at most one level below the item before it: there would be no list for it otherwise.
            depth = min(level, DEEPEST_NESTED, found[-1].get("level", 0) + 1 if found else 0)
            if found and not depth and ("number" in found[0]) != (number is not None):
                self._add_list(found)
                found = []
            item: dict[str, Any] = {"text": said}
            if depth:
                item["level"] = depth
            if number is not None:
                item["number"] = min(number, MOST_COUNTED)
            if place := _told(at):
                item["at"] = place
            found.append(item)
        self._add_list(found)

    def _add_list(self, items: list[dict[str, Any]]) -> None:
        if not items:
            return
        self._characters += sum(len(item["text"]) for item in items)
        first, last = (item.get("at", {}) for item in (items[0], items[-1]))
        self.add("list", {**first, "end_line": last.get("end_line", 0)}, items=items)

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]], at: dict[str, Any]) -> None:
        """Write a table as far as there is room; the caller says which rows are worth it. Raises Full."""
        names = [self._cell(name) for name in header[:MOST_COLUMNS]]
        found: list[list[str]] = []
        width = len(names)
        try:
            for row in rows:
                found.append([self._cell(cell) for cell in row[:MOST_COLUMNS]])
                width = max(width, len(found[-1]))
                if len(row) > MOST_COLUMNS:
                    self.leave_out(f"only the first {MOST_COLUMNS:,} columns are here")
                if self._cells > MOST_CELLS or self._characters > MOST_CHARACTERS:
                    self.leave_out(f"only the first {len(found):,} rows of this table are here")
                    raise Full
        finally:
            self._write_table(names if any(names) else [], found, width, at)

    def _write_table(self, names: list[str], rows: list[list[str]], width: int, at: dict[str, Any]) -> None:
        if width and (names or rows):
            even = [row + [""] * (width - len(row)) for row in rows]
            self.add("table", at, header=names and names + [""] * (width - len(names)), rows=even)

    def _cell(self, text: str) -> str:
        said = in_one_line(text[:LONGEST_CELL])
        if len(text) > LONGEST_CELL:
            self.leave_out(f"cells are cut after {LONGEST_CELL:,} characters")
        self._cells += 1
        self._characters += len(said)
        return said

    def _refuse_more(self) -> None:
        if self._characters >= MOST_CHARACTERS:
            self.leave_out(f"only the first {MOST_CHARACTERS:,} characters are here")
            raise Full
        if time.monotonic() > self._deadline:
            self.leave_out(f"only what could be read in {MOST_SECONDS:g} seconds is here")
            raise Full

    def as_json(self) -> dict[str, Any]:
        """Return the blocks that were written, with the notes on them."""
        return {"form": 1, "blocks": self.blocks, "notes": self.notes, "truncated": self.truncated}


def _told(at: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in at.items() if value}


def _shown(found: "re.Match[str]") -> str:
    return "\ufffd" if "\ud800" <= found[0] <= "\udfff" or found[0] == "\0" else " "
