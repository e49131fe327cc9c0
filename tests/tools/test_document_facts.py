"""What is told of documents that are no prose: tables, code, pictures, links, and what is no text at all."""

from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.words.errors import Code
from tests.documents.making import docx, paragraph
from tests.documents.reading.test_carry import PNG
from tests.documents.tongues import JAPANESE, RUSSIAN
from tests.documents.workbooks import workbook
from tests.tools.asking import failure, value


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


async def listed(room: Room) -> dict[str, dict[str, Any]]:
    return {one["path"]: one for one in (await value(room, "list_documents"))["documents"]}


async def test_summaries_say_what_a_document_is_where_it_has_no_sentences(room: Room) -> None:
    (room.workspace / "sales.csv").write_text("month,revenue\n" + "July,7\n" * 1200)
    (room.workspace / "chart.png").write_bytes(PNG)
    (room.workspace / "drawing.svg").write_text('<?xml version="1.0"?>\n<svg width="4" height="3"/>')
    (room.workspace / "sheep.py").write_text('"""Counts sheep."""\n')
    (room.workspace / "packed.bin").write_bytes(b"\0\1\2")
    # What a list finds out takes a while the first time: the tokenizer has to be read.
    await value(room, "load_to_context", path="sheep.py")
    found = await listed(room)
    assert {path: one["auto_summary"] for path, one in found.items()} == {
        "chart.png": "A picture of 2 x 3 pixels (image/png).",
        "drawing.svg": "A drawing of 4 x 3 (SVG).",
        "packed.bin": None,
        "sales.csv": "A table of 1,200 rows: month, revenue.",
        "sheep.py": "Python, 1 line: Counts sheep.",
    }
    assert [path for path, one in found.items() if one["token_count"] is None] == ["chart.png", "packed.bin"]


async def test_a_workbook_is_summed_up_by_its_sheets(room: Room) -> None:
    data = workbook({"Q3": [["month", "revenue"], ["July", 7]], "Notes": []})
    (room.workspace / "sales.xlsx").write_bytes(data)
    document = await room.documents.get("sales.xlsx")
    assert (
        document.auto_summary
        == "A workbook of 2 sheets: Q3 (a table of 1 row: month, revenue), Notes (empty)."
    )
    assert document.token_count


async def test_what_is_no_text_is_never_shown_as_one(room: Room) -> None:
    (room.workspace / "broken.docx").write_bytes(b"PK\x03\x04garbage")
    loaded = await value(room, "load_to_context", path="broken.docx")
    assert (loaded["mime_type"], loaded["form"]) == ("application/zip", "markdown")
    assert loaded["content"].strip() == "(application/zip, 11 bytes)"
    document = await room.documents.get("broken.docx")
    assert (document.auto_summary, document.token_count, document.indexed) == (None, None, "it is no text")
    assert (await value(room, "search_documents", query="garbage"))["hits"] == []


async def test_a_picture_is_loaded_without_stray_signs(room: Room) -> None:
    (room.workspace / "chart.png").write_bytes(PNG)
    loaded = await value(room, "load_to_context", path="chart.png")
    assert loaded["content"].strip() == f"(image/png, 2 x 3 pixels, {len(PNG)} bytes)"


async def test_a_guessed_encoding_is_told(room: Room) -> None:
    (room.workspace / "old.txt").write_bytes("Käse aus Köln".encode("cp1252"))
    loaded = await value(room, "load_to_context", path="old.txt")
    assert (loaded["content"], loaded["form"]) == ("Käse aus Köln", "text")
    assert loaded["notes"] == ["encoding: cp1252, a guess, as it is not UTF-8"]


async def test_an_old_encoding_is_told_and_its_words_are_found(room: Room) -> None:
    (room.workspace / "old.txt").write_bytes(RUSSIAN.encode("koi8_r"))
    (room.workspace / "old.html").write_bytes(f"<p>{JAPANESE}</p>".encode("shift_jis"))
    (hit,) = (await value(room, "search_documents", query="склад"))["hits"]
    assert hit["path"] == "old.txt"
    (page,) = (await value(room, "search_documents", query="倉庫"))["hits"]
    assert page["path"] == "old.html"
    loaded = await value(room, "load_to_context", path="old.txt")
    assert (loaded["content"], loaded["notes"]) == (
        RUSSIAN,
        ["encoding: koi8_r, a guess, as it is not UTF-8"],
    )
    pages = await value(room, "load_to_context", path="old.html")
    assert pages["notes"] == ["encoding: cp932, a guess, as it is not UTF-8"]


async def test_where_a_link_leads_is_not_taken_for_what_it_holds(room: Room) -> None:
    (room.workspace / "cp.csv").write_text("month,revenue\nJuly,7\n")
    (room.workspace / "link.csv").symlink_to("cp.csv")
    version = await room.documents.version("link.csv")
    (block,) = (await room.documents.blocks(version)).blocks
    assert (block.kind, block.text, block.media_type) == ("reference", "a link to cp.csv", "inode/symlink")
    document = await room.documents.get("link.csv")
    assert (document.auto_summary, document.token_count) == (None, None)
    assert document.indexed == "it is a link; what it leads to is in the index where that lies"
    await room.documents.scan(rebuild=True)
    done = await room.documents.index()
    assert (done.failed, (await room.documents.get("link.csv")).indexed) == (0, document.indexed)


async def test_a_hit_in_a_workbook_tells_its_row(room: Room) -> None:
    rows = [["month", "town"], *([f"m{n}", f"town{n}"] for n in range(50))]
    (room.workspace / "towns.xlsx").write_bytes(workbook({"One": [["x"], ["y"]], "Towns": rows}))
    (hit,) = (await value(room, "search_documents", query="town31"))["hits"]
    assert (hit["sheet"], hit["row"], hit["paragraph"]) == ("Towns", 33, None)
    (named,) = (await value(room, "search_documents", query="month"))["hits"]
    assert named["row"] == 1


async def test_a_hit_in_a_word_document_tells_its_paragraph(room: Room) -> None:
    (room.workspace / "letter.docx").write_bytes(
        docx(paragraph("Dear Ada") + "<w:p/>" + paragraph("Goodbye"))
    )
    (hit,) = (await value(room, "search_documents", query="goodbye"))["hits"]
    assert (hit["block"], hit["paragraph"], hit["row"], hit["line"]) == (1, 3, None, None)


async def test_a_hit_in_a_list_tells_the_place_of_its_item(room: Room) -> None:
    numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    items = "".join(paragraph(word, numbered) for word in ("nails", "screws", "hinges"))
    (room.workspace / "list.docx").write_bytes(docx(paragraph("To buy") + items))
    (room.workspace / "list.html").write_text(
        "<p>To buy</p><ul>\n<li>tar\n<li>nuts,\nmany bolts\n<li>oil</ul>"
    )
    (hinges,) = (await value(room, "search_documents", query="hinges"))["hits"]
    assert (hinges["block"], hinges["paragraph"]) == (1, 4)
    (bolts,) = (await value(room, "search_documents", query="bolts"))["hits"]
    assert (bolts["block"], bolts["line"]) == (1, 3)


async def test_a_name_of_a_table_does_not_make_bytes_one(room: Room) -> None:
    (room.workspace / "fake.csv").write_bytes(b"\x01\x02\x03,\x04\x05\n" * 9)
    failed = await failure(room, "ask_data", documents=["fake.csv"], sql="SELECT 1")
    assert "it is no text, whatever its name says" in failed.message
    assert failed.code is Code.NOT_A_TABLE
