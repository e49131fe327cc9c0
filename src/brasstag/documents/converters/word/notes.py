"""Footnotes and endnotes of a DOCX document that its text refers to."""

import zipfile
from collections import Counter
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from brasstag.documents.converters.word.styles import W, read_part

_PARTS = {
    f"{W}footnoteReference": ("word/footnotes.xml", f"{W}footnote", ""),
    f"{W}endnoteReference": ("word/endnotes.xml", f"{W}endnote", "e"),
}
"""Where what an element refers to is found, and what sets its number apart from others."""


class NoteText(NamedTuple):
    """A note, the mark that stands in the text for it, and the place of that."""

    mark: str
    element: Element
    at: dict[str, Any]


class Notes:
    """The notes of a document, numbered as its text comes upon them."""

    def __init__(self, box: zipfile.ZipFile) -> None:
        self._box = box
        self._parts: dict[str, dict[str, Element]] = {}
        self._marks: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()
        self.at: dict[str, Any] = {}
        """The place in the text that is being read."""
        self.told: list[NoteText] = []
        """Those that the text refers to, in the order in which it does."""

    def mark(self, reference: Element) -> str:
        """Return what stands in the text for a note; nothing for an element that refers to none."""
        tag, name = reference.tag, reference.get(f"{W}id") or ""
        if tag not in _PARTS:
            return ""
        if (tag, name) not in self._marks:
            self._counts[tag] += 1
            self._marks[tag, name] = f"[{_PARTS[tag][2]}{self._counts[tag]}]"
            if (element := self._kept(tag).get(name)) is not None:
                self.told.append(NoteText(self._marks[tag, name], element, self.at))
        return self._marks[tag, name]

    def _kept(self, tag: str) -> dict[str, Element]:
        if tag not in self._parts:
            part, name, _ = _PARTS[tag]
            root = read_part(self._box, part)
            found = root.iter(name) if root is not None else ()
            self._parts[tag] = {one.get(f"{W}id") or "": one for one in found}
        return self._parts[tag]
