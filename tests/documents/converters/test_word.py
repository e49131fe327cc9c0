"""Where in a Word document its blocks stand, and what its pictures are."""

import io
import zipfile

import pytest

from brasstag.documents.converters import writer as papers
from tests.documents.converters.test_converters import DOCX, answer, read
from tests.documents.making import docx, paragraph
from tests.documents.reading.test_carry import PNG

BROKEN = '<w:p><w:r><w:t>before</w:t><w:br w:type="page"/><w:t>after</w:t></w:r></w:p>'
BREAK = '<w:r><w:br w:type="page"/></w:r>'
SHOWN = "<w:r><w:lastRenderedPageBreak/></w:r>"
SECTION = "<w:p><w:pPr><w:sectPr>{}</w:sectPr></w:pPr><w:r><w:t>ends</w:t></w:r></w:p>"
BLIP = (
    '<w:p xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><w:r><w:drawing>'
    '<wp:docPr descr="a cat"/><a:blip r:embed="r1"/></w:drawing></w:r></w:p>'
)


def places(body: str) -> list[tuple[str, int, int]]:
    found = read(docx(body), DOCX)
    return [(block.text or block.kind, block.at.page, block.at.paragraph) for block in found.blocks]


def on_new_page(text: str, *, before: str) -> str:
    return f"<w:p>{before}<w:r><w:t>{text}</w:t></w:r></w:p>"


def test_every_block_has_the_number_of_its_paragraph() -> None:
    row = f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
    body = paragraph("first") + "<w:p/>" + paragraph("third") + f"<w:tbl>{row}</w:tbl>" + paragraph("fifth")
    assert places(body) == [("first", 0, 1), ("third", 0, 3), ("table", 0, 4), ("fifth", 0, 5)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Nothing tells of pages.
        (paragraph("a") + paragraph("b"), [("a", 0, 1), ("b", 0, 2)]),
        # Those that a person ended count, from the first page on.
        (
            paragraph("a") + on_new_page("b", before=BREAK) + paragraph("c"),
            [("a", 1, 1), ("page_break", 2, 2), ("b", 2, 2), ("c", 2, 3)],
        ),
        (BROKEN + paragraph("c"), [("beforeafter", 1, 1), ("page_break", 2, 1), ("c", 2, 2)]),
        # Those that ended where it was shown count, too, at the words that come after.
        (paragraph("a") + on_new_page("b", before=SHOWN), [("a", 1, 1), ("b", 2, 2)]),
        # One that a person ended and that was shown then is one page.
        (
            paragraph("a")
            + f"<w:p>{BREAK}</w:p>"
            + on_new_page("b", before=SHOWN)
            + on_new_page("c", before=SHOWN),
            [("a", 1, 1), ("page_break", 2, 2), ("b", 2, 3), ("c", 3, 4)],
        ),
        # A paragraph may begin a page, but for the very first.
        (
            paragraph("a", "<w:pageBreakBefore/>") + paragraph("b", "<w:pageBreakBefore/>"),
            [("a", 1, 1), ("b", 2, 2)],
        ),
        (
            paragraph("a") + paragraph("b", '<w:pageBreakBefore w:val="0"/>'),
            [("a", 1, 1), ("b", 1, 2)],
        ),
        # Sections end pages unless they say that they do not.
        (
            SECTION.format("") + on_new_page("b", before=SHOWN) + on_new_page("c", before=SHOWN),
            [("ends", 1, 1), ("b", 2, 2), ("c", 3, 3)],
        ),
        (
            SECTION.format('<w:type w:val="continuous"/>') + paragraph("b") + on_new_page("c", before=SHOWN),
            [("ends", 1, 1), ("b", 1, 2), ("c", 2, 3)],
        ),
    ],
)
def test_pages_are_counted_as_far_as_the_document_tells(
    body: str, expected: list[tuple[str, int, int]]
) -> None:
    assert places(body) == expected


def test_a_page_that_is_told_of_late_counts_from_the_start() -> None:
    body = paragraph("a") + paragraph("x" * 3_000_000) + on_new_page("b", before=SHOWN)
    found = places(body)
    assert (found[0], found[-1]) == (("a", 1, 1), ("b", 2, 3))


def with_picture(data: bytes, name: str = "word/media/image1.png") -> bytes:
    out = io.BytesIO(docx(BLIP, rels='<Relationship Id="r1" Target="media/image1.png"/>'))
    with zipfile.ZipFile(out, "a") as box:
        box.writestr(name, data)
    return out.getvalue()


def test_a_picture_in_a_document_has_its_type_and_size() -> None:
    (block,) = read(with_picture(PNG), DOCX).blocks
    assert (block.kind, block.text, block.target) == ("image", "a cat", "media/image1.png")
    assert (block.media_type, block.width, block.height, block.size_bytes) == ("image/png", 2, 3, len(PNG))
    assert block.at.paragraph == 1


@pytest.mark.parametrize(("data", "name"), [(b"no picture", "word/media/image1.png"), (PNG, "elsewhere.png")])
def test_a_picture_that_cannot_be_read_is_still_named(data: bytes, name: str) -> None:
    (block,) = read(with_picture(data, name), DOCX).blocks
    assert (block.kind, block.text, block.width) == ("image", "a cat", 0)


def item(text: str, which: int) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{which}"/></w:numPr>')


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"


def test_a_list_that_follows_one_of_another_kind_has_its_own_place() -> None:
    kinds = (("0", "bullet"), ("1", "decimal"))
    numbering = "".join(
        f'<w:abstractNum w:abstractNumId="{name}"><w:lvl w:ilvl="0"><w:numFmt w:val="{kind}"/></w:lvl>'
        "</w:abstractNum>"
        for name, kind in kinds
    ) + "".join(
        f'<w:num w:numId="{int(name) + 1}"><w:abstractNumId w:val="{name}"/></w:num>' for name, _ in kinds
    )
    body = paragraph("before") + item("a", 1) + item("b", 1) + item("one", 2) + item("two", 2)
    _, bullets, numbers = read(docx(body, numbering=numbering), DOCX).blocks
    assert ([(one.text, one.at.paragraph) for one in bullets.items], bullets.at.paragraph) == (
        [("a", 2), ("b", 3)],
        2,
    )
    assert ([(one.text, one.at.paragraph) for one in numbers.items], numbers.at.paragraph) == (
        [("one", 4), ("two", 5)],
        4,
    )


def test_a_table_in_a_cell_is_told_there_and_nowhere_else() -> None:
    inner = (
        f"<w:tbl>{row(paragraph('in1'), paragraph('in2'))}{row(paragraph('in3'), paragraph('in4'))}</w:tbl>"
    )
    outer = f"<w:tbl>{row(paragraph('A'), paragraph('B'))}{row(paragraph('x'), inner)}</w:tbl>"
    (block,) = read(docx(outer), DOCX).blocks
    assert (block.header, block.rows) == (("A", "B"), (("x", "in1 in2 in3 in4"),))


def test_rows_and_cells_in_controls_keep_their_order() -> None:
    wrapped = "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>"
    first, second = (f"<w:tc>{paragraph(name)}</w:tc>" for name in "ab")
    cells = f"<w:tr>{wrapped.format(first)}{second}</w:tr>"
    table = f"<w:tbl>{row(paragraph('A'), paragraph('B'))}{wrapped.format(cells)}</w:tbl>"
    (block,) = read(docx(table), DOCX).blocks
    assert block.rows == (("a", "b"),)


def test_notes_stand_at_the_end_by_the_marks_the_text_has_for_them() -> None:
    def referring(text: str, name: int, kind: str = "foot") -> str:
        return f'<w:p><w:r><w:t>{text}</w:t><w:{kind}noteReference w:id="{name}"/></w:r></w:p>'

    def note(text: str, name: int, kind: str = "foot") -> str:
        return f'<w:{kind}note w:id="{name}">{paragraph(text)}{paragraph("more")}</w:{kind}note>'

    body = (
        referring("first", 7)
        + referring("second", 3)
        + referring("third", 7, "end")
        + referring("again", 7)
        + f"<w:tbl>{row(referring('cell', 4), paragraph('b'))}</w:tbl>"
        + referring("lost", 99)
    )
    footnotes = note("nobody refers to this", 1) + note("three", 3) + note("four", 4) + note("seven", 7)
    found = read(docx(body, footnotes=footnotes, endnotes=note("end", 7, "end")), DOCX)
    assert [block.text for block in found.blocks if block.kind == "paragraph"] == [
        "first[1]",
        "second[2]",
        "third[e1]",
        "again[1]",
        "lost[4]",
        "[1] seven more",
        "[2] three more",
        "[e1] end more",
        "[3] four more",
    ]
    assert [block.at.paragraph for block in found.blocks[-4:]] == [1, 2, 3, 5]


def test_what_is_nested_too_deep_is_not_called_encrypted() -> None:
    deep = "<w:sdt><w:sdtContent>" * 5000 + paragraph("x") + "</w:sdtContent></w:sdt>" * 5000
    told = answer(docx(deep), DOCX)
    assert (told["code"], told["reason"]) == ("CANNOT_CONVERT", "it is nested too deep")


VANISH = "<w:rPr><w:vanish/></w:rPr>"
SHOW = '<w:rPr><w:vanish w:val="0"/></w:rPr>'
TRULY = '<w:rPr><w:b/><w:vanish w:val="true"/></w:rPr>'
FALSELY = '<w:rPr><w:vanish w:val="false"/></w:rPr>'
HIDING_STYLES = (
    f'<w:style w:type="paragraph" w:styleId="Secret"><w:name w:val="secret"/>{VANISH}</w:style>'
    '<w:style w:type="paragraph" w:styleId="Below"><w:basedOn w:val="Secret"/></w:style>'
    f'<w:style w:type="paragraph" w:styleId="Freed"><w:basedOn w:val="Secret"/>{SHOW}</w:style>'
    f'<w:style w:type="character" w:styleId="Quiet"><w:name w:val="quiet"/>{VANISH}</w:style>'
)


def ran(text: str, properties: str = "") -> str:
    return f"<w:r>{properties}<w:t>{text}</w:t></w:r>"


def styled(name: str, *runs: str) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{name}"/></w:pPr>{"".join(runs)}</w:p>'


def by_style(name: str) -> str:
    return f'<w:rPr><w:rStyle w:val="{name}"/></w:rPr>'


@pytest.mark.parametrize(
    "hidden",
    [
        f"<w:p>{ran('secret', VANISH)}</w:p>",
        f"<w:p>{ran('secret', TRULY)}</w:p>",
        f"<w:p>{ran('secret', by_style('Quiet'))}</w:p>",
        f'<w:p><w:hyperlink r:id="r1">{ran("secret", VANISH)}</w:hyperlink></w:p>',
        f"<w:p><w:ins>{ran('secret', VANISH)}</w:ins></w:p>",
        f"<w:p><w:r>{VANISH}<w:pict><w:p>{ran('secret')}</w:p></w:pict></w:r></w:p>",
        f"<w:p><w:r><w:pict>{styled('Secret', ran('secret'))}</w:pict></w:r></w:p>",
        f"<w:tbl><w:tr><w:tc><w:p>{ran('secret', VANISH)}</w:p></w:tc></w:tr></w:tbl>",
        styled("Secret", ran("secret"), ran("secret", "<w:rPr><w:b/></w:rPr>")),
        styled("Below", ran("secret")),
    ],
)
def test_hidden_words_are_left_out_and_told(hidden: str) -> None:
    body = paragraph("before") + hidden + paragraph("behind")
    found = read(docx(body, styles=HIDING_STYLES, rels='<Relationship Id="r1" Target="http://x.y"/>'), DOCX)
    assert "secret" not in str(found.blocks)
    assert "x.y" not in str(found.blocks)
    assert [block.text for block in found.blocks if block.text] == ["before", "behind"]
    assert found.notes == ("hidden words in a paragraph, which no reader of the document sees, are left out",)


@pytest.mark.parametrize(
    "seen",
    [
        f"<w:p>{ran('seen', SHOW)}</w:p>",
        f"<w:p>{ran('seen', FALSELY)}</w:p>",
        styled("Secret", ran("seen", SHOW)),
        styled("Freed", ran("seen")),
        # Where both styles switch it, words are seen.
        styled("Secret", ran("seen", by_style("Quiet"))),
        # Headings that run into their paragraph have a hidden mark, and words that are seen.
        f"<w:p><w:pPr>{VANISH}</w:pPr>{ran('seen')}</w:p>",
        f"<w:p>{ran('seen', '<w:rPr><w:webHidden/></w:rPr>')}</w:p>",
        styled("Unknown", ran("seen")),
    ],
)
def test_words_that_are_seen_stay(seen: str) -> None:
    found = read(docx(seen, styles=HIDING_STYLES), DOCX)
    assert ([block.text for block in found.blocks], found.notes) == (["seen"], ())


def test_hidden_words_amid_others_take_their_notes_and_breaks_along() -> None:
    reference = f'<w:r>{VANISH}<w:footnoteReference w:id="2"/><w:br w:type="page"/></w:r>'
    body = f"<w:p>{ran('one ')}{ran('secret ', VANISH)}{reference}{ran('two')}</w:p><w:p>{ran('x', VANISH)}</w:p>"
    note = f'<w:footnote w:id="2"><w:p>{ran("about a secret")}</w:p></w:footnote>'
    found = read(docx(body, footnotes=note), DOCX)
    assert [(block.kind, block.text) for block in found.blocks] == [("paragraph", "one two")]
    assert found.notes == (
        "hidden words in 2 paragraphs, which no reader of the document sees, are left out",
    )


def test_hidden_words_of_a_document_that_is_too_long_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "MOST_BLOCKS", 1)
    found = read(docx(f"<w:p>{ran('x', VANISH)}</w:p>" + paragraph("a") + paragraph("b")), DOCX)
    assert found.truncated
    assert any("hidden words" in note for note in found.notes)
