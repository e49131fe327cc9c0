"""What agents and people are shown from the tables is what the timelines tell, or verify names it."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Done, Report, Room, Waiting
from brasstag.app.project.create import create_project
from brasstag.store.documents.select import Selection, list_documents
from tests.documents.scans import scanner_of

ADA = "ada"
TEXT = "Margin grew in Oslo, and nobody knows why.\n"


async def done(room: Room, tool: str, **arguments: Any) -> Any:
    outcome = await room.call(tool, arguments)
    assert isinstance(outcome, Done), outcome
    return outcome.value


async def fill(project: Path) -> None:
    """Put one of each thing into a room that may be changed."""
    async with Room.open(project) as room:
        (room.workspace / "outside.md").write_text("Not by a call.\n")
        await done(room, "write_file", path="a.md", content=TEXT, why_created="For Ada")
        await done(room, "describe_document", path="a.md", description="First report")
        await done(room, "tag_document", path="a.md", add=["q3", "draft"])
        await done(room, "tag_document", path="a.md", remove=["draft"])
        await done(room, "write_file", path="old.md", content="Moves.\n")
        await done(room, "describe_document", path="old.md", description="It moves")
        await done(room, "move_file", **{"from": "old.md", "to": "new.md"})
        await done(room, "save_to_long_term_memory", content="Ada likes tables")
        asked = await room.call("delete_file", {"path": "new.md"})
        assert isinstance(asked, Waiting)
        await room.decide(asked.approval_id, ApprovalResponse(False, reason="keep it"), ADA)
        whole = await room.documents.whole("a.md")
        assert whole.auto_summary
        await room.documents.list()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a room once, and keep a copy of it and of its user's directory."""
    home = tmp_path_factory.mktemp("filled") / "home"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BRASSTAG_USER_DIR", str(home / "user"))
        create_project(home / "project")
        asyncio.run(fill(home / "project"))
    return home.rename(home.with_name("kept"))


@pytest.fixture
def filled(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a project whose room holds one of each thing, in the place where it was filled."""
    home = kept.with_name("home")
    shutil.copytree(kept, home, symlinks=True)
    monkeypatch.setenv("BRASSTAG_USER_DIR", str(home / "user"))
    yield home / "project"
    shutil.rmtree(home)


async def report(project: Path) -> Report:
    async with Room.open(project) as room:
        return await room.verify()


def change(project: Path, statement: str, *values: Any) -> None:
    with sqlite3.connect(project / ".brasstag" / "state.db") as database:
        assert database.execute(statement, values).rowcount == 1, statement
    database.close()


async def test_a_room_that_was_only_used_verifies_and_names_what_is_not_covered(filled: Path) -> None:
    found = await report(filled)
    assert found.findings == []
    assert (
        "versions that no call made (1) are on no timeline; what they held was not compared" in found.unseen
    )


@pytest.mark.parametrize(
    ("statement", "where", "what"),
    [
        (
            "UPDATE contents SET data = 'Other.' WHERE CAST(data AS TEXT) LIKE 'Margin%'",
            "content ",
            "its bytes were changed",
        ),
        (
            "UPDATE conversions SET summary = 'All is well.' WHERE summary LIKE 'Margin%'",
            "content ",
            "is known of it",
        ),
        ("UPDATE conversions SET tokens = 1 WHERE summary LIKE 'Margin%'", "content ", "is known of it"),
        ("UPDATE conversions SET blocks = 'x' WHERE summary LIKE 'Margin%'", "content ", "is known of it"),
        ("UPDATE versions SET by = 'editor' WHERE path = 'a.md'", "call_", "has another by"),
        ("UPDATE versions SET why = 'run_code' WHERE path = 'a.md'", "call_", "has another why"),
        (
            "UPDATE versions SET at = '2020-01-01T00:00:00.000000Z' WHERE path = 'a.md'",
            "call_",
            "has another at",
        ),
        ("UPDATE versions SET size = 7 WHERE path = 'a.md'", "call_", "has another size"),
        ("UPDATE versions SET mode = 511 WHERE path = 'a.md'", "call_", "has another mode"),
        ("UPDATE versions SET task_id = 'task_x' WHERE path = 'a.md'", "call_", "has another task_id"),
        ("UPDATE versions SET source = '' WHERE path = 'new.md'", "call_", "has another source"),
        ("UPDATE versions SET source_version = 9 WHERE path = 'new.md'", "new.md", "moved from old.md"),
        ("UPDATE versions SET call_id = '' WHERE path = 'a.md'", "a.md", "names who made it, but no call"),
        ("UPDATE versions SET by = 'editor' WHERE path = 'outside.md'", "outside.md", "names who made it"),
        ("UPDATE versions SET version = 2 WHERE path = 'a.md'", "a.md", "its versions before 2 are gone"),
        ("DELETE FROM versions WHERE path = 'a.md'", "call_", "differ about a.md"),
        ("UPDATE documents SET description = 'Approved' WHERE path = 'a.md'", "a.md", "its description"),
        ("UPDATE documents SET description = '' WHERE path = 'a.md'", "a.md", "its description"),
        ("UPDATE documents SET description = 'Approved' WHERE path = 'new.md'", "new.md", "its description"),
        ("UPDATE documents SET tags = '[\"final\"]' WHERE path = 'a.md'", "a.md", "its tags"),
        ("UPDATE documents SET tags = '[\"q3\",\"draft\"]' WHERE path = 'a.md'", "a.md", "its tags"),
        ("UPDATE documents SET tags = '[\"final\"]' WHERE path = 'new.md'", "new.md", "its tags"),
        ("UPDATE documents SET created_by = 'editor' WHERE path = 'a.md'", "a.md", "a creator that made no"),
        (
            "UPDATE documents SET created_task = 'task_x' WHERE path = 'a.md'",
            "a.md",
            "a creator that made no",
        ),
        (
            "UPDATE documents SET updated_by = 'editor' WHERE path = 'a.md'",
            "a.md",
            "names another maker of version 1",
        ),
        ("UPDATE documents SET version = 9 WHERE path = 'a.md'", "a.md", "version 9, which is not there"),
        ("UPDATE documents SET size = 9 WHERE path = 'a.md'", "a.md", "something else than its version 1"),
        (
            "UPDATE calls SET task_id = 'task_x' WHERE tool = 'move_file'",
            "call_",
            "the ledger gives it to task_x",
        ),
        (
            "UPDATE approvals SET decided_at = '2020-01-01T00:00:00.000000Z'",
            "apr_",
            "another time of the decision",
        ),
        ("UPDATE approvals SET decided_at = NULL", "apr_", "another time of the decision"),
        ("DELETE FROM memories", "call_", "is gone, and no person has forgotten it"),
        ("UPDATE memories SET tree = 'task_x'", "mem_", "tell nothing of this memory"),
        ("UPDATE memories SET task_id = 'task_x'", "mem_", "tell nothing of this memory"),
    ],
)
async def test_a_change_in_a_table_is_found(filled: Path, statement: str, where: str, what: str) -> None:
    change(filled, statement)
    found = (await report(filled)).findings
    assert any(one.where.startswith(where) and what in one.what for one in found), (statement, found)


async def test_what_was_changed_about_a_content_is_never_shown(filled: Path) -> None:
    change(filled, "UPDATE conversions SET summary = 'All is well.', tokens = 1 WHERE summary LIKE 'Margin%'")
    async with Room.open(filled) as room:
        document = await room.documents.get("a.md")
        assert (document.auto_summary, document.token_count) == (TEXT.strip(), 10)
        assert (await room.verify()).findings == []


async def test_a_memory_that_a_person_forgets_leaves_a_record(filled: Path) -> None:
    async with Room.open(filled, actor="ada") as room:
        (memory,) = await room.memories()
        await room.forget(memory.id)
        assert (await room.verify()).findings == []
        entry = next(one for one in await room.timeline() if (one.payload or {}).get("type") == "forgetting")
        assert entry.payload is not None
        assert (entry.payload["by"], entry.payload["forgotten"]) == ("ada", [memory.id])
        await done(room, "save_to_long_term_memory", content="Ada likes tables")
    change(filled, "DELETE FROM memories")
    (finding,) = (await report(filled)).findings
    assert "no person has forgotten it" in finding.what


async def test_a_document_that_is_hidden_for_a_while_keeps_what_was_said_of_it(filled: Path) -> None:
    async with Room.open(filled) as room:
        hiding = scanner_of(room, hidden=lambda paths: {path for path in paths if path == "a.md"})
        hiding.scan_all()
        assert "a.md" not in [
            one.path for one in room.store.read(lambda view: list_documents(view, Selection()))
        ]
        await room.documents.scan()
        assert (await room.documents.get("a.md")).description == "First report"
        assert (await room.verify()).findings == []


async def test_documents_that_trade_places_verify(filled: Path) -> None:
    async with Room.open(filled) as room:
        await done(room, "move_file", **{"from": "a.md", "to": "b.md"})
        await done(room, "write_file", path="a.md", content="Another.\n")
        await done(room, "move_file", **{"from": "b.md", "to": "c.md"})
        (room.workspace / "c.md").rename(room.workspace / "d.md")
        await room.documents.scan()
        await done(room, "tag_document", path="d.md", add=["moved"])
        (room.workspace / "a.md").unlink()
        await room.documents.scan()
        (room.workspace / "d.md").rename(room.workspace / "a.md")
        await room.documents.scan()
        assert (await room.verify()).findings == []
