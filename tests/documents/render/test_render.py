"""Texts that are meant as PDF or Word files become such files."""

import base64
import io
import shutil
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from docx import Document as WordFile
from docx.text.hyperlink import Hyperlink
from pdf_oxide import PdfDocument

from brasstag import ApprovalResponse, Done, Failed, Room, Rule, RuleEngine, Waiting
from brasstag.documents.render.program import MODULES, render
from brasstag.documents.render.render import RENDERED
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from tests.tools.asking import failure, value

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MARGIN = 60
"""Points that stay free beside the text; the template has a little more."""
TEXT = """# Third quarter

Margin *grew* in Oslo.

- nails
  - long ones

3. three
4. four

| year | tons |
|---|---|
| 2024 | 3 |

```python
print(1)
```
"""


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


def rendered(text: str, kind: str) -> bytes:
    return base64.b64decode(render({"text": text, "media_type": kind})["file"])


async def said_by(room: Room, path: str) -> list[tuple[str, Any]]:
    whole = await room.documents.whole(path)
    assert whole.content_json is not None, whole.content_problem
    return [
        (
            block["kind"],
            block.get("text") or block.get("rows") or [one["text"] for one in block.get("items", ())],
        )
        for block in whole.content_json["blocks"]
    ]


async def test_text_for_a_pdf_becomes_a_pdf_that_says_the_same(room: Room) -> None:
    written = await value(room, "write_file", path="r.pdf", content=TEXT, mime_type="application/pdf")
    assert (room.workspace / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert (written["mime_type"], written["summary"]) == ("application/pdf", "Margin grew in Oslo.")
    assert await said_by(room, "r.pdf") == [
        ("heading", "Third quarter"),
        ("paragraph", "Margin grew in Oslo."),
        ("list", ["nails", "long ones"]),
        ("list", ["three", "four"]),
        ("table", [["2024", "3"]]),
        ("code", "print(1)"),
        ("paragraph", "1"),
    ]


async def test_text_for_a_word_document_becomes_one_that_says_the_same(room: Room) -> None:
    written = await value(room, "write_file", path="r.docx", content=TEXT)
    assert written["mime_type"] == WORD
    assert await said_by(room, "r.docx") == [
        ("heading", "Third quarter"),
        ("paragraph", "Margin grew in Oslo."),
        ("list", ["nails", "long ones"]),
        ("paragraph", "3. three"),
        ("paragraph", "4. four"),
        ("table", [["2024", "3"]]),
        ("paragraph", "print(1)"),
    ]


@pytest.mark.parametrize("kind", ["application/pdf", WORD])
async def test_the_media_type_alone_says_what_a_text_becomes(room: Room, kind: str) -> None:
    written = await value(room, "write_file", path="report", content="# Hi\n\nThere.\n", mime_type=kind)
    assert written["mime_type"] == kind
    assert (await room.documents.get("report")).mime_type == kind


@pytest.mark.parametrize("path", ["r.pdf", "r.docx"])
async def test_what_a_person_approved_is_what_is_written_to_the_byte(tmp_path: Path, path: str) -> None:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="locked") as room:
        asked = await room.call("write_file", {"path": path, "content": TEXT})
        assert isinstance(asked, Waiting)
        approval = await room.approval(asked.approval_id)
        assert approval.arguments["content"] == TEXT
        (change,) = approval.preview.changes
        await room.decide(approval.id, ApprovalResponse(True), "ada")
        assert isinstance(await room.resume(asked.approval_id), Done)
        assert change.after == f"file:{sha256((room.workspace / path).read_bytes())}"


@pytest.mark.parametrize("path", ["r.pdf", "r.docx"])
async def test_markup_in_a_text_is_only_text(room: Room, path: str) -> None:
    (room.workspace / "secret.txt").write_text("walnut")
    said = '#read("secret.txt") #include "secret.txt" $ x $ #panic("no") `#eval("1+1")`'
    await value(room, "write_file", path=path, content=said)
    assert await said_by(room, path) >= [("paragraph", said.replace("`", ""))]


STYLED = """Margin **grew** in *Oslo*, ~~not~~ `#read("a")` and [a **bold** link](https://example.org/a?b=1&c=2).

[Inside](notes.md), [a script](javascript:alert(1)), [](https://example.org/b)

- one ***both***

| *year* | [tons](https://example.org/c) |
|---|---|
| 2024 | **3** |
"""
TARGETS = ["https://example.org/a?b=1&c=2", "https://example.org/b", "https://example.org/c"]


def test_a_word_document_keeps_how_words_are_set_and_where_links_lead() -> None:
    document = WordFile(io.BytesIO(rendered(STYLED, WORD)))
    cells = [cell.paragraphs[0] for row in document.tables[0].rows for cell in row.cells]
    looks: dict[str, set[str]] = {"bold": set(), "italic": set(), "strike": set(), "name": set()}
    targets = []
    for paragraph in [*document.paragraphs, *cells]:
        for piece in paragraph.iter_inner_content():
            targets += [piece.url] if isinstance(piece, Hyperlink) else []
            for run in piece.runs if isinstance(piece, Hyperlink) else [piece]:
                for look, found in looks.items():
                    found.update([run.text] if getattr(run.font, look) else [])
    assert looks == {
        "bold": {"grew", "bold", "both", "year", "tons", "3"},
        "italic": {"Oslo", "both", "year"},
        "strike": {"not"},
        "name": {'#read("a")'},
    }
    assert targets == TARGETS
    assert document.paragraphs[1].text.startswith("Inside (notes.md), [a script](javascript:alert(1)), ")


def test_a_pdf_keeps_how_words_are_set_and_where_links_lead() -> None:
    document = PdfDocument.from_bytes(rendered(STYLED, "application/pdf"))
    spans = document.extract_spans(0)

    def set_so(look: str) -> set[str]:
        return {span.text.strip() for span in spans if getattr(span, look)}

    assert {"grew", "bold", "both", "year", "tons", "3"} <= set_so("is_bold")
    assert {"Oslo", "both", "year"} <= set_so("is_italic")
    assert set_so("is_monospace") == {'#read("a")'}
    assert list(dict.fromkeys(one["action_uri"] for one in document.get_annotations(0))) == TARGETS


@pytest.mark.parametrize("path", ["r.pdf", "r.docx"])
async def test_a_line_break_in_a_paragraph_is_a_space_in_the_file(room: Room, path: str) -> None:
    await value(room, "write_file", path=path, content="one\ntwo  \nthree\n")
    (kind, said), *_ = await said_by(room, path)
    assert (kind, said.replace("\n", " | ")) == (
        "paragraph",
        "one two | three" if path == "r.docx" else "one two three",
    )


@pytest.mark.parametrize("kind", ["application/pdf", WORD])
def test_marks_of_runs_in_a_text_are_only_signs(kind: str) -> None:
    forged = "\ufdd8javascript:x\ufdd9a\ufdda \ufdd0b &#xFDD0; <p>&#64976;</p>"
    made = rendered(forged, kind)
    if kind == WORD:
        (run,) = WordFile(io.BytesIO(made)).paragraphs[0].runs
        assert (run.font.bold, run.text[:14]) == (None, "\ufffdjavascript:x\ufffd"[:14])
    else:
        assert PdfDocument.from_bytes(made).get_annotations(0) == []


async def test_a_gap_between_runs_is_not_read_as_the_one_between_columns(room: Room) -> None:
    text = (
        "# The *third* quarter with [a link](https://e.org)\n\nMargin **grew** in *Oslo*, and ***both*** and `x = 1`"
        " and [a **bold** link](https://e.org), and more words than fit on one line.\n\n- one\n- two\n- three\n- four"
    )
    await value(room, "write_file", path="r.pdf", content=text)
    assert (await said_by(room, "r.pdf"))[:2] == [
        ("heading", "The third quarter with a link"),
        (
            "paragraph",
            "Margin grew in Oslo, and both and x = 1 and a bold link, and more words than fit on one line.",
        ),
    ]


def picture(width: int = 40, height: int = 30) -> bytes:
    rows = b"".join(b"\0" + bytes((200, 80, 40)) * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    made = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


SHOWN = "![A chart](my%20charts/c.png)\n\n![gone](no.png)\n\n![outside](../o.png)\n\n![far](https://e.org/x.png)\n"


@pytest.mark.parametrize("path", ["r.pdf", "r.docx", "reports/r.docx"])
async def test_a_picture_of_the_workspace_is_shown_with_its_caption_and_any_other_is_named(
    room: Room, path: str
) -> None:
    (room.workspace / "my charts").mkdir()
    (room.workspace / "my charts" / "c.png").write_bytes(picture(2_000, 30))
    (room.workspace.parent / "o.png").write_bytes(picture())
    await value(room, "write_file", path=path, content=SHOWN)
    told = " ".join(str(said) for kind, said in await said_by(room, path) if kind == "paragraph")
    for named in ("A chart", "[gone: no.png]", "[outside: ../o.png]", "[far: https://e.org/x.png]"):
        assert named in told
    made = (room.workspace / path).read_bytes()
    if path.endswith("pdf"):
        assert len(PdfDocument.from_bytes(made).extract_images(0)) == 1
    else:
        (shown,) = WordFile(io.BytesIO(made)).inline_shapes
        assert shown.width.pt == 450


@pytest.mark.parametrize("path", ["r.pdf", "r.docx"])
async def test_a_damaged_picture_is_refused_with_what_to_do(room: Room, path: str) -> None:
    (room.workspace / "c.png").write_bytes(picture()[:45])
    refused = await failure(room, "write_file", path=path, content="![x](c.png)")
    assert refused.code is Code.CANNOT_CONVERT
    assert "leave it out" in refused.message


async def test_rules_about_a_picture_hold_for_the_file_that_shows_it_and_a_changed_one_is_asked_anew(
    tmp_path: Path,
) -> None:
    (tmp_path / "w" / "secret").mkdir(parents=True)
    deny = Rule("deny", ("*(secret/**)",), "it is secret", "secrets")
    async with Room.in_memory(tmp_path / "w", profile="locked", rules=RuleEngine([deny])) as room:
        for name in ("secret/c.png", "c.png"):
            (room.workspace / name).write_bytes(picture())
        refused = await room.call("write_file", {"path": "r.pdf", "content": "![x](secret/c.png)"})
        assert isinstance(refused, Failed)
        assert refused.code is Code.BLOCKED_BY_RULE
        asked = await room.call("write_file", {"path": "r.pdf", "content": "![x](c.png)"})
        assert isinstance(asked, Waiting)
        await room.decide(asked.approval_id, ApprovalResponse(True), "ada")
        (room.workspace / "c.png").write_bytes(picture(50))
        again = await room.resume(asked.approval_id)
        assert isinstance(again, Waiting)
        assert again.approval_id != asked.approval_id


async def test_a_file_that_is_one_already_is_written_as_it_is(room: Room) -> None:
    await value(room, "write_file", path="r.pdf", content="%PDF-1.4\n%%EOF\n")
    assert (room.workspace / "r.pdf").read_bytes() == b"%PDF-1.4\n%%EOF\n"


@pytest.mark.parametrize("path", ["r.pdf", "r.DOCX"])
async def test_bytes_that_are_only_a_text_are_not_written_under_the_name_of_such_a_file(
    room: Room, path: str
) -> None:
    text = base64.b64encode(b"# Hi").decode()
    refused = await failure(room, "write_file", path=path, content=text, encoding="base64")
    assert refused.code is Code.INVALID_ARGUMENTS
    assert "give the text with encoding utf-8" in refused.message
    assert not (room.workspace / path).exists()


async def test_signs_that_no_font_has_are_refused_rather_than_lost(room: Room) -> None:
    refused = await failure(room, "write_file", path="r.pdf", content="Linear B: \U00010000 and \U00010001")
    assert refused.code is Code.NOT_SUPPORTED
    assert "no font here has \U00010000" in refused.message
    assert not (room.workspace / "r.pdf").exists()


LONG_WORD = "a" * 300
WIDE = " | ".join(f"column{number}" for number in range(30))


@pytest.mark.parametrize(
    "text",
    [
        f"See {LONG_WORD}",
        f"```\n{LONG_WORD}\n```",
        f"| key | value |\n|---|---|\n| digest | {LONG_WORD} |",
        f"| {WIDE} |\n|{'---|' * 30}\n| {WIDE} |",
        f"{'> ' * 35}deep",
    ],
    ids=["prose", "code", "cell", "wide table", "deep quote"],
)
def test_nothing_of_a_pdf_runs_over_the_edge_of_its_page(text: str) -> None:
    document = PdfDocument.from_bytes(rendered(text, "application/pdf"))
    for number in range(document.page_count):
        spans = document.extract_spans(number, None, "column_aware")
        _, _, width, _ = document.page_media_box(number)
        assert spans
        assert max(span.bbox[0] + span.bbox[2] for span in spans) < width - MARGIN


def test_a_table_with_more_columns_than_a_page_holds_is_refused_with_what_to_do() -> None:
    with pytest.raises(ToolError) as refused:
        rendered(f"|{'a|' * 51}\n|{'-|' * 51}\n", "application/pdf")
    assert refused.value.code is Code.TOO_LARGE
    assert "write .csv or .docx" in refused.value.message


@pytest.mark.parametrize("kind", ["application/pdf", WORD])
def test_signs_that_no_file_can_hold_are_shown_as_such(kind: str) -> None:
    assert rendered("```\n\x1b[31mred\x1b[0m\n```\n\nnot \ufffe a sign", kind)


@pytest.mark.parametrize(("kind", "library"), [("application/pdf", "typst"), (WORD, "docx")])
def test_without_its_library_a_text_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, kind: str, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"brasstag.documents.render.{MODULES[kind]}", raising=False)
    with pytest.raises(ToolError) as refused:
        render({"text": "# Hi", "media_type": kind})
    assert refused.value.code is Code.NOT_SUPPORTED
    assert "install brasstag[render]" in refused.value.message


def test_a_text_that_would_not_be_there_whole_is_refused() -> None:
    with pytest.raises(ToolError) as refused:
        render({"text": "x\n\n" * 60_000, "media_type": WORD})
    assert refused.value.code is Code.TOO_LARGE


def test_what_can_be_rendered_is_the_same_in_the_room_and_in_the_confined_program() -> None:
    assert set(RENDERED.values()) == set(MODULES)


@pytest.mark.parametrize(("path", "said"), [("r.docx", "application/pdf"), ("r.pdf", "text/plain")])
async def test_a_text_is_not_made_into_another_kind_than_its_name_says(
    room: Room, path: str, said: str
) -> None:
    refused = await failure(room, "write_file", path=path, content="# Hi", mime_type=said)
    assert refused.code is Code.INVALID_ARGUMENTS
    assert f"{said} is another type" in refused.message
    assert not (room.workspace / path).exists()
