"""A Word document of blocks."""

import io
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from docx import Document
from docx.document import Document as WordDocument
from docx.enum.text import WD_BREAK
from docx.shared import Pt

Block = Mapping[str, Any]

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
_DEEPEST_STYLE = 3
"""Word's own template has list styles for so many levels."""


def word(blocks: list[dict[str, Any]]) -> bytes:
    """Return the blocks as a Word document; the same blocks give the same bytes."""
    document = Document()
    about = document.core_properties
    about.author, about.comments = "", ""
    about.created = about.modified = datetime(*_FIRST_DAY, tzinfo=UTC)
    for block in blocks:
        _WRITES[block["kind"]](document, block)
    saved = io.BytesIO()
    document.save(saved)
    return _undated(saved)


def _undated(saved: io.BytesIO) -> bytes:
    """Return the same file without the moment it was written at."""
    out = io.BytesIO()
    with zipfile.ZipFile(saved) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            entry = zipfile.ZipInfo(name, _FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, given.read(name))
    return out.getvalue()


def _heading(document: WordDocument, block: Block) -> None:
    document.add_heading(block["text"], block["level"])


def _paragraph(document: WordDocument, block: Block) -> None:
    document.add_paragraph(block["text"])


def _list(document: WordDocument, block: Block) -> None:
    for item in block["items"]:
        level = min(item.get("level", 0), _DEEPEST_STYLE - 1)
        depth = f" {level + 1}" if level else ""
        if "number" in item:
            # The number is text: Word would go on counting from the list before.
            paragraph = document.add_paragraph(f"{item['number']}. {item['text']}", f"List{depth}")
        else:
            paragraph = document.add_paragraph(item["text"], f"List Bullet{depth}")
        paragraph.paragraph_format.space_after = Pt(2)


def _table(document: WordDocument, block: Block) -> None:
    header = block.get("header", [])
    rows = [*([header] if header else []), *block.get("rows", [])]
    made = document.add_table(len(rows), len(rows[0]), "Table Grid")
    for row, cells in zip(made.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    for cell in made.rows[0].cells if header else ():
        for run in cell.paragraphs[0].runs:
            run.bold = True


def _code(document: WordDocument, block: Block) -> None:
    run = document.add_paragraph(style="No Spacing").add_run(block.get("text", ""))
    run.font.name, run.font.size = "Courier New", Pt(9)


def _quote(document: WordDocument, block: Block) -> None:
    document.add_paragraph(block["text"], "Quote")


def _image(document: WordDocument, block: Block) -> None:
    told = ": ".join(filter(None, (block.get("text"), block.get("target"))))
    document.add_paragraph(f"[{told}]")


def _rule(document: WordDocument, _block: Block) -> None:
    document.add_paragraph("* * *")


def _page_break(document: WordDocument, _block: Block) -> None:
    document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)


_WRITES: Mapping[str, Callable[[WordDocument, Block], None]] = {
    "heading": _heading,
    "paragraph": _paragraph,
    "list": _list,
    "table": _table,
    "code": _code,
    "quote": _quote,
    "image": _image,
    "rule": _rule,
    "page_break": _page_break,
}
