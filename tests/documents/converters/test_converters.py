"""Every kind of document becomes the blocks a reader sees in it, each with its place."""

import io
from typing import Any

import pytest

from brasstag.documents.converters import writer as papers
from brasstag.documents.converters.convert import convert
from brasstag.documents.converters.table import CONVERTERS, TAKES, converter_for
from brasstag.words.blocks import Blocks, Item, Place
from tests.documents.making import docx, paragraph, pdf, words, xlsx

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def answer(data: bytes | str, media_type: str) -> dict[str, Any]:
    raw = data.encode() if isinstance(data, str) else data
    return convert(io.BytesIO(raw), len(raw), media_type)


def read(data: bytes | str, media_type: str) -> Blocks:
    return Blocks.from_json(answer(data, media_type))


def bare(blocks: Blocks) -> list[dict[str, Any]]:
    """Return blocks without their places."""
    found = [block.as_json() for block in blocks.blocks]
    for block in found:
        for one in (block, *block.get("items", ())):
            one.pop("at", None)
    return found


def kinds(blocks: Blocks) -> list[str]:
    return [block.kind for block in blocks.blocks]


def test_every_media_type_has_a_converter_that_can_be_imported() -> None:
    for media_type in (*CONVERTERS, "text/troff", "video/mp4"):
        assert callable(converter_for(media_type))
    assert {module for module, _ in CONVERTERS.values()} == set(TAKES)


def test_plain_text_is_paragraphs_with_their_lines() -> None:
    found = read("one\n  two\n\n\nthree\n", "text/plain")
    assert [(b.text, b.at.line, b.at.end_line) for b in found.blocks] == [
        ("one\n  two", 1, 2),
        ("three", 5, 5),
    ]


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("\ufeffcafé".encode(), "café", ""),
        ("café".encode("utf-16"), "café", "utf-16, by its byte order mark"),
        ("café".encode("utf-32"), "café", "utf-32, by its byte order mark"),
        ("café – €".encode("cp1252"), "café – €", "cp1252, a guess"),
        (b"caf\xe9 \x81", "café \x81", "latin-1, a guess"),
        (b"\xff\xfea", "\ufffd", "not utf-16"),
        (b"a\r\nb\rc", "a\nb\nc", ""),
        (b"", "", ""),
    ],
)
def test_text_is_read_in_its_encoding_and_a_guess_is_told(data: bytes, text: str, note: str) -> None:
    found = read(data, "text/plain")
    assert "".join(block.text for block in found.blocks) == text
    assert note in "\n".join(found.notes)
    assert bool(note) == bool(found.notes)


def test_markdown_becomes_every_kind_of_block() -> None:
    found = read(
        "---\nkey: 1\n---\n# Title *here*\n\nA [link](http://a.b) and `code`\\\nnext\n\n> quoted\n> > twice\n\n"
        "- one\n  - two\n- three\n\n7. seven\n8. eight\n\n| a | b |\n|---|---|\n| 1 | x\\|y |\n\n```py extra\nx = 1\n```\n\n"
        "![a cat](cat.png)\n\n---\n",
        "text/markdown",
    )
    assert bare(found) == [
        {"kind": "code", "text": "key: 1", "language": "yaml"},
        {"kind": "heading", "text": "Title here", "level": 1},
        {"kind": "paragraph", "text": "A link (http://a.b) and code\nnext"},
        {"kind": "quote", "text": "quoted", "level": 1},
        {"kind": "quote", "text": "twice", "level": 2},
        {"kind": "list", "items": [{"text": "one"}, {"text": "two", "level": 1}, {"text": "three"}]},
        {"kind": "list", "items": [{"text": "seven", "number": 7}, {"text": "eight", "number": 8}]},
        {"kind": "table", "header": ["a", "b"], "rows": [["1", "x|y"]]},
        {"kind": "code", "text": "x = 1", "language": "py"},
        {"kind": "image", "text": "a cat", "target": "cat.png"},
        {"kind": "rule"},
    ]
    assert [block.at.line for block in found.blocks] == [1, 4, 6, 9, 10, 12, 16, 19, 23, 27, 29]


def test_code_in_a_list_stands_between_two_lists() -> None:
    found = read("1. a\n\n   ```\n   x\n   ```\n2. b\n", "text/markdown")
    assert [(b.kind, b.text, b.items) for b in found.blocks] == [
        ("list", "", (Item("a", 0, 1, Place(1, 1)),)),
        ("code", "x", ()),
        ("list", "", (Item("b", 0, 2, Place(6, 6)),)),
    ]


LISTED = [("one", 2, 2), ("two\nmore", 3, 5), ("in", 6, 6), ("three", 7, 7)]


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("# h\n- one\n- two\n\n  more\n  - in\n- three\n", "text/markdown"),
        (
            "<h1>h</h1>\n<ul><li>one</li>\n<li>two\n<p>\nmore</p>\n<ul><li>in</li></ul></li>\n<li>three</ul>",
            "text/html",
        ),
    ],
)
def test_every_item_of_a_list_has_its_own_lines(text: str, media_type: str) -> None:
    _, block = read(text, media_type).blocks
    assert [(item.text, item.at.line, item.at.end_line) for item in block.items] == LISTED
    assert (block.at.line, block.at.end_line) == (2, 7)


def test_deep_nesting_is_left_out_and_said() -> None:
    found = read("> " * 5000 + "deep\n\nafter", "text/markdown")
    assert found.truncated
    assert "40 levels" in found.notes[0]
    assert found.blocks[-1].text == "after"


def test_markdown_too_long_to_parse_is_read_as_text() -> None:
    found = read("# a\n\n" + "word " * 900_000, "text/markdown")
    assert kinds(found) == ["paragraph", "paragraph"]
    assert "plain text" in found.notes[0]


def test_html_is_what_a_reader_sees() -> None:
    found = read(
        "<html><head><title>The page</title><style>p {}</style><script>var a = '<p>no</p>'</script></head><body>\n"
        "<h2>Big\n <b>words</b></h2><p>A <a href='http://x.y'>link</a>,&nbsp;then<br>a line</p>\n"
        "<blockquote>said</blockquote>"
        "<ol start=3><li>three<ul><li>inner</ul><li>four</ol>"
        "<table><tr><th>a<th colspan=2>b</tr><tr><td>1<td>2<td>3</table>"
        "<pre><code class='language-js'>let  a\n  = 1</code></pre><img src=a.png alt='a cat'><hr><p>never closed",
        "text/html",
    )
    assert bare(found) == [
        {"kind": "paragraph", "text": "The page"},
        {"kind": "heading", "text": "Big words", "level": 2},
        {"kind": "paragraph", "text": "A link (http://x.y), then\na line"},
        {"kind": "quote", "text": "said", "level": 1},
        {
            "kind": "list",
            "items": [
                {"text": "three", "number": 3},
                {"text": "inner", "level": 1},
                {"text": "four", "number": 4},
            ],
        },
        {"kind": "table", "header": ["a", "b", ""], "rows": [["1", "2", "3"]]},
        {"kind": "code", "text": "let  a\n  = 1", "language": "js"},
        {"kind": "image", "text": "a cat", "target": "a.png"},
        {"kind": "rule"},
        {"kind": "paragraph", "text": "never closed"},
    ]
    assert found.blocks[1].at.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 100_000 + "in",
        "<table><tr><td>" * 3000 + "in",
        "<ul><li>" * 20_000 + "in",
        "</p>" * 9000 + "in",
    ],
)
def test_html_nested_without_end_is_still_read(text: str) -> None:
    found = read(text, "text/html")
    assert "in" in str(bare(found))


@pytest.mark.parametrize(
    ("text", "media_type", "header", "rows"),
    [
        ("a,b\n1,2\n", "text/csv", ("a", "b"), (("1", "2"),)),
        ('a;b\n"x;\n""y""";2\n', "text/csv", ("a", "b"), (('x; "y"', "2"),)),
        ("a\tb\n1\t2", "text/tab-separated-values", ("a", "b"), (("1", "2"),)),
        ("1,2\n3,4\n", "text/csv", (), (("1", "2"), ("3", "4"))),
        ("name\nAda\n", "text/csv", ("name",), (("Ada",),)),
        ("a,b\n1\n1,2,3\n", "text/csv", ("a", "b", ""), (("1", "", ""), ("1", "2", "3"))),
        ("a,a\n1,2\n", "text/csv", ("a", "a"), (("1", "2"),)),
        ("a,a\nx,y\n", "text/csv", (), (("a", "a"), ("x", "y"))),
        ("names\nDoe, Jane\nRoe, Jo\n", "text/csv", ("names", ""), (("Doe", "Jane"), ("Roe", "Jo"))),
        ("\ufeffa,b\r\n1,2\r\n", "text/csv", ("a", "b"), (("1", "2"),)),
    ],
)
def test_separated_values_are_a_table(text: str, media_type: str, header: Any, rows: Any) -> None:
    (block,) = read(text, media_type).blocks
    assert (block.kind, block.header, block.rows) == ("table", header, rows)
    assert (block.at.line, block.at.row) == (1, 1)


@pytest.mark.parametrize(
    ("above", "said", "row"),
    [
        ("Report of May 2025\n\n", ["Report of May 2025"], 3),
        ("Report of May 2025\n", ["Report of May 2025"], 2),
        ("# made by x\n# on Monday, early\n", ["# made by x\n# on Monday, early"], 3),
        ("\n\n", [], 3),
    ],
)
def test_what_stands_above_a_table_is_no_part_of_it(above: str, said: list[str], row: int) -> None:
    found = read(f"{above}id,name,price\n1,Ada,2\n2,Jo,3\n", "text/csv")
    *texts, table = found.blocks
    assert [block.text for block in texts] == said
    assert (table.header, len(table.rows)) == (("id", "name", "price"), 2)
    assert (table.at.line, table.at.row) == (row, row)


@pytest.mark.parametrize(
    ("cell", "notes"),
    [
        (
            '"never closed',
            ("a quote is opened and never closed, so that the last 2 lines stand in one cell",),
        ),
        ('5" pipe', ()),
        ('"two\nlines"', ()),
    ],
)
def test_a_quote_that_swallows_the_rest_is_told(cell: str, notes: tuple[str, ...]) -> None:
    assert read(f"id,name\n1,{cell}\n2,Jo\n", "text/csv").notes == notes


def test_json_is_a_table_only_where_it_is_one() -> None:
    flat = read('[{"a": 1, "b": "x"}, {"b": null, "c": true}]', "application/json")
    assert bare(flat) == [
        {"kind": "table", "header": ["a", "b", "c"], "rows": [["1", "x", ""], ["", "", "true"]]}
    ]
    deep = read('{"a":[1,{"b":"é"}]}', "application/json").blocks[0]
    assert (deep.kind, deep.language) == ("code", "json")
    assert '"b": "é"' in deep.text
    lines = read('{"a": 1}\n{"a": 2}\n', "application/jsonl")
    assert bare(lines) == [{"kind": "table", "header": ["a"], "rows": [["1"], ["2"]]}]


@pytest.mark.parametrize("text", ['{"a": ', "[" * 200_000, '{"a": ' + "9" * 5000 + "}", "nonsense"])
def test_what_is_no_json_stands_as_it_is(text: str) -> None:
    found = read(text, "application/json")
    assert [(b.kind, b.text) for b in found.blocks] == [("code", text)]
    assert "cannot be read as JSON" in found.notes[0]


def test_json_with_half_a_character_can_be_written_down() -> None:
    found = read('[{"a": "\\ud800"}]', "application/json")
    assert found.blocks[0].rows == (("\ufffd",),)


def test_source_code_is_one_block_in_its_language() -> None:
    (block,) = read("a = 1\n\n\tb\n", "text/x-python").blocks
    assert (block.text, block.language, block.at.end_line) == ("a = 1\n\n\tb", "python", 3)


def test_a_picture_is_its_type_and_size() -> None:
    data = (
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
        + (640).to_bytes(4, "big")
        + (480).to_bytes(4, "big")
        + b"\x08\x02\0\0\0"
        + b"crc4"
    )
    (block,) = read(data, "image/png").blocks
    assert (block.kind, block.width, block.height, block.size_bytes) == ("image", 640, 480, len(data))
    assert answer(data[:20], "image/png")["code"] == "CANNOT_CONVERT"


def test_anything_else_is_a_reference() -> None:
    assert bare(read(b"\0" * 9, "application/x-thing")) == [
        {"kind": "reference", "media_type": "application/x-thing", "size_bytes": 9}
    ]


def test_a_workbook_is_a_heading_and_a_table_a_sheet() -> None:
    found = read(xlsx([["region", "units"], ["north", 3], ["south", 2.5]]), XLSX)
    assert bare(found) == [
        {"kind": "heading", "text": "Sales", "level": 2},
        {"kind": "table", "header": ["region", "units"], "rows": [["north", "3"], ["south", "2.5"]]},
    ]
    assert (found.blocks[1].at.sheet, found.blocks[1].at.row) == ("Sales", 1)


def test_formulas_without_results_are_told() -> None:
    book = '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><f>A2*2</f>{}</c></row>'
    for result, is_told in (("", True), ("<v></v>", True), ("<v>2</v>", False)):
        found = read(xlsx([["a", "b"]], book.format(result)), XLSX)
        assert any("results were not saved" in note for note in found.notes) == is_told


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (rb"Hello\par\par World\line again\par", ["Hello", "World\nagain"]),
        (rb"{\fonttbl{\f0 Arial;}}{\colortbl;\red0;}{\info{\title No}}{\*\thing no}\f0\fs24 Yes", ["Yes"]),
        (rb"caf\'e9 \u8364? \uc2\u8364\'80\'80 \{x\}", ["caf\u00e9 \u20ac \u20ac {x}"]),
        (rb"{\b bold} and {\v hidden\b} {\deleted gone}seen", ["bold and  seen"]),
        (rb"one\v two\v0  three {\v four\plain five} six\v1 seven", ["one three five six"]),
        (rb"\ansicpg1251 \'ef", ["\u043f"]),
        (rb"\ansicpg99999 \'e9", ["\u00e9"]),
        (rb"never closed {\b and {\i so on", ["never closed and so on"]),
        (rb"}}}closed before", ["closed before"]),
        (rb"\u-10179?\u-8704? and half \u-10179?.", ["\U0001f600 and half \ufffd."]),
        (rb"\ansicpg932 \'83\'65 \uc2\u12486\'83\'65.", ["\u30c6 \u30c6."]),
        (b"{" * 100_000 + b"deep", ["deep"]),
    ],
)
def test_rtf_is_its_paragraphs(said: bytes, texts: list[str]) -> None:
    found = read(rb"{\rtf1\ansi " + said + b"}", "application/rtf")
    assert [block.text for block in found.blocks] == texts


def test_a_notebook_is_code_and_a_makefile_too() -> None:
    (notebook,) = read('{"cells": [{"source": ["x"]}]}', "application/x-ipynb+json").blocks
    assert (notebook.kind, notebook.language) == ("code", "json")
    (makefile,) = read("all:\n\techo\n", "text/x-makefile").blocks
    assert (makefile.text, makefile.language) == ("all:\n\techo", "makefile")


def test_a_table_that_begins_further_down_says_in_which_row() -> None:
    late = '<row r="5"><c r="C5" t="inlineStr"><is><t>a</t></is></c></row><row r="7"><c r="C7"><v>1</v></c></row>'
    block = read(xlsx([], late), XLSX).blocks[1]
    assert (block.header, block.rows, block.at.row) == (("a",), (("",), ("1",)), 5)


def test_a_workbook_with_too_many_cells_gives_its_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "MOST_CELLS", 100)
    found = read(xlsx([["a", "b"], *([[1, 2]] * 500)]), XLSX)
    assert found.truncated
    assert len(found.blocks[1].rows) == 50
    assert "first 50 rows" in found.notes[0]


STYLES = (
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Own"><w:basedOn w:val="H1"/><w:name w:val="Mine"/></w:style>'
    '<w:style w:styleId="Q"><w:name w:val="Quote"/></w:style><w:style w:styleId="C"><w:name w:val="Code"/></w:style>'
    '<w:style w:styleId="Loop"><w:name w:val="loop"/><w:basedOn w:val="Loop"/></w:style>'
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
)


def numbered(text: str, level: int) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>')


def test_a_word_document_becomes_blocks() -> None:
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a", "b"))
    more = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("1", "2"))
    body = (
        paragraph("Title", '<w:pStyle w:val="Own"/>')
        + '<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id="r9"><w:r><w:t>this</w:t></w:r></w:hyperlink>'
        + "<w:del><w:r><w:t>gone</w:t></w:r></w:del><w:ins><w:r><w:t> new</w:t></w:r></w:ins></w:p>"
        + numbered("one", 0) + numbered("in", 1) + numbered("two", 0)
        + paragraph("said", '<w:pStyle w:val="Q"/>')
        + paragraph("x = 1", '<w:pStyle w:val="C"/>') + paragraph("y", '<w:pStyle w:val="C"/>')
        + f"<w:tbl><w:tr>{cells}</w:tr><w:tr>{more}</w:tr></w:tbl>"
        + '<w:p><w:r><w:br w:type="page"/><w:lastRenderedPageBreak/></w:r></w:p>'
        + paragraph("loops", '<w:pStyle w:val="Loop"/>')
        + "<w:sdt><w:sdtContent>" + paragraph("boxed") + "</w:sdtContent></w:sdt>"
    )  # fmt: skip
    rels = '<Relationship Id="r9" Target="http://x.y"/>'
    found = read(docx(body, styles=STYLES, numbering=NUMBERING, rels=rels), DOCX)
    assert bare(found) == [
        {"kind": "heading", "text": "Title", "level": 1},
        {"kind": "paragraph", "text": "See this (http://x.y) new"},
        {
            "kind": "list",
            "items": [{"text": "one", "number": 1}, {"text": "in", "level": 1}, {"text": "two", "number": 2}],
        },
        {"kind": "quote", "text": "said", "level": 1},
        {"kind": "code", "text": "x = 1\ny"},
        {"kind": "table", "header": ["a", "b"], "rows": [["1", "2"]]},
        {"kind": "page_break"},
        {"kind": "paragraph", "text": "loops"},
        {"kind": "paragraph", "text": "boxed"},
    ]
    assert (found.blocks[0].at.page, found.blocks[-1].at.page) == (1, 2)


def ruled(left: float, top: float, wide: float, tall: float, texts: list[list[str]]) -> str:
    """Return a table drawn cell by cell."""
    drawn = ""
    for down, row in enumerate(texts):
        for across, text in enumerate(row):
            x, y = left + across * wide, top - (down + 1) * tall
            drawn += f"{x} {y} {wide} {tall} re S\n" + words(text, x + 3, y + 6)
    return drawn


def test_a_pdf_becomes_headings_paragraphs_lists_and_tables() -> None:
    first = (
        words("The report", 50, 780, 22, "F2")
        + words("It begins with a line that goes on and is con-", 50, 740)
        + words("tinued here.", 50, 726)
        + words("Another paragraph follows it.", 50, 698)
        + words("Next it goes on for one more line.", 50, 684)
        + words("Points made", 50, 650, 11, "F2")
        + words("- first of all", 50, 636) + words("- second of all", 50, 622)
        + ruled(50, 580, 100, 20, [["Region", "Sales"], ["north", "12"], ["south", "7"]])
    )  # fmt: skip
    found = read(pdf(first, words("On the second page.", 50, 780)), "application/pdf")
    assert bare(found) == [
        {"kind": "heading", "text": "The report", "level": 1},
        {"kind": "paragraph", "text": "It begins with a line that goes on and is continued here."},
        {"kind": "paragraph", "text": "Another paragraph follows it. Next it goes on for one more line."},
        {"kind": "heading", "text": "Points made", "level": 2},
        {"kind": "list", "items": [{"text": "first of all"}, {"text": "second of all"}]},
        {"kind": "table", "header": ["Region", "Sales"], "rows": [["north", "12"], ["south", "7"]]},
        {"kind": "page_break"},
        {"kind": "paragraph", "text": "On the second page."},
    ]
    assert [block.at.page for block in found.blocks] == [1] * 6 + [2] * 2


def test_a_pdf_without_its_end_says_so() -> None:
    found = read(pdf(words("Some words.", 50, 700), end=b""), "application/pdf")
    assert found.truncated
    assert "end is missing" in found.notes[0]


def test_pages_without_text_are_told() -> None:
    found = read(pdf(words("Some words.", 50, 700), "0 0 9 9 re f"), "application/pdf")
    assert "no text was found on pages 2" in found.notes[0]
    told = answer(pdf("0 0 9 9 re f"), "application/pdf")
    assert (told["code"], "scanned" in told["reason"]) == ("CANNOT_CONVERT", True)


def test_blocks_end_where_the_paper_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "MOST_BLOCKS", 3)
    found = read("a\n\n" * 9, "text/plain")
    assert (len(found.blocks), found.truncated) == (3, True)
    monkeypatch.setattr(papers, "MOST_CHARACTERS", 10)
    found = read("abcdefghijklmnop", "text/plain")
    assert (found.blocks[0].text, found.truncated) == ("abcdefghij", True)


def test_a_text_longer_than_what_is_read_ends_at_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TAKES, "text", (8, False))  # type: ignore[misc]
    found = read("one é\ntwo é\n", "text/plain")
    assert ([block.text for block in found.blocks], found.truncated) == (["one é"], True)
    monkeypatch.setitem(TAKES, "pdf.pdf", (8, True))  # type: ignore[misc]
    assert answer(b"%PDF-1.4 and more", "application/pdf")["code"] == "TOO_LARGE"
