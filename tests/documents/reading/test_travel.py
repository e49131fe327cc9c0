"""Documents that have to be converted travel like texts do: whoever gets them reads them as Markdown."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.documents.reading.carry import LARGEST_CONVERTED, Receiver, carry
from brasstag.documents.study.tokens import count_tokens
from brasstag.sandbox.workspace.draft import Draft
from brasstag.words.canonical import sha256
from brasstag.words.documents import Carried
from tests.documents.making import docx, paragraph, pdf, words
from tests.documents.workbooks import workbook
from tests.tools.asking import value

PLENTY = 20_000
HEADING = "<w:outlineLvl w:val='0'/>"


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


def carried(
    room: Room, *paths: str, budget: int = PLENTY, loads: bool = True, seconds: float = 60.0
) -> Iterator[Carried]:
    runtime = room._runtime
    assert runtime.library is not None
    draft = Draft(runtime.workspace, writable=False)
    study = runtime.library.study
    yield from carry(draft, paths, Receiver(budget, loads=loads), room.store.blobs.put, study, seconds)


def asked_for(how: str) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(how[how.index("{") : how.index("}") + 1])
    return given


async def test_documents_of_every_kind_are_read_as_markdown(room: Room) -> None:
    contents = {
        "report.pdf": pdf(words("Revenue rose in Oslo.", 50, 780)),
        "letter.docx": docx(paragraph("Dear Ada", HEADING) + paragraph("The shop opens.")),
        "sales.xlsx": workbook({"Q3": [["month", "revenue"], ["July", 7]]}),
        "page.html": b"<html><body><h1>News</h1><p>It <b>rains</b>.</p></body></html>",
    }
    for name, data in contents.items():
        (room.workspace / name).write_bytes(data)
    found = {one.path: one for one in carried(room, *contents)}
    assert "Revenue rose in Oslo." in found["report.pdf"].text
    assert found["letter.docx"].text == "# Dear Ada\n\nThe shop opens.\n"
    assert "| July | 7 |" in found["sales.xlsx"].text
    assert found["page.html"].text == "# News\n\nIt rains.\n"
    for name, one in found.items():
        assert (one.complete, one.note, one.digest) == (True, "as Markdown", sha256(contents[name])), name
        assert (one.tokens, one.tokenizer) == (count_tokens(one.text).tokens, "o200k_base"), name


async def test_the_rest_of_a_long_document_is_loaded_from_where_its_extract_ended(room: Room) -> None:
    body = "".join(paragraph(f"Chapter {n}", HEADING) + paragraph(f"Sentence {n} of it.") for n in range(400))
    (room.workspace / "book.docx").write_bytes(docx(body))
    (one,) = carried(room, "book.docx", budget=400)
    assert not one.complete
    assert one.text.startswith("A document of 800 blocks, ")
    assert "block 2: # Chapter 1" in one.text
    assert "It begins:\n# Chapter 0\n\nSentence 0 of it." in one.text
    asked = asked_for(one.how)
    assert one.how.endswith("; it has 800 blocks")
    loaded = await value(room, "load_to_context", **asked)
    assert loaded["first"] == asked["start_block"]
    assert loaded["tokens"] <= 400
    last = one.text.rstrip().rpartition("\n")[2]
    number = int(last.split()[-1] if last.startswith("#") else last.split()[1])
    following = f"Sentence {number} of it." if last.startswith("#") else f"# Chapter {number + 1}"
    assert loaded["content"].lstrip().startswith(following)


async def test_texts_in_old_encodings_travel_and_tell_of_the_guess(room: Room) -> None:
    (room.workspace / "old.csv").write_bytes("Stadt;Käse\nKöln;5 €\n".encode("cp1252"))
    (room.workspace / "wide.txt").write_bytes("Grüße\naus Köln\n".encode("utf-16"))
    old, wide = carried(room, "old.csv", "wide.txt")
    assert (old.text, old.media_type) == ("Stadt;Käse\nKöln;5 €\n", "text/csv")
    assert old.note == "encoding: cp1252, a guess, as it is not UTF-8"
    assert (wide.text, wide.note) == ("Grüße\naus Köln\n", "encoding: utf-16, by its byte order mark")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
async def test_a_reader_that_loads_is_told_how_to_whatever_a_text_is_written_in(
    room: Room, encoding: str
) -> None:
    (room.workspace / "long.txt").write_bytes(
        "".join(f"Zeile {n} für Köln\n" for n in range(9000)).encode(encoding)
    )
    (one,) = carried(room, "long.txt", budget=500)
    assert one.text.startswith("A text of 9000 lines.\nIt begins:\nZeile 0 für Köln\n")
    shown = one.text.count("\n") - 1
    assert asked_for(one.how) == {"path": "long.txt", "start_line": shown + 1, "max_tokens": 500}
    loaded = await value(room, "load_to_context", **asked_for(one.how))
    assert loaded["content"].startswith(f"Zeile {shown} für Köln\n")


async def test_a_reader_that_cannot_load_is_not_told_to(room: Room) -> None:
    (room.workspace / "book.docx").write_bytes(docx(paragraph("A sentence of it.") * 400))
    (room.workspace / "wide.txt").write_bytes(("word\n" * 9000).encode("utf-16"))
    book, wide = carried(room, "book.docx", "wide.txt", budget=300, loads=False)
    assert book.how.startswith("only load_to_context reads the rest, and your role does not have this tool")
    assert wide.how.startswith("it is utf-16, which read_file cannot read")


async def test_what_cannot_be_converted_says_its_code_and_why(room: Room) -> None:
    (room.workspace / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    (room.workspace / "plain.txt").write_text("beside it")
    broken, plain = carried(room, "broken.pdf", "plain.txt")
    assert (broken.complete, broken.tokens) == (False, 0)
    assert broken.text.startswith("It could not be converted: CANNOT_CONVERT: ")
    assert broken.how == "use a tool that reads application/pdf"
    assert plain.complete


async def test_what_there_is_no_time_for_is_said_to_wait(room: Room) -> None:
    data = pdf(words("Slowly.", 50, 780))
    (room.workspace / "slow.pdf").write_bytes(data)
    (room.workspace / "page.html").write_text("<p>As it is.</p>")
    slow, page = carried(room, "slow.pdf", "page.html", seconds=0.0)
    assert slow.text == "It is not converted yet."
    assert asked_for(slow.how) == {"path": "slow.pdf", "max_tokens": 10_000}
    # A page is a text, too, though an ugly one.
    assert (page.text, page.complete) == ("<p>As it is.</p>", True)
    assert "Slowly." in (await value(room, "load_to_context", **asked_for(slow.how)))["content"]
    (known,) = carried(room, "slow.pdf", seconds=0.0)
    assert "Slowly." in known.text


async def test_what_is_too_large_to_convert_on_the_way_is_said_to_wait(room: Room) -> None:
    with (room.workspace / "huge.pdf").open("wb") as file:
        file.write(b"%PDF-1.7\n")
        file.truncate(LARGEST_CONVERTED + 1)
    (one,) = carried(room, "huge.pdf")
    assert one.text == "It has 64,000,001 bytes and is not converted yet."
    assert not room.store.blobs.has(one.digest)
