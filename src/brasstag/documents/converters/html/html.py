"""HTML: what a reader would see of a page, with line numbers."""

from html.parser import HTMLParser
from typing import Any

from brasstag.documents.converters.html.css import Sheets
from brasstag.documents.converters.html.hidden import Elements
from brasstag.documents.converters.text import decoded
from brasstag.documents.converters.writer import BlockWriter, ListEntry

MOST_CHARACTERS = 8_000_000
"""Parsing takes about a second for half of this."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu"})
_BOUNDARIES = frozenset(
    {
        "address", "article", "aside", "body", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "li", "main", "nav", "p", "section",
        "summary", "table", "tbody", "tfoot", "thead", "title", "tr", "blockquote", "pre",
    }
) | _HEADINGS.keys() | _LISTS  # fmt: skip
_CELLS = frozenset({"td", "th"})
_WIDEST = 100
"""Columns that one cell may take up."""


def html(data: bytes, media_type: str, writer: BlockWriter) -> None:
    """Write the blocks of an HTML page."""
    text = decoded(data, writer)
    page = text[:MOST_CHARACTERS]
    sheets = Sheets(page)
    reader = _HtmlReader(writer, sheets, is_xml=media_type == "application/xhtml+xml")
    try:
        reader.feed(page)
        reader.close()
        reader.end()
    finally:
        # Also of a page that is too long to be read to its end.
        reader.tell_hidden()
        if sheets.fall_short:
            writer.note("its style sheets are too long, so that some of what they hide may be here")
    if len(text) > MOST_CHARACTERS:
        writer.leave_out(f"only the first {MOST_CHARACTERS:,} characters of the page are here")


class _HtmlReader(HTMLParser):
    """Gathers words until a boundary; tags that were never closed do no harm."""

    def __init__(self, writer: BlockWriter, sheets: Sheets, *, is_xml: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._writer = writer
        self._is_xml = is_xml
        self._elements = Elements(_BOUNDARIES, sheets)
        self._words: list[str] = []
        self._began = 0
        self._heading = 0
        self._quoted = 0
        self._in_code = 0
        self._language = ""
        self._lists: list[int | None] = []
        self._number: int | None = None
        self._is_item = False
        self._tables: list[_Table] = []
        self._links: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if not self._elements.open(tag, given):
            # Even so, the words before it and after it stand on separate lines.
            if tag in _BOUNDARIES:
                self._boundary()
        elif tag in _BOUNDARIES:
            self._boundary()
            self._open(tag, given)
        elif tag in _CELLS:
            self._open_cell(tag, given)
        elif tag == "br":
            self._words.append("\n")
        elif tag == "a":
            self._links.append((len(self._words), given.get("href") or ""))
        elif tag == "img":
            self._picture(given)
        elif tag == "code" and self._in_code:
            self._language = (given.get("class") or "").partition("language-")[2].partition(" ")[0]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        # In HTML the slash means nothing: what a tag hides stays hidden until it is closed.
        if self._is_xml or self._elements.is_drawing or not self._elements.is_hidden or tag == "script":
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._elements.close(tag):
            return
        if tag in _BOUNDARIES:
            self._boundary()
            self._close(tag)
        elif tag in _CELLS:
            self._boundary()
        elif tag == "a" and self._links:
            start, target = self._links.pop()
            said = "".join(self._words[start:]).strip()
            if said and target and not target.startswith(("#", "javascript:")) and target != said:
                self._words.append(f" ({target})")

    def handle_data(self, data: str) -> None:
        if self._elements.is_hidden:
            if data.strip():
                self._elements.say()
            return
        if not self._words:
            self._began = self.getpos()[0]
        # White space in a page is only ever one space, but for what is preformatted.
        self._words.append(data if self._in_code else _spaced(data))

    def end(self) -> None:
        """Write what is still open."""
        self._boundary()
        while self._tables:
            self._close_table()
        self._end_list()

    def tell_hidden(self) -> None:
        """Say how much was left out because no reader of the page sees it."""
        if count := self._elements.untold:
            what = "a hidden element" if count == 1 else f"{count:,} hidden elements"
            self._writer.note(
                f"{what} with text that no reader of the page sees {'is' if count == 1 else 'are'} left out"
            )

    def _open(self, tag: str, given: dict[str, str | None]) -> None:
        if tag in _HEADINGS:
            self._heading = _HEADINGS[tag]
        elif tag in _LISTS:
            start = given.get("start") or "1"
            number = int(start) if start.isdecimal() and len(start) < 10 else 1
            self._lists.append(number if tag == "ol" else None)
        elif tag == "li":
            self._open_item()
        elif tag == "blockquote":
            self._end_list()
            self._quoted += 1
        elif tag == "pre":
            self._in_code, self._language = self._in_code + 1, ""
        elif tag == "table":
            self._end_list()
            self._tables.append(_Table(self.getpos()[0]))
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag == "hr":
            self._end_list()
            self._writer.add("rule", {"line": self.getpos()[0]})

    def _close(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._heading = 0
        elif tag in _LISTS and self._lists:
            self._lists.pop()
            if not self._lists:
                self._end_list()
        elif tag == "blockquote" and self._quoted:
            self._quoted -= 1
        elif tag == "pre" and self._in_code:
            self._in_code -= 1
        elif tag == "table" and self._tables:
            self._close_table()

    def _open_item(self) -> None:
        self._is_item = True
        self._number = None
        if self._lists and (number := self._lists[-1]) is not None:
            self._number, self._lists[-1] = number, number + 1

    def _open_cell(self, tag: str, given: dict[str, str | None]) -> None:
        self._boundary()
        if self._tables:
            span = given.get("colspan") or "1"
            wide = min(_WIDEST, int(span)) if span.isdecimal() and len(span) < 4 else 1
            self._tables[-1].open_cell(max(1, wide), is_name=tag == "th")

    def _boundary(self) -> None:
        """Write the words gathered so far as what they stand in."""
        text, self._words, self._links = "".join(self._words), [], []
        at = {"line": self._began, "end_line": self.getpos()[0]}
        if self._in_code and text.strip():
            self._end_list()
            self._writer.code(text.strip("\n"), self._language, at)
        elif not text.strip() or (self._tables and self._tables[-1].add(text)):
            return
        elif self._heading:
            self._end_list()
            self._writer.heading(text, self._heading, at)
        elif self._lists or self._is_item:
            self._item(text, at)
        else:
            self._writer.paragraph(text, at, self._quoted)

    def _item(self, text: str, at: dict[str, Any]) -> None:
        item = ListEntry(text, max(0, len(self._lists) - 1), self._number, at)
        self._writer.gather_item(item, is_new=self._is_item)
        self._is_item = False

    def _end_list(self) -> None:
        self._is_item = False
        self._writer.end_list()

    def _close_table(self) -> None:
        table = self._tables.pop()
        rows = [row for row in table.rows if any(cell.strip() for cell in row)]
        if self._tables and rows:
            # Of a table in a cell only the words are written: tables within tables are nearly always layout.
            self._tables[-1].add("\n".join(" ".join(row) for row in rows))
        elif len(rows) == 1 and len(rows[0]) == 1:
            self._writer.paragraph(rows[0][0], {"line": table.line})
        elif rows:
            header = rows.pop(0) if table.has_names else []
            self._writer.table(header, rows, {"line": table.line, "end_line": self.getpos()[0]})

    def _picture(self, given: dict[str, str | None]) -> None:
        words = (given.get("alt") or "").strip()
        target = given.get("src") or ""
        if target.startswith("data:"):
            target = ""
        if self._tables or self._lists or "".join(self._words).strip():
            self._words.append(words)
        elif words or target:
            self._writer.add("image", {"line": self.getpos()[0]}, text=" ".join(words.split()), target=target)


class _Table:
    """A table as far as it has been read."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.rows: list[list[str]] = []
        self.has_names = False
        self._is_open = False

    def open_cell(self, width: int, *, is_name: bool) -> None:
        """Begin a cell; the others it covers stay empty."""
        if not self.rows:
            self.rows.append([])
        if is_name and len(self.rows) == 1:
            self.has_names = True
        self.rows[-1] += [""] * width
        self._at = len(self.rows[-1]) - width
        self._is_open = True

    def add(self, text: str) -> bool:
        """Put words into the open cell; False where there is none."""
        if not self._is_open or not self.rows or not self.rows[-1]:
            return False
        at = min(self._at, len(self.rows[-1]) - 1)
        self.rows[-1][at] = f"{self.rows[-1][at]} {text}".strip()
        return True


def _spaced(data: str) -> str:
    said = " ".join(data.split())
    if not said:
        return " "
    return f"{' ' * data[0].isspace()}{said}{' ' * data[-1].isspace()}"
