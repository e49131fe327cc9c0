"""The media type that the caller of write_file names, and what it becomes."""

import base64
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.words.errors import Code
from tests.tools.asking import failure, value

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0\0\0\0\0").decode()


@pytest.fixture
async def room(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    async with Room.in_memory(tmp_path / "w", profile="trusted") as opened:
        yield opened


async def kind(room: Room, path: str) -> str:
    return (await room.documents.get(path)).mime_type


async def test_a_media_type_that_is_named_is_kept_through_scans_edits_moves_and_a_rebuilt_index(
    room: Room,
) -> None:
    said = {"content": "a;b\n1;2\n", "mime_type": "text/x-survey"}
    assert (await value(room, "write_file", path="a.txt", **said))["mime_type"] == "text/x-survey"
    assert await kind(room, "a.txt") == "text/x-survey"
    await value(room, "edit_file", path="a.txt", search_text="1", replace_text="7")
    assert await kind(room, "a.txt") == "text/x-survey"
    (room.workspace / "a.txt").write_text("a;b\n8;9\n")
    assert await kind(room, "a.txt") == "text/x-survey"
    await value(room, "move_file", **{"from": "a.txt", "to": "b.md"})
    assert await kind(room, "b.md") == "text/x-survey"
    await room.documents.scan(rebuild=True)
    assert await kind(room, "b.md") == "text/x-survey"
    (room.workspace / "b.md").rename(room.workspace / "c.md")
    await room.documents.scan()
    assert await kind(room, "c.md") == "text/x-survey"
    listed = await value(room, "list_documents", mime_type="text/x-survey")
    assert [one["path"] for one in listed["documents"]] == ["c.md"]


async def test_a_media_type_that_is_named_goes_when_the_content_becomes_something_else(room: Room) -> None:
    await value(room, "write_file", path="a.txt", content="one", mime_type="text/x-survey")
    await value(room, "write_file", path="a.txt", content=PNG, encoding="base64")
    assert await kind(room, "a.txt") == "image/png"
    await value(room, "write_file", path="a.txt", content="two")
    assert await kind(room, "a.txt") == "text/plain"


async def test_a_type_that_no_caller_named_follows_the_name_of_the_file(room: Room) -> None:
    await value(room, "write_file", path="a.txt", content="one")
    await value(room, "move_file", **{"from": "a.txt", "to": "a.md"})
    assert await kind(room, "a.md") == "text/markdown"


async def test_a_text_of_a_type_that_is_unknown_here_is_still_read_as_text(room: Room) -> None:
    await value(
        room, "write_file", path="a.js", content="// Adds.\nx = 1\n", mime_type="application/javascript"
    )
    document = await room.documents.whole("a.js")
    assert document.mime_type == "application/javascript"
    assert document.token_count == 8
    assert document.content_json is not None
    assert document.content_json["blocks"][0]["language"] == "javascript"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"content": "x", "mime_type": "a picture"}, "is not a media type"),
        ({"content": "not json", "mime_type": "application/json"}, "the content is not application/json"),
        ({"content": "x", "mime_type": "image/png"}, "the content is text/plain, not image/png"),
        ({"content": PNG, "encoding": "base64", "mime_type": "text/plain"}, "the content is image/png"),
        (
            {"content": "AAEC/w==", "encoding": "base64", "mime_type": "application/pdf"},
            "not application/pdf",
        ),
    ],
)
async def test_a_media_type_that_is_none_or_that_the_bytes_are_not_is_refused(
    room: Room, said: dict[str, str], problem: str
) -> None:
    refused = await failure(room, "write_file", path="a.txt", **said)
    assert refused.code is Code.INVALID_ARGUMENTS
    assert problem in refused.message
    assert not (room.workspace / "a.txt").exists()


async def test_a_type_that_contradicts_the_name_of_a_rendered_file_is_refused(room: Room) -> None:
    refused = await failure(room, "write_file", path="a.pdf", content="# Hi", mime_type="text/markdown")
    assert refused.code is Code.INVALID_ARGUMENTS
    assert "leave mime_type out" in refused.message
    assert not (room.workspace / "a.pdf").exists()


@pytest.mark.parametrize(
    ("path", "content", "encoding", "summary"),
    [
        ("a.md", "# T\n\nMargin grew in Oslo.\n", "utf-8", "Margin grew in Oslo."),
        ("a.csv", "year,tons\n2024,3\n2025,4\n", "utf-8", "A table of 2 rows: year, tons."),
        ("a.html", "<p>Margin <b>grew</b> &amp; fell.</p>", "utf-8", "Margin grew & fell."),
        ("a.png", PNG, "base64", "A picture of 2 x 3 pixels (image/png)."),
        ("a.bin", "AAEC/w==", "base64", "4 bytes of application/octet-stream."),
        ("a.txt", "", "utf-8", ""),
    ],
)
async def test_the_summary_says_what_the_content_says(
    room: Room, path: str, content: str, encoding: str, summary: str
) -> None:
    written = await value(room, "write_file", path=path, content=content, encoding=encoding)
    assert written["summary"] == summary


async def test_why_a_file_was_created_stands_in_its_history(room: Room) -> None:
    await value(room, "write_file", path="a.md", content="x", why_created="For  Ada\n\0and Bob.")
    await value(room, "write_file", path="a.md", content="y")
    first, second = await room.documents.versions("a.md")
    assert (first.why, second.why) == ("write_file: For Ada and Bob.", "write_file")
