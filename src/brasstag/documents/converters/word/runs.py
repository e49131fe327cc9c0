"""The text of the paragraphs of a DOCX document, and what stands between the words."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from brasstag.documents.converters.word.hidden import RUNS, Hidden, has_words
from brasstag.documents.converters.word.notes import Notes
from brasstag.documents.converters.word.pages import Pages
from brasstag.documents.converters.word.styles import RELATION, W
from brasstag.documents.converters.writer import in_one_line

SKIPPED = frozenset(
    {f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}pPr", f"{W}rPr", f"{W}sectPr"}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
"""Elements that hold no words of the text, or words that are no longer part of it."""
_SIGNS = {f"{W}tab": "\t", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": "\t"}
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"


class TextRun:
    """The words of a paragraph, or of the cells of a table, and what stands among them."""

    def __init__(self, targets: dict[str, str], pages: Pages, notes: Notes, hidden: Hidden) -> None:
        self.words: list[str] = []
        self.pictures: list[tuple[str, str]] = []
        self.breaks_before = False
        """Whether a page was ended before the first word."""
        self.breaks = False
        """Whether one was ended behind it."""
        self._targets = targets
        self._pages = pages
        self._notes = notes
        self._hidden = hidden
        self._is_hidden_by_style = False
        self._leaves_out = False
        self._page: int | None = None
        self._alt = ""

    @property
    def page(self) -> int:
        """The page of the first word."""
        return self._pages.number if self._page is None else self._page

    def read_all(self, element: Element) -> None:
        """Take in all paragraphs in an element, also those of tables in it."""
        for paragraph in inner(element, f"{W}p"):
            self.read_paragraph(paragraph)
            self.words.append(" ")

    def read_paragraph(self, paragraph: Element) -> None:
        """Take in a paragraph, which may lie in another one."""
        outer = self._is_hidden_by_style, self._leaves_out
        self._is_hidden_by_style, self._leaves_out = self._hidden.by_style(paragraph), False
        self.read(paragraph)
        self._hidden.paragraphs += self._leaves_out
        self._is_hidden_by_style, self._leaves_out = outer

    def read(self, element: Element) -> None:
        """Take in what is in an element."""
        for child in element:
            tag = child.tag
            if tag in (f"{W}t", _MATH):
                self._write(child.text or "")
            elif tag in _SIGNS:
                self.words.append(_SIGNS[tag])
            elif tag == f"{W}br":
                self._break(child)
            elif tag == f"{W}lastRenderedPageBreak":
                self._pages.end_shown()
            elif tag == f"{W}hyperlink":
                self._link(child)
            elif tag in RUNS and self._hidden.hides(child, by_style=self._is_hidden_by_style):
                self._leaves_out = self._leaves_out or has_words(child)
            elif tag == f"{W}p":
                # A text box in the middle of a line.
                self.words.append("\n")
                self.read_paragraph(child)
            elif tag not in SKIPPED:
                self._note(child)
                self.read(child)

    def _write(self, text: str) -> None:
        self.words.append(text)
        if text.strip():
            self._take_place()

    def _take_place(self) -> None:
        if self._page is None:
            self._page = self._pages.number
        self._pages.write()

    def _break(self, element: Element) -> None:
        if element.get(f"{W}type") != "page":
            self.words.append("\n")
            return
        self._pages.end()
        if self._page is None:
            self.breaks_before = True
        else:
            self.breaks = True

    def _link(self, element: Element) -> None:
        start = len(self.words)
        self.read(element)
        said = "".join(self.words[start:]).strip()
        target = self._targets.get(element.get(f"{RELATION}id") or "", "")
        if said and target and said != target.removeprefix("mailto:"):
            self.words.append(f" ({target})")

    def _note(self, element: Element) -> None:
        if element.tag == _PICTURE:
            self._alt = in_one_line(element.get("descr") or element.get("title") or "")
        elif element.tag == _BLIP:
            target = self._targets.get(element.get(f"{RELATION}embed") or "", "")
            self.pictures.append((self._alt, target))
            self._alt = ""
            self._take_place()
        elif mark := self._notes.mark(element):
            self.words.append(mark)


def inner(element: Element, tag: str) -> Iterator[Element]:
    """Yield elements of a kind, but none that lies in another of them."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag not in SKIPPED:
            yield from inner(child, tag)
