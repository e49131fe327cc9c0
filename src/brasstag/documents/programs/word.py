"""DOCX: the body of a document, read piece by piece."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from brasstag.documents.programs.boxes import refuse_bomb
from brasstag.documents.programs.paper import Paper, Unreadable, in_one_line
from brasstag.documents.programs.records import looks_like_names
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
        self._page = 1
        self._knows_pages = False
        self._items: list[tuple[str, int, int | None]] = []
        self._items_at: dict[str, Any] = {}
        self._code: list[str] = []
        self._does = {f"{W}p": self._paragraph, f"{W}tbl": self._table}

    def write(self) -> None:
        """Write everything."""
        if self._box.getinfo(_BODY).file_size > _MOST_BYTES:
            raise Unreadable("TOO_LARGE", f"its text takes more than {_MOST_BYTES:,} bytes")
        for element in self._pieces():
            self._write_one(element)
        self._end()

    def _pieces(self) -> Iterator[Element]:
        """Yield what stands at the top of the body; each is forgotten as soon as it was looked at."""
        parser: Any = XMLPullParser(("start", "end"))
        path: list[Element] = []
        with self._box.open(_BODY) as file:
            while piece := file.read(_PIECE):
                self._knows_pages = self._knows_pages or b"lastRenderedPageBreak" in piece
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
            act(element)
        elif element.tag not in _SKIPPED:
            for child in element:
                self._write_one(child)

    @property
    def _at(self) -> dict[str, Any]:
        return {"page": self._page} if self._knows_pages else {}

    def _paragraph(self, element: Element) -> None:
        at = self._at
        run = _Run(self._targets)
        run.read(element)
        text = "".join(run.words)
        style = self._styles.of(element)
        if style.kind == "code":
            self._end_list()
            self._code.append(text)
        else:
            self._end_code()
            self._write_text(text, style.kind, style.level, element, at)
        for words, target in run.pictures:
            self._end()
            self._paper.add("image", at, text=words, target=target)
        self._page += run.pages
        if run.breaks:
            self._end()
            self._paper.add("page_break", self._at)

    def _write_text(self, text: str, kind: str, level: int, element: Element, at: dict[str, Any]) -> None:
        if not text.strip():
            return
        number = None if kind else self._numbers.next(element, self._styles)
        if number is not None:
            self._items_at = self._items_at or at
            self._items.append((text, *number))
            return
        self._end_list()
        if kind == "heading":
            self._paper.heading(text, level, at)
        else:
            self._paper.paragraph(text, at, quoted=int(kind == "quote"))

    def _table(self, element: Element) -> None:
        self._end()
        rows = [self._row(row) for row in element.iter(f"{W}tr")]
        rows = [row for row in rows if row]
        if not rows:
            return
        is_named = element.find(f"{W}tr/{W}trPr/{W}tblHeader") is not None or looks_like_names(rows[0])
        header = rows.pop(0) if is_named and len(rows) > 1 else []
        self._paper.table(header, rows, self._at)

    def _row(self, element: Element) -> list[str]:
        cells: list[str] = []
        for cell in element.findall(f"{W}tc") + element.findall(f"{W}sdt/{W}sdtContent/{W}tc"):
            run = _Run(self._targets)
            for paragraph in cell.iter(f"{W}p"):
                run.read(paragraph)
                run.words.append(" ")
            self._page += run.pages
            cells.append(in_one_line("".join(run.words)))
            span = cell.find(f"{W}tcPr/{W}gridSpan")
            wide = (span.get(f"{W}val") or "1") if span is not None else "1"
            cells += [""] * (min(100, int(wide)) - 1 if wide.isdecimal() and len(wide) < 4 else 0)
        return cells

    def _end(self) -> None:
        self._end_list()
        self._end_code()

    def _end_list(self) -> None:
        items, at = self._items, self._items_at
        self._items, self._items_at = [], {}
        self._paper.list_items(items, at)

    def _end_code(self) -> None:
        code, self._code = self._code, []
        if code:
            self._paper.code("\n".join(code), "", self._at)


class _Run:
    """The words of a paragraph, and what stands among them."""

    def __init__(self, targets: dict[str, str]) -> None:
        self.words: list[str] = []
        self.pictures: list[tuple[str, str]] = []
        self.pages = 0
        self.breaks = 0
        self._targets = targets
        self._alt = ""

    def read(self, element: Element) -> None:
        """Take in what is in an element."""
        for child in element:
            tag = child.tag
            if tag in (f"{W}t", _MATH):
                self.words.append(child.text or "")
            elif tag in _SIGNS:
                self.words.append(_SIGNS[tag])
            elif tag == f"{W}br":
                self._break(child)
            elif tag == f"{W}lastRenderedPageBreak":
                self.pages += 1
            elif tag == f"{W}hyperlink":
                self._link(child)
            elif tag not in _SKIPPED:
                self._note(child)
                self.read(child)

    def _break(self, element: Element) -> None:
        if element.get(f"{W}type") == "page":
            self.breaks += 1
        else:
            self.words.append("\n")

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
        elif element.tag == f"{W}footnoteReference":
            self.words.append(f"[{element.get(f'{W}id') or ''}]")
        elif element.tag == f"{W}p":
            # A text box in the middle of a line.
            self.words.append("\n")
