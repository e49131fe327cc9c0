"""Pages of a DOCX document, counted as far as the document says where they end."""

import zipfile
from xml.etree.ElementTree import Element

from brasstag.documents.converters.word.styles import W, is_set

_PIECE = 1 << 20
_MARKS = (b"lastRenderedPageBreak", b"pageBreakBefore", b'type="page"')
_LONGEST = max(map(len, _MARKS))


def tells_pages(box: zipfile.ZipFile, part: str) -> bool:
    """Say whether a part of the container has any sign of where a page ends."""
    with box.open(part) as file:
        end = b""
        while piece := file.read(_PIECE):
            # A sign may lie across two pieces.
            piece = end + piece
            if any(mark in piece for mark in _MARKS):
                return True
            end = piece[-_LONGEST:]
    return False


class Pages:
    """Counts the pages so far.

    Where the author ended a page, a program that shows the document writes that end down a second time; it counts once.
    """

    def __init__(self, *, are_told: bool) -> None:
        self._are_told = are_told
        self._count = 1
        self._is_ended = False
        self._has_words = False

    @property
    def number(self) -> int:
        """The page that comes next, counted from 1; 0 where the document tells of none."""
        return self._count if self._are_told else 0

    def end(self) -> None:
        """Count a page that the document itself ends."""
        self._count += 1
        self._is_ended = True

    def end_shown(self) -> None:
        """Count a page that ended where the document was last shown."""
        self._count += not self._is_ended
        self._is_ended = False

    def write(self) -> None:
        """Take note of something on the page."""
        self._is_ended = False
        self._has_words = True

    def begin(self, paragraph: Element) -> None:
        """Count the page before a paragraph that begins a new one."""
        if self._has_words and not self._is_ended and is_set(paragraph.find(f"{W}pPr/{W}pageBreakBefore")):
            self.end()

    def close(self, paragraph: Element) -> None:
        """Count the page that a section ends with."""
        section = paragraph.find(f"{W}pPr/{W}sectPr")
        if section is None:
            return
        how = section.find(f"{W}type")
        if how is None or how.get(f"{W}val") != "continuous":
            self.end()
