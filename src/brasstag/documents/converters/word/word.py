"""DOCX: the body of a document, read piece by piece."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from brasstag.documents.converters.delimiters import looks_like_names
from brasstag.documents.converters.limits import refuse_bomb
from brasstag.documents.converters.word.hidden import Hidden
from brasstag.documents.converters.word.notes import Notes
from brasstag.documents.converters.word.pages import Pages, tells_pages
from brasstag.documents.converters.word.pictures import Pictures
from brasstag.documents.converters.word.runs import SKIPPED, TextRun, inner
from brasstag.documents.converters.word.styles import Numbers, Styles, W, read_targets
from brasstag.documents.converters.writer import BlockWriter, ListEntry, Unreadable, in_one_line

_BODY = "word/document.xml"
_PIECE = 1 << 20
_MOST_BYTES = 100_000_000


def word(data: bytes, _media_type: str, writer: BlockWriter) -> None:
    """Write the blocks of a DOCX document."""
    refuse_bomb(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as box:
            _Body(box, writer).write()
    except KeyError:
        raise Unreadable("CANNOT_CONVERT", "it has no text where a Word document has it") from None
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable("CANNOT_CONVERT", f"its container is damaged: {error}") from None
    except RecursionError:
        raise Unreadable("CANNOT_CONVERT", "it is nested too deep") from None
    except RuntimeError:
        raise Unreadable("CANNOT_CONVERT", "it is encrypted; save it without a password") from None
    except ParseError as error:
        if not writer.blocks:
            raise Unreadable("CANNOT_CONVERT", f"its text cannot be read: {error}") from None
        writer.leave_out(f"the rest of its text cannot be read: {error}")


class _Body:
    """What stands in the body, in order."""

    def __init__(self, box: zipfile.ZipFile, writer: BlockWriter) -> None:
        self._box = box
        self._writer = writer
        self._styles = Styles(box)
        self._hidden = Hidden(self._styles)
        self._numbers = Numbers(box)
        self._targets = read_targets(box)
        self._pictures = Pictures(box)
        self._notes = Notes(box)
        self._pages = Pages(are_told=False)
        self._number = 0
        self._does = {f"{W}p": self._paragraph, f"{W}tbl": self._table}

    def write(self) -> None:
        """Write everything."""
        if self._box.getinfo(_BODY).file_size > _MOST_BYTES:
            raise Unreadable("TOO_LARGE", f"its text takes more than {_MOST_BYTES:,} bytes")
        self._pages = Pages(are_told=tells_pages(self._box, _BODY))
        try:
            for element in self._pieces():
                self._write_one(element)
            self._writer.end()
            self._write_notes()
        finally:
            # Also of a document that is too long to be read to its end.
            self._hidden.tell(self._writer)

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
        elif element.tag not in SKIPPED:
            for child in element:
                self._write_one(child)

    def _at(self, page: int) -> dict[str, Any]:
        return {"page": page, "paragraph": self._number}

    def _paragraph(self, element: Element) -> None:
        self._pages.begin(element)
        run = TextRun(self._targets, self._pages, self._notes, self._hidden)
        run.read_paragraph(element)
        self._break_page(run.breaks_before, run.page)
        text = "".join(run.words)
        style = self._styles.of(element)
        at = self._at(run.page)
        if style.kind == "code":
            self._writer.end_list()
            self._writer.gather_code(text, at)
        else:
            self._writer.end_code()
            self._write_text(text, style.kind, style.level, element, at)
        for words, target in run.pictures:
            self._writer.end()
            self._writer.add("image", at, text=words, target=target, **self._pictures.described(target))
        self._pages.close(element)
        self._break_page(run.breaks, self._pages.number)

    def _break_page(self, is_broken: bool, page: int) -> None:
        if is_broken:
            self._writer.end()
            self._writer.add("page_break", self._at(page))

    def _write_text(self, text: str, kind: str, level: int, element: Element, at: dict[str, Any]) -> None:
        if not text.strip():
            return
        number = None if kind else self._numbers.next(element, self._styles)
        if number is not None:
            self._writer.gather_item(ListEntry(text, *number, at))
            return
        self._writer.end_list()
        if kind == "heading":
            self._writer.heading(text, level, at)
        else:
            self._writer.paragraph(text, at, quoted=int(kind == "quote"))

    def _table(self, element: Element) -> None:
        self._writer.end()
        run = TextRun(self._targets, self._pages, self._notes, self._hidden)
        rows = [self._row(row, run) for row in inner(element, f"{W}tr")]
        rows = [row for row in rows if row]
        if not rows:
            return
        is_named = element.find(f"{W}tr/{W}trPr/{W}tblHeader") is not None or looks_like_names(rows[0])
        header = rows.pop(0) if is_named and len(rows) > 1 else []
        self._writer.table(header, rows, self._at(run.page))

    def _row(self, element: Element, run: TextRun) -> list[str]:
        cells: list[str] = []
        for cell in inner(element, f"{W}tc"):
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
            run = TextRun({}, Pages(are_told=False), self._notes, self._hidden)
            run.read_all(element)
            self._writer.paragraph(f"{mark} {in_one_line(''.join(run.words))}", at)
