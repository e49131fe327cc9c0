"""Documents that an older Brasstag read less well: what a newer one reads of them reaches the index and the facts."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from brasstag import Code, Filter, Room, ToolError
from brasstag.documents.formats import text as decoding
from brasstag.documents.search import index as indexing
from brasstag.documents.study import study
from tests.documents.tongues import RUSSIAN

OLDER = "1.0"


async def found(room: Room, query: str) -> list[str]:
    return [hit.document.path for hit in (await room.documents.search(query)).hits]


async def test_what_was_no_text_once_is_read_when_the_index_is_made_anew(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "data" / "letter.txt").write_bytes(RUSSIAN.encode("cp1251"))
    word = RUSSIAN.split()[0]
    async with Room.open(project) as room:
        with monkeypatch.context() as older:
            older.setattr(decoding, "old_encoding", lambda _beginning: None)
            assert await found(room, word) == []
        await room.documents.scan(rebuild=True)
        await room.documents.index()
        assert await found(room, word) == ["letter.txt"]
        assert (await room.documents.get("letter.txt")).mime_type == "text/plain"
        assert len(await room.documents.versions("letter.txt")) == 1


async def test_what_another_converter_made_is_made_again_by_reindexing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "data" / "page.html").write_text("<p>a whale of a page</p>")
    async with Room.open(project) as room:
        with monkeypatch.context() as older:
            older.setattr(study, "CONVERTER", OLDER)
            older.setattr(indexing, "CONVERTER", OLDER)
            assert await found(room, "whale") == ["page.html"]
            counted = (await room.documents.get("page.html")).token_count
            assert (await room.documents.index()).indexed == 0
            with room.store.database.write() as transaction:
                transaction.execute(text("UPDATE conversions SET tokens = 999, summary = 'a shark'"))
        assert (await room.documents.index()).indexed == 1
        assert (await room.documents.index()).indexed == 0
        document = await room.documents.get("page.html")
        assert (document.token_count, document.auto_summary) == (counted, "a whale of a page")


@pytest.mark.parametrize(
    "given",
    [{"glob": "[a"}, {"tags": "alpha"}, {"changed_after": date(2024, 1, 1)}, {"changed_before": "soon"}],
)
async def test_a_filter_that_nobody_understands_is_refused(room: Room, given: dict[str, Any]) -> None:
    for ask in (room.documents.list, lambda wanted: room.documents.search("whale", wanted)):
        with pytest.raises(ToolError) as refused:
            await ask(Filter(**given))
        assert refused.value.code is Code.INVALID_ARGUMENTS
