"""What the lines of a page are, by size, weight and distance: headings, paragraphs, items, code."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from brasstag.documents.converters.delimiters import looks_like_names
from brasstag.documents.converters.writer import BlockWriter, ListEntry

_LARGER = 1.12
"""How much larger than the text of the document a heading is set, at least."""
_SAME = 0.6
"""Points between two sizes that are one."""
_APART = 1.3
"""Times the usual distance of lines; what is further down is another paragraph."""
_LONGEST_HEADING = 200
_LONGEST_BOLD = 100
_BULLET = re.compile(r"([•◦▪‣●○■□∙·⁃–—*-])\s+(?=\S)")
_NUMBER = re.compile(r"\(?(\d{1,3})[.)]\s+(?=\S)")
_WORD_SPACE = 0.5
"""Times the size of its font; what stands no further to the right on a line goes on with it, in any layout."""
_BROKEN = re.compile(r"(?<![\w-])[^\W\d_]+-\Z")


class TextLine:
    """One line of text as it is set."""

    def __init__(self, spans: Sequence[Any]) -> None:
        first = spans[0]
        self.text = _joined(spans).strip()
        self.left = first.bbox[0]
        self.bottom = min(span.bbox[1] for span in spans)
        self.size = max(spans, key=lambda span: len(span.text)).font_size
        self.is_bold = all(span.is_bold for span in spans)
        self.is_code = all(span.is_monospace for span in spans)


class Sheet:
    """A table and the place it takes on its page."""

    def __init__(
        self, left: float, bottom: float, right: float, top: float, rows: list[list[str]] | None = None
    ) -> None:
        self._box = left, bottom, right, top
        self.rows = rows or []

    def holds(self, span: Any) -> bool:
        """Say whether words stand in it."""
        left, bottom, right, top = self._box
        x, y, width, height = span.bbox
        return bool(left <= x + min(width, 4.0) / 2 <= right and bottom <= y + height / 2 <= top)


Found = TextLine | Sheet


class Page:
    """What is on one page, in the order it is read."""

    def __init__(self, number: int, found: list[Found]) -> None:
        self.number = number
        self.found = found

    @property
    def has_text(self) -> bool:
        """Whether there is anything to read on it."""
        return bool(self.found)


class BodyStyle:
    """How most of a document is set."""

    def __init__(self, size: float, leading: float, larger: list[float]) -> None:
        self.size = size
        self.leading = leading
        self._larger = larger

    def level(self, lines: Sequence[TextLine]) -> int:
        """Return the level of the heading that lines are; 0 where they are none."""
        length = sum(len(line.text) for line in lines)
        for rank, size in enumerate(self._larger, start=1):
            if abs(lines[0].size - size) <= _SAME:
                return rank if length <= _LONGEST_HEADING else 0
        is_bold = lines[0].is_bold and len(lines) == 1 and lines[0].size >= self.size - _SAME
        says_less = length <= _LONGEST_BOLD and not lines[0].text.endswith((".", ",", ";"))
        return len(self._larger) + 1 if is_bold and says_less else 0


def in_reading_order(spans: list[Any]) -> list[Any]:
    """Return words in the order of lines, unless the order in columns that they come in is the better one.

    A gap that runs down a page by chance, between words that are set differently, looks like the one between two
    columns. It is none if it cuts more lines that go on across it than lines that stand apart there.
    """
    if not any(_is_above(span, before) for before, span in pairwise(spans)):
        return spans
    place = {id(span): number for number, span in enumerate(spans)}
    by_line = [span for line in _rows_of(spans) for span in line]
    cut = [
        span.bbox[0] - before.bbox[0] - before.bbox[2] <= _WORD_SPACE * span.font_size
        for before, span in pairwise(by_line)
        if _is_beside(before, span) and place[id(span)] != place[id(before)] + 1
    ]
    return by_line if sum(cut) * 2 > len(cut) else spans


def _is_above(span: Any, other: Any) -> bool:
    return bool(span.bbox[1] > other.bbox[1] + other.bbox[3])


def _rows_of(spans: Sequence[Any]) -> list[list[Any]]:
    """Return the words of each line from left to right, the highest line first."""
    rows: list[list[Any]] = []
    for span in sorted(spans, key=lambda one: -one.bbox[1] - one.bbox[3] / 2):
        middle = span.bbox[1] + span.bbox[3] / 2
        first = rows[-1][0].bbox if rows else (0.0, 0.0, 0.0, 0.0)
        if rows and first[1] <= middle <= first[1] + first[3]:
            rows[-1].append(span)
        else:
            rows.append([span])
    return [sorted(row, key=lambda one: one.bbox[0]) for row in rows]


def lines_of(spans: Sequence[Any]) -> list[TextLine]:
    """Return the lines that words stand in."""
    found: list[TextLine] = []
    held: list[Any] = []
    for span in spans:
        if held and not _is_beside(held[-1], span):
            found.append(TextLine(held))
            held = []
        held.append(span)
    return [*found, TextLine(held)] if held else found


def _is_beside(before: Any, span: Any) -> bool:
    height = max(before.bbox[3], span.bbox[3], 1.0)
    overlap = min(before.bbox[1] + before.bbox[3], span.bbox[1] + span.bbox[3]) - max(
        before.bbox[1], span.bbox[1]
    )
    return bool(overlap > height * 0.4 and span.bbox[0] >= before.bbox[0])


def _joined(spans: Sequence[Any]) -> str:
    parts: list[str] = []
    end = 0.0
    for span in spans:
        x, _, width, _ = span.bbox
        if parts and x - end > span.font_size * 0.15 and not parts[-1].endswith(" "):
            parts.append(" ")
        parts.append(span.text)
        end = x + width
    return "".join(parts)


def body_of(pages: Iterable[Page]) -> BodyStyle:
    """Return how a document is set: its size, the distance of its lines, and the sizes above it."""
    lines = [[one for one in page.found if isinstance(one, TextLine)] for page in pages]
    sizes: Counter[float] = Counter()
    for line in (line for page in lines for line in page):
        sizes[round(line.size * 2) / 2] += len(line.text)
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    gaps = [
        before.bottom - line.bottom
        for page in lines
        for before, line in pairwise(page)
        if abs(line.size - size) <= _SAME and abs(before.size - size) <= _SAME
    ]
    near = [gap for gap in gaps if size * 0.8 < gap < size * 3]
    larger: list[float] = []
    for one in sorted((one for one in sizes if one > size * _LARGER), reverse=True):
        if not larger or larger[-1] - one > _SAME:
            larger.append(one)
    return BodyStyle(size, median(near) if near else size * 1.2, larger[:5])


def write_pages(pages: Sequence[Page], writer: BlockWriter) -> None:
    """Write the blocks of all pages, a break between each two."""
    body = body_of(pages)
    for page in pages:
        at = {"page": page.number}
        if page.number > 1:
            writer.add("page_break", at)
        of_page = _PageWriter(writer, body, at)
        for one in _grouped(page.found, body):
            of_page.write(one)
        of_page.end()


def _grouped(found: Sequence[Found], body: BodyStyle) -> Iterator[list[TextLine] | Sheet]:
    """Yield tables, and lines that are one paragraph."""
    held: list[TextLine] = []
    for one in found:
        if held and (isinstance(one, Sheet) or _is_another(held, one, body)):
            yield held
            held = []
        if isinstance(one, Sheet):
            yield one
        else:
            held.append(one)
    if held:
        yield held


def _is_another(held: Sequence[TextLine], line: TextLine, body: BodyStyle) -> bool:
    before = held[-1]
    gap = before.bottom - line.bottom
    furthest = _APART * body.leading * max(1.0, before.size / body.size)
    begins = bool(_BULLET.match(line.text) or _NUMBER.match(line.text))
    is_indented = len(held) > 1 and line.left > max(one.left for one in held[1:]) + line.size * 0.8
    is_set_alike = abs(before.size - line.size) <= _SAME and before.is_code == line.is_code
    is_bold_above = before.is_bold and not line.is_bold and len(held) == 1
    return not 0 < gap <= furthest or begins or is_indented or not is_set_alike or is_bold_above


class _PageWriter:
    """Writes what was found on a page; items and code are gathered until something else comes."""

    def __init__(self, writer: BlockWriter, body: BodyStyle, at: dict[str, Any]) -> None:
        self._writer = writer
        self._body = body
        self._at = at
        self._lefts: list[float] = []

    def write(self, one: "list[TextLine] | Sheet") -> None:
        """Write a table, or lines that belong together."""
        if isinstance(one, Sheet):
            self.end()
            header = one.rows[0] if looks_like_names(one.rows[0]) else []
            self._writer.table(header, one.rows[1:] if header else one.rows, self._at)
        elif one[0].is_code:
            self._end_items()
            for line in one:
                self._writer.gather_code(line.text, self._at)
        else:
            self._write_lines(one)

    def _write_lines(self, lines: list[TextLine]) -> None:
        self._writer.end_code()
        text = _as_one(lines)
        level = self._body.level(lines)
        bullet, number = _BULLET.match(text), _NUMBER.match(text)
        if level:
            self._end_items()
            self._writer.heading(text, level, self._at)
        elif bullet or number:
            start = (bullet or number or [""])[0]
            counted = int(number[1]) if number else None
            depth = self._depth(lines[0].left)
            self._writer.gather_item(ListEntry(text[len(start) :], depth, counted, self._at))
        else:
            self._end_items()
            self._writer.paragraph(text, self._at)

    def _depth(self, left: float) -> int:
        self._lefts = [one for one in self._lefts if one < left - 3.0] + [left]
        return len(self._lefts) - 1

    def end(self) -> None:
        """Write what was gathered."""
        self._end_items()
        self._writer.end_code()

    def _end_items(self) -> None:
        self._lefts = []
        self._writer.end_list()


def _as_one(lines: Sequence[TextLine]) -> str:
    """Return lines as running text; a word broken at the end of one is put together again."""
    text = lines[0].text
    for line in lines[1:]:
        is_broken = _BROKEN.search(text) and line.text[:1].islower()
        text = text[:-1] + line.text if is_broken else f"{text} {line.text}"
    return text
