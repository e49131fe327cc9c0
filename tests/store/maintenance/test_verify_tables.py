"""What agents and people are shown from the tables is what the timelines tell, or verify names it."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from brasstag import ApprovalResponse, Done, Report, Room, Waiting
from brasstag.store.database.schema import metadata
from brasstag.store.documents.select import Selection, list_documents
from brasstag.store.maintenance.coverage import COMPARED, WITH_CONTENTS, gaps
from brasstag.store.maintenance.verify import Finding, verify
from brasstag.words.previews import Change
from tests.app.prompts.documents import proposal
from tests.documents.scans import scanner_of
from tests.store.conftest import call_at

ADA = "ada"
TEXT = "Margin grew in Oslo, and nobody knows why.\n"


async def done(room: Room, tool: str, **arguments: Any) -> Any:
    outcome = await room.call(tool, arguments)
    assert isinstance(outcome, Done), outcome
    return outcome.value


@pytest.fixture
async def filled(project: Path) -> Path:
    """Return a project whose room holds one of each thing that may be changed."""
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
        await done(room, "write_file", path="more.md", content="More.\n")
        asked = await room.call("delete_file", {"path": "more.md"})
        assert isinstance(asked, Waiting)
        await room.permit(asked.approval_id, ADA)
        await room.resume(asked.approval_id)
        await room.prompts.propose(proposal())
        whole = await room.documents.whole("a.md")
        assert whole.auto_summary
        await room.documents.list()
    return project


async def report(project: Path) -> Report:
    async with Room.open(project) as room:
        return await room.verify()


def change(project: Path, statement: str, *values: Any) -> None:
    with sqlite3.connect(project / ".brasstag" / "state.db") as database:
        assert database.execute(statement, values).rowcount == 1, statement
    database.close()


class Undo(Exception):
    """Takes a change back."""


def findings_after(room: Room, statement: str, **values: Any) -> list[Finding]:
    """Return what verify finds after a change, which is then taken back."""
    store, found = room.store, list[Finding]()
    with suppress(Undo), store.database.write() as transaction:
        assert transaction.execute(text(statement), values).rowcount == 1, statement
        key = store.sealer.key
        found = verify(transaction.connection, {key.id: key}, store.sealer.witness(), store.blobs).findings
        raise Undo
    return found


def claim(room: Room) -> None:
    """Leave a call claimed, as a process that died left it."""
    change = Change("b.md", "absent", "file:" + "a" * 64)
    said = {"tool": "write_file", "role": "operator", "preview": {"changes": [change.as_json()]}}
    room.store.claim(call_at(room.task_id, "write_file"), (change,), None, said)


async def test_a_room_that_was_only_used_verifies_and_names_what_is_not_covered(filled: Path) -> None:
    found = await report(filled)
    assert found.findings == []
    assert (
        "versions that no call made (1) are on no timeline; what they held was not compared" in found.unseen
    )


CHANGES = [
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
        "UPDATE approvals SET decided_at = '2020-01-01T00:00:00.000000Z' WHERE state = 'denied'",
        "apr_",
        "another time of the decision",
    ),
    ("UPDATE approvals SET decided_at = NULL WHERE state = 'denied'", "apr_", "another time of the decision"),
    ("DELETE FROM memories", "call_", "is gone, and no person has forgotten it"),
    ("UPDATE memories SET tree = 'task_x'", "mem_", "tell nothing of this memory"),
    ("UPDATE memories SET task_id = 'task_x'", "mem_", "tell nothing of this memory"),
]


async def test_a_change_in_a_table_is_found(filled: Path) -> None:
    async with Room.open(filled) as room:
        for statement, where, what in CHANGES:
            found = findings_after(room, statement)
            assert any(one.where.startswith(where) and what in one.what for one in found), (statement, found)


def test_every_column_is_compared_or_named_as_not_compared() -> None:
    told = [f"{table}.{name}" for table, names in COMPARED.items() for name in names]
    for gap in gaps(contents=False):
        for column in gap.columns:
            table = metadata.tables.get(column)
            told += [column] if table is None else [f"{table.name}.{one.name}" for one in table.columns]
    known = [f"{table.name}.{one.name}" for table in metadata.tables.values() for one in table.columns]
    assert sorted(told) == sorted([*known, "fulltext"])


async def test_a_change_in_any_compared_column_is_found(filled: Path) -> None:
    unseen = []
    async with Room.open(filled) as room:
        claim(room)
        assert (await room.verify()).findings == []
        for table, names in COMPARED.items():
            for name in names:
                old = room.store.read(
                    lambda view, sql=f'SELECT "{name}" FROM {table}': view.execute(text(sql)).first()
                )
                assert old is not None, f"{table} has no row here"
                place = f"rowid = (SELECT min(rowid) FROM {table})"
                if not findings_after(
                    room, f'UPDATE {table} SET "{name}" = :new WHERE {place}', new=other(name, old[0])
                ):
                    unseen.append(f"{table}.{name}")
    assert unseen == []


def other(name: str, value: Any) -> Any:
    if name == "at" or name.endswith("_at"):
        return "2020-01-01T00:00:00.000000Z"
    if isinstance(value, int):
        return value + 1_000
    return b"x" + value if isinstance(value, bytes) else f"{value}x"


async def test_contents_that_are_files_and_types_of_documents_are_compared_where_asked(filled: Path) -> None:
    async with Room.open(filled) as room:
        await done(room, "write_file", path="data.bin", content="Long. " * 20_000, mime_type="text/x-own")
        await room.documents.scan()
        whole = await room.verify(contents=True)
        assert (whole.findings, WITH_CONTENTS in whole.not_compared) == ([], False)
        (large,) = [
            path for path in (filled / ".brasstag/blobs").glob("??/*") if path.stat().st_size > 100_000
        ]
        large.write_bytes(b"x" * large.stat().st_size)
        change(filled, "UPDATE documents SET media_type = 'image/png' WHERE path = 'outside.md'")
        plain = await room.verify()
        assert (plain.findings, WITH_CONTENTS in plain.not_compared) == ([], True)
        found = {one.where: one.what for one in (await room.verify(contents=True)).findings}
        assert found == {
            f"content {large.name[:12]}": "the bytes of its file were changed; it is not read any more",
            "outside.md": "its row calls it image/png, its content is text/markdown",
        }
        large.write_bytes(b"x")
        assert "its file has 1 bytes, not the 120000 of its version" in str((await room.verify()).findings)
        large.unlink()
        missing = await room.verify(contents=True)
        assert "contents that versions name (1) are not kept" in str(missing.unseen)


def test_the_page_names_everything_that_is_not_compared() -> None:
    page = " ".join(Path("docs/timeline.md").read_text(encoding="utf-8").split())
    for gap in gaps(contents=False):
        assert gap.what in page, gap.what


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
