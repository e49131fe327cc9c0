"""DOCX: the body of a document, read piece by piece."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from brasstag.documents.programs.boxes import refuse_bomb
from brasstag.documents.programs.paper import Paper, Unreadable, in_one_line
from brasstag.documents.programs.rows import looks_like_names
from brasstag.documents.programs.wordnotes import Notes
from brasstag.documents.programs.wordpages import Pages, tells_pages
from brasstag.documents.programs.wordpictures import Pictures
from brasstag.documents.programs.wordstyles import RELATION, Numbers, Styles, W, read_targets

_BODY = "word/document.xml"
_PIECE = 1 << 20
_MOST_BYTES = 100_000_000
_SKIPPED = frozenset(
    {f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}pPr", f"{W}rPr", f"{W}sectPr"}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
_SIGNS = {f"{W}tab": "\t", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": "\t"}
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"


def word(data: bytes, _media_type: str, paper: Paper) -> None:
    """Write the blocks of a DOCX document."""
    refuse_bomb(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as box:
            _Body(box, paper).write()
    except KeyError:
        raise Unreadable("CANNOT_CONVERT", "it has no text where a Word document has it") from None
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable("CANNOT_CONVERT", f"its container is damaged: {error}") from None
    except RecursionError:
        raise Unreadable("CANNOT_CONVERT", "it is nested too deep") from None
    except RuntimeError:
        raise Unreadable("CANNOT_CONVERT", "it is encrypted; save it without a password") from None
    except ParseError as error:
        if not paper.blocks:
            raise Unreadable("CANNOT_CONVERT", f"its text cannot be read: {error}") from None
        paper.leave_out(f"the rest of its text cannot be read: {error}")


class _Body:
    """What stands in the body, in order."""

    def __init__(self, box: zipfile.ZipFile, paper: Paper) -> None:
        self._box = box
        self._paper = paper
        self._styles = Styles(box)
        self._numbers = Numbers(box)
        self._targets = read_targets(box)
        self._pictures = Pictures(box)
        self._notes = Notes(box)
        self._pages = Pages(are_told=False)
        self._number = 0
        self._items: list[tuple[str, int, int | None]] = []
        self._items_at: list[dict[str, Any]] = []
        self._code: list[str] = []
        self._code_at: dict[str, Any] = {}
        self._does = {f"{W}p": self._paragraph, f"{W}tbl": self._table}

    def write(self) -> None:
        """Write everything."""
        if self._box.getinfo(_BODY).file_size > _MOST_BYTES:
            raise Unreadable("TOO_LARGE", f"its text takes more than {_MOST_BYTES:,} bytes")
        self._pages = Pages(are_told=tells_pages(self._box, _BODY))
        for element in self._pieces():
            self._write_one(element)
        self._end()
        self._write_notes()

    def _pieces(self) -> Iterator[Element]:
        """Yield what stands at the top of the body; each is forgotten as soon as it was looked at."""
        parser: Any = XMLPullParser(("start", "end"))
        path: list[Element] = []
        with self._box.open(_BODY) as file:
            while piece := file.read(_PIECE):
                parser.feed(piece)
                for event, element in parser.read_events():
                    if event == "start":
                        path.append(element)
                        continue
                    path.pop()
                    if len(path) == 2:
                        yield element
                        path[-1].remove(element)
        parser.close()

    def _write_one(self, element: Element) -> None:
        act = self._does.get(element.tag)
        if act is not None:
            self._number += 1
            self._notes.at = self._at(self._pages.number)
            act(element)
        elif element.tag not in _SKIPPED:
            for child in element:
                self._write_one(child)

    def _at(self, page: int) -> dict[str, Any]:
        return {"page": page, "paragraph": self._number}

    def _paragraph(self, element: Element) -> None:
        self._pages.begin(element)
        run = _Run(self._targets, self._pages, self._notes)
        run.read(element)
        self._break_page(run.breaks_before, run.page)
        text = "".join(run.words)
        style = self._styles.of(element)
        at = self._at(run.page)
        if style.kind == "code":
            self._end_list()
            self._code_at = self._code_at or at
            self._code.append(text)
        else:
            self._end_code()
            self._write_text(text, style.kind, style.level, element, at)
        for words, target in run.pictures:
            self._end()
            self._paper.add("image", at, text=words, target=target, **self._pictures.described(target))
        self._pages.close(element)
        self._break_page(run.breaks, self._pages.number)

    def _break_page(self, is_broken: bool, page: int) -> None:
        if is_broken:
            self._end()
            self._paper.add("page_break", self._at(page))

    def _write_text(self, text: str, kind: str, level: int, element: Element, at: dict[str, Any]) -> None:
        if not text.strip():
            return
        number = None if kind else self._numbers.next(element, self._styles)
        if number is not None:
            self._items_at.append(at)
            self._items.append((text, *number))
            return
        self._end_list()
        if kind == "heading":
            self._paper.heading(text, level, at)
        else:
            self._paper.paragraph(text, at, quoted=int(kind == "quote"))

    def _table(self, element: Element) -> None:
        self._end()
        run = _Run(self._targets, self._pages, self._notes)
        rows = [self._row(row, run) for row in _inner(element, f"{W}tr")]
        rows = [row for row in rows if row]
        if not rows:
            return
        is_named = element.find(f"{W}tr/{W}trPr/{W}tblHeader") is not None or looks_like_names(rows[0])
        header = rows.pop(0) if is_named and len(rows) > 1 else []
        self._paper.table(header, rows, self._at(run.page))

    def _row(self, element: Element, run: "_Run") -> list[str]:
        cells: list[str] = []
        for cell in _inner(element, f"{W}tc"):
            run.read_all(cell)
            cells.append(in_one_line("".join(run.words)))
            run.words.clear()
            span = cell.find(f"{W}tcPr/{W}gridSpan")
            wide = (span.get(f"{W}val") or "1") if span is not None else "1"
            cells += [""] * (min(100, int(wide)) - 1 if wide.isdecimal() and len(wide) < 4 else 0)
        return cells

    def _write_notes(self) -> None:
        # What a note refers to comes behind it, in the same list.
        for mark, element, at in self._notes.told:
            run = _Run({}, Pages(are_told=False), self._notes)
            run.read_all(element)
            self._paper.paragraph(f"{mark} {in_one_line(''.join(run.words))}", at)

    def _end(self) -> None:
        self._end_list()
        self._end_code()

    def _end_list(self) -> None:
        items, at = self._items, self._items_at
        self._items, self._items_at = [], []
        self._paper.list_items(items, at)

    def _end_code(self) -> None:
        code, at = self._code, self._code_at
        self._code, self._code_at = [], {}
        if code:
            self._paper.code("\n".join(code), "", at)


class _Run:
    """The words of a paragraph, or of the cells of a table, and what stands among them."""

    def __init__(self, targets: dict[str, str], pages: Pages, notes: Notes) -> None:
        self.words: list[str] = []
        self.pictures: list[tuple[str, str]] = []
        self.breaks_before = False
        """Whether a page was ended before the first word."""
        self.breaks = False
        """Whether one was ended behind it."""
        self._targets = targets
        self._pages = pages
        self._notes = notes
        self._page: int | None = None
        self._alt = ""

    @property
    def page(self) -> int:
        """The page of the first word."""
        return self._pages.number if self._page is None else self._page

    def read_all(self, element: Element) -> None:
        """Take in all paragraphs in an element, also those of tables in it."""
        for paragraph in _inner(element, f"{W}p"):
            self.read(paragraph)
            self.words.append(" ")

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
            elif tag not in _SKIPPED:
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
        elif element.tag == f"{W}p":
            # A text box in the middle of a line.
            self.words.append("\n")
        elif mark := self._notes.mark(element):
            self.words.append(mark)


def _inner(element: Element, tag: str) -> Iterator[Element]:
    """Yield elements of a kind, but none that lies in another of them."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag not in _SKIPPED:
            yield from _inner(child, tag)
