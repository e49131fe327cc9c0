"""The documents of an open room, as programs know them."""

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from brasstag import Document, Done, EventId, Filter, Room, ToolError
from brasstag.policy.rule import Rule
from brasstag.store.documents.conversions import conversion_of
from brasstag.store.maintenance.prune import named_blobs
from brasstag.words.errors import Code

PAGE = "<html><body><h1>Report</h1><p>Margin grew in Oslo.</p></body></html>"
PATIENCE = 120.0


async def next_change(events: Any, path: str) -> dict[str, Any]:
    """Wait for the next event about a path."""
    async with asyncio.timeout(PATIENCE):
        async for event in events:
            for change in event.payload["changes"]:
                if change["path"] == path:
                    return dict(change)
    raise AssertionError("events end only where nobody listens")


async def test_what_others_change_is_heard_of_and_found_while_a_room_watches(room: Room) -> None:
    room.documents.watch()
    events = room.documents.events(EventId())
    (room.workspace / "a.md").write_text("walnut\n")
    assert (await next_change(events, "a.md"))["change"] == "added"
    (room.workspace / "a.md").write_text("chestnut\n")
    assert (await next_change(events, "a.md"))["change"] == "changed"
    assert [hit.document.path for hit in (await room.documents.search("chestnut")).hits] == ["a.md"]
    (room.workspace / "a.md").rename(room.workspace / "b.md")
    moved = await next_change(events, "b.md")
    assert (moved["change"], moved["source"]) == ("moved", "a.md")
    (room.workspace / "b.md").unlink()
    assert (await next_change(events, "b.md"))["change"] == "removed"


async def test_a_tools_write_is_looked_at_without_anybody_asking(room: Room) -> None:
    events = room.documents.events(EventId())
    await room.call("write_file", {"path": "a.md", "content": "walnut"})
    change = await next_change(events, "a.md")
    assert (change["change"], change["by"]) == ("added", "operator")
    await room.call("tag_document", {"path": "a.md", "add": ["nut"]})
    assert (await next_change(events, "a.md"))["change"] == "tagged"


@pytest.mark.parametrize("is_watched", [False, True])
async def test_a_search_right_after_a_tools_write_finds_what_is_there_now_and_nothing_else(
    tmp_path: Path, is_watched: bool
) -> None:
    for number in range(100):
        (tmp_path / f"d{number % 10}").mkdir(exist_ok=True)
        (tmp_path / f"d{number % 10}" / f"{number}.md").write_text(f"filler {number}\n")

    async with Room.in_memory(tmp_path, profile="trusted") as room:

        async def found(word: str) -> list[str]:
            outcome = await room.call("search_documents", {"query": word})
            assert isinstance(outcome, Done), outcome
            return [hit["path"] for hit in outcome.value["hits"]]

        if is_watched:
            room.documents.watch()
        assert await found("filler")
        for number in range(40):
            # As long as the one before, and as soon: neither its size nor its time has to tell it apart.
            await room.call("write_file", {"path": "probe.md", "content": f"word{number:02}"})
            assert await found(f"word{number:02}") == ["probe.md"]
            assert await found(f"word{number - 1:02}") == []
        await room.call("move_file", {"from": "probe.md", "to": "moved.md"})
        assert await found("word39") == ["moved.md"]
        await room.call("delete_file", {"path": "moved.md"})
        assert await found("word39") == []


async def test_a_room_that_closes_leaves_no_thread_behind(tmp_path: Path) -> None:
    import threading

    before = set(threading.enumerate())
    async with Room.in_memory(tmp_path) as room:
        room.documents.watch()
        (tmp_path / "a.md").write_text("walnut\n")
        await room.documents.list()
    left = [one for one in set(threading.enumerate()) - before if one.name.startswith(("documents", "watch"))]
    assert left == []


async def test_versions_and_their_contents_are_at_hand(room: Room) -> None:
    await room.call("write_file", {"path": "a.html", "content": PAGE})
    (version,) = await room.documents.versions("a.html")
    assert (version.by, version.why) == ("operator", "write_file")
    assert (await room.documents.read(version)).decode() == PAGE
    assert await room.documents.text(version) == "# Report\n\nMargin grew in Oslo.\n"
    assert [block.kind for block in (await room.documents.blocks(version)).blocks] == ["heading", "paragraph"]
    with pytest.raises(ToolError) as refused:
        await room.documents.version_before(version)
    assert refused.value.code is Code.INVALID_ARGUMENTS


async def test_a_whole_document_has_everything_programs_may_ask_for(room: Room) -> None:
    calls = [
        await room.call("write_file", {"path": "a.html", "content": PAGE}),
        await room.call("tag_document", {"path": "a.html", "add": ["q3"]}),
        await room.call("move_file", {"from": "a.html", "to": "b.html"}),
    ]
    whole = (await room.documents.whole("b.html")).as_json()
    assert (whole["path"], whole["created_role"], whole["tags"]) == ("b.html", "operator", ["q3"])
    assert [block["kind"] for block in whole["content_json"]["blocks"]] == ["heading", "paragraph"]
    assert [(one["path"], one["moved_from"]) for one in whole["versions"]] == [
        ("a.html", None),
        ("b.html", "a.html"),
    ]
    assert [one["tag"] for one in whole["versions"]] == [calls[0].tag.id, calls[2].tag.id]
    assert whole["content_problem"] is None
    json.dumps(whole)


async def test_one_object_has_every_field_that_the_architecture_names(room: Room) -> None:
    said = {"path": "report.md", "content": "# Q3\n\nMargin grew in Oslo.\n", "mime_type": "text/markdown"}
    await room.call("write_file", said | {"why_created": "Final\nreport"})
    await room.call("describe_document", {"path": "report.md", "description": "Final report"})
    await room.call("tag_document", {"path": "report.md", "add": ["analysis", "Q3"]})
    whole = await room.documents.whole("report.md")
    assert isinstance(whole, Document)
    assert (whole.path, whole.mime_type, whole.size_bytes) == ("report.md", "text/markdown", 27)
    assert whole.content_json is not None
    assert [block["kind"] for block in whole.content_json["blocks"]] == ["heading", "paragraph"]
    assert whole.created_by == whole.updated_by == room.task_id
    assert whole.created_role == whole.updated_role == "operator"
    assert whole.created_at == whole.updated_at > "2025-10-04T12:34:56"
    assert (whole.token_count, whole.auto_summary) == (9, "Margin grew in Oslo.")
    assert (whole.description, whole.tags) == ("Final report", ("analysis", "Q3"))
    assert [(one["version"], one["why"]) for one in whole.versions] == [(1, "write_file: Final report")]


async def test_documents_are_filtered_by_the_task_that_made_them(room: Room) -> None:
    await room.call("write_file", {"path": "a.md", "content": "walnut"})
    (room.workspace / "b.md").write_text("walnut\n")
    found = await room.call("list_documents", {"created_by": room.task_id})
    assert isinstance(found, Done)
    assert [one["path"] for one in found.value["documents"]] == ["a.md"]


async def test_a_whole_document_that_cannot_be_read_says_why_and_keeps_all_else(room: Room) -> None:
    (room.workspace / "bad.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(300))
    whole = (await room.documents.whole("bad.pdf")).as_json()
    assert whole["content_json"] is None
    assert whole["content_problem"]["code"] == "CANNOT_CONVERT"
    assert [one["by"] for one in whole["versions"]] == ["outside"]
    with pytest.raises(ToolError) as refused:
        await room.documents.whole("nowhere.md")
    assert refused.value.code is Code.FILE_NOT_FOUND


async def test_documents_are_filtered_by_who_made_them(room: Room) -> None:
    (room.workspace / "theirs.md").write_text("walnut\n")
    await room.call("write_file", {"path": "ours.md", "content": "walnut"})
    for creator, path in (("operator", "ours.md"), ("outside", "theirs.md")):
        listed = await room.documents.list(Filter(creator=creator))
        found = await room.documents.search("walnut", Filter(creator=creator))
        assert [one.path for one in listed.documents] == [path]
        assert [hit.document.path for hit in found.hits] == [path]


async def test_every_filter_of_the_tools_is_one_of_the_library_by_the_same_name(room: Room) -> None:
    await room.call("write_file", {"path": "reports/q3.csv", "content": "walnut,1"})
    await room.call("tag_document", {"path": "reports/q3.csv", "add": ["q3"]})
    (room.workspace / "notes.md").write_text("walnut\n")
    (document,) = (await room.documents.list(Filter(glob="reports/**"))).documents
    fits: dict[str, Any] = {
        "glob": "reports/**",
        "tags": ("q3",),
        "mime_type": "text/csv",
        "creator": "operator",
        "task": document.created_by,
    }
    assert {one.name for one in fields(Filter)} == {*fits, "changed_after", "changed_before"}
    for name, value in fits.items():
        only = Filter(**{name: value})
        by_tool = await room.call("list_documents", {name: [*value] if isinstance(value, tuple) else value})
        assert isinstance(by_tool, Done)
        assert [one["path"] for one in by_tool.value["documents"]] == [document.path]
        assert [one.path for one in (await room.documents.list(only)).documents] == [document.path]
        assert [hit.document.path for hit in (await room.documents.search("walnut", only)).hits] == [
            document.path
        ]


@pytest.mark.parametrize("kind", ["aware", "naive", "text"])
async def test_times_are_asked_for_as_moments_or_as_text(room: Room, kind: str) -> None:
    (room.workspace / "a.md").write_text("walnut\n")
    (document,) = (await room.documents.list()).documents
    changed = datetime.fromisoformat(document.updated_at)
    later = changed + timedelta(microseconds=1)
    shaped: dict[str, Callable[[datetime], datetime | str]] = {
        "aware": lambda moment: moment.astimezone(timezone(timedelta(hours=9))),
        "naive": lambda moment: moment.replace(tzinfo=None),
        "text": lambda moment: moment.isoformat(),
    }
    at, after = shaped[kind](changed), shaped[kind](later)
    for only, count in (
        (Filter(changed_after=at), 1),
        (Filter(changed_after=after), 0),
        (Filter(changed_before=at), 0),
        (Filter(changed_before=after), 1),
    ):
        assert len((await room.documents.list(only)).documents) == count
        assert len((await room.documents.search("walnut", only)).hits) == count


async def test_a_time_nobody_understands_is_refused_by_its_name(room: Room) -> None:
    for wrong in ("last week", datetime.min.replace(tzinfo=timezone(timedelta(hours=9)))):
        with pytest.raises(ToolError, match=r"changed_before: .* is no time; write 2026-03-01") as refused:
            await room.documents.list(Filter(changed_before=wrong))
        assert refused.value.code is Code.INVALID_ARGUMENTS


async def test_a_hit_has_everything_that_is_known_of_its_document(room: Room) -> None:
    await room.call("write_file", {"path": "a.md", "content": "walnut"})
    document = await room.documents.get("a.md")
    found = await room.documents.search("walnut")
    assert [hit.document for hit in found.hits] == [document]
    assert (found.more, found.incomplete) == (False, None)
    by_tool = await room.call("search_documents", {"query": "walnut"})
    assert isinstance(by_tool, Done)
    assert by_tool.value["hits"] == [hit.as_json() for hit in found.hits]


async def test_a_history_tells_of_every_version_as_a_whole_document_does(room: Room) -> None:
    await room.call("write_file", {"path": "a.md", "content": "walnut"})
    await room.call("move_file", {"from": "a.md", "to": "b.md"})
    await room.call("write_file", {"path": "a.md", "content": "chestnut"})
    history = await room.documents.history("a.md")
    assert [(one["version"], one["line"], one["moved_to"]) for one in history.as_json()] == [
        (1, False, None),
        (2, False, "b.md"),
        (3, True, None),
    ]
    assert [history.is_kept(one) for one in (*history.others, *history.line)] == [True, None, True]
    assert (await room.documents.whole("a.md")).as_json()["versions"] == history.as_json()


@pytest.mark.parametrize("is_watched", [False, True])
async def test_what_a_rule_hides_that_is_added_later_is_no_document_any_more(
    room: Room, is_watched: bool
) -> None:
    for name in ("plans.md", "notes.md"):
        (room.workspace / name).write_text("walnut\n")
    if is_watched:
        room.documents.watch()
    assert [one.path for one in (await room.documents.list()).documents] == ["notes.md", "plans.md"]
    room.add_rule(Rule("deny", ("read_file(plans.md)",), "they are not for tools"))
    assert [one.path for one in (await room.documents.list()).documents] == ["notes.md"]
    assert [hit.document.path for hit in (await room.documents.search("walnut")).hits] == ["notes.md"]


async def test_a_document_that_cannot_be_converted_is_tried_once_and_says_why(room: Room) -> None:
    (room.workspace / "bad.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(300))
    first = await room.documents.index()
    assert (first.failed, first.left) == (0, 0)
    await room.documents.scan()
    told = await room.documents.index()
    assert (told.indexed, told.failed, told.left) == (0, 1, 0)
    assert (await room.documents.index()).failed == 0
    document = await room.documents.get("bad.pdf")
    assert document.indexed.startswith("CANNOT_CONVERT: ")
    assert document.token_count is None
    known = room.store.read(
        lambda view: conversion_of(view, room.store.sealer.key, document.digest, document.mime_type)
    )
    assert known.failure is not None
    assert known.failure[0] is Code.CANNOT_CONVERT


async def test_blocks_that_were_collected_are_made_again(room: Room) -> None:
    (room.workspace / "a.html").write_text(PAGE)
    await room.documents.scan()
    version = await room.documents.version("a.html")
    made = await room.documents.blocks(version)
    kept = room.store.read(named_blobs)
    (blocks,) = {
        digest
        for digest in kept
        if digest
        == room.store.read(
            lambda view: conversion_of(view, room.store.sealer.key, version.state[5:], "text/html")
        ).blocks
    }
    room.store.blobs.drop(blocks)
    assert await room.documents.blocks(version) == made
    assert room.store.blobs.has(blocks)
