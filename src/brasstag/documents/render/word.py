"""A Word document of blocks."""

import io
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, cast

from docx import Document
from docx.document import Document as WordDocument
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK
from docx.image.exceptions import InvalidImageStreamError, UnexpectedEndOfFileError, UnrecognizedImageError
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.text.hyperlink import CT_Hyperlink
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph
from docx.text.run import Run as WordRun

from brasstag.documents.render.pictures import SetPicture, pictures_of, unreadable
from brasstag.documents.render.runs import StyledRun, runs

Block = Mapping[str, Any]

_FIRST_DAY = (1980, 1, 1, 0, 0, 0)
_DEEPEST_STYLE = 3
"""Word's own template has list styles for so many levels."""
_CODE_FONT = "Courier New"
_LINK_COLOUR = RGBColor(0x1A, 0x4F, 0x8B)


def word(blocks: list[dict[str, Any]], given: Mapping[str, bytes]) -> bytes:
    """Return the blocks as a Word document; the same blocks give the same bytes."""
    document = Document()
    about = document.core_properties
    about.author, about.comments = "", ""
    about.created = about.modified = datetime(*_FIRST_DAY, tzinfo=UTC)
    pictures = pictures_of(blocks, given)
    for block in blocks:
        picture = pictures.get(block.get("target", ""))
        if picture is None:
            _WRITES[block["kind"]](document, block)
        else:
            _picture(document, picture, block.get("text", ""))
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


def _write(paragraph: Paragraph, text: str, *, bold: bool = False) -> None:
    """Write the runs of a text at the end of a paragraph."""
    for target, alike in groupby(runs(text), lambda run: run.get("link", "")):
        place = _link(paragraph, target) if target else paragraph._p  # noqa: SLF001 - the one way to a link
        for run in alike:
            made = WordRun(place.add_r(), paragraph)
            made.text = run["text"]
            _set(made, {**run, "bold": True} if bold else run)


def _link(paragraph: Paragraph, target: str) -> CT_Hyperlink:
    """Return a new link at the end of a paragraph; it leads to an address."""
    link = cast("CT_Hyperlink", OxmlElement("w:hyperlink"))
    link.set(qn("r:id"), paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    paragraph._p.append(link)  # noqa: SLF001
    return link


def _set(made: WordRun, run: StyledRun) -> None:
    font = made.font
    # What is not said is left to the style of the paragraph.
    font.bold, font.italic, font.strike = run.get("bold"), run.get("italic"), run.get("strike")
    if "code" in run:
        font.name = _CODE_FONT
    if "link" in run:
        font.underline, font.color.rgb = True, _LINK_COLOUR


def _heading(document: WordDocument, block: Block) -> None:
    _write(document.add_heading(level=block["level"]), block["text"])


def _paragraph(document: WordDocument, block: Block) -> None:
    _write(document.add_paragraph(), block["text"])


def _list(document: WordDocument, block: Block) -> None:
    for item in block["items"]:
        level = min(item.get("level", 0), _DEEPEST_STYLE - 1)
        depth = f" {level + 1}" if level else ""
        if "number" in item:
            # The number is text: Word would go on counting from the list before.
            paragraph = document.add_paragraph(f"{item['number']}. ", f"List{depth}")
        else:
            paragraph = document.add_paragraph(style=f"List Bullet{depth}")
        _write(paragraph, item["text"])
        paragraph.paragraph_format.space_after = Pt(2)


def _table(document: WordDocument, block: Block) -> None:
    header = block.get("header", [])
    rows = [*([header] if header else []), *block.get("rows", [])]
    made = document.add_table(len(rows), len(rows[0]), "Table Grid")
    for number, (row, cells) in enumerate(zip(made.rows, rows, strict=True)):
        for cell, text in zip(row.cells, cells, strict=True):
            _write(cell.paragraphs[0], text, bold=bool(header) and not number)


def _code(document: WordDocument, block: Block) -> None:
    run = document.add_paragraph(style="No Spacing").add_run(block.get("text", ""))
    run.font.name, run.font.size = _CODE_FONT, Pt(9)


def _quote(document: WordDocument, block: Block) -> None:
    _write(document.add_paragraph(style="Quote"), block["text"])


def _image(document: WordDocument, block: Block) -> None:
    told = ": ".join(filter(None, (block.get("text"), block.get("target"))))
    document.add_paragraph(f"[{told}]")


def _picture(document: WordDocument, picture: SetPicture, said: str) -> None:
    try:
        shape = document.add_picture(io.BytesIO(picture.data), Pt(picture.width))
    except (UnrecognizedImageError, InvalidImageStreamError, UnexpectedEndOfFileError) as error:
        raise unreadable(error) from None
    document.paragraphs[-1].alignment = WD_ALIGN_PARAGRAPH.CENTER
    if said:
        shape._inline.docPr.set("descr", said)  # noqa: SLF001 - the library has no other way to say what it shows
        document.add_paragraph(said, "Caption").alignment = WD_ALIGN_PARAGRAPH.CENTER


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
