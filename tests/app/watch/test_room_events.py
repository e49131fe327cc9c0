"""Events of a whole room: of every process, in order, for watchers that come, go and fall behind."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from brasstag import ApprovalResponse, Done, Event, EventId, Room, ToolError, Waiting
from brasstag.app.watch import output_recorder, room_events
from brasstag.store.events import output
from brasstag.store.events.output import PrintedPiece
from brasstag.store.events.sequence import events_since
from brasstag.words.errors import Code
from brasstag.words.events import EntryKind
from tests.app.watch.test_output import confines
from tests.conftest import MakeProject
from tests.engine.crews import ADA

PATIENCE = 60.0


async def take(events: AsyncIterator[Event], count: int) -> list[Event]:
    """Wait for the next events."""
    async with asyncio.timeout(PATIENCE):
        return [await anext(events) for _ in range(count)]


def kinds(events: list[Event]) -> list[str]:
    return [event.entry.kind.value if event.entry else event.topic for event in events]


async def test_entries_decisions_documents_and_issues_are_one_sequence(make_project: MakeProject) -> None:
    project = make_project()
    (project / "data" / "a.md").write_text("old")
    async with (
        Room.open(project) as watching,
        Room.open(project) as working,
        aclosing(watching.events()) as events,
    ):
        first = asyncio.create_task(take(events, 2))
        await asyncio.sleep(0)
        await watching.newest_event()
        waiting = await working.call("write_file", {"path": "a.md", "content": "new"})
        assert isinstance(waiting, Waiting)
        assert kinds(await first) == ["opened", "asked"]
        await working.decide(waiting.approval_id, ApprovalResponse(approved=True), ADA)
        await working.resume(waiting.approval_id)
        assert kinds(await take(events, 3)) == ["decided", "claimed", "settled"]
        await working.documents.scan()
        (changed,) = await take(events, 1)
        assert changed.payload["changes"][0]["path"] == "a.md"
        issue = await working.issues.open("Look at this")
        (opened,) = await take(events, 1)
        assert (opened.topic, opened.subject, opened.payload["kind"]) == ("issue", issue.id, "opened")


async def test_a_watcher_resumes_after_the_event_it_has_read_last(room: Room) -> None:
    for _ in range(3):
        await room.call("list_files", {})
    async with aclosing(room.events("0-0")) as events:
        seen = await take(events, 3)
    async with aclosing(room.events(str(seen[1].id))) as events:
        (third,) = await take(events, 1)
    assert third == seen[2]
    assert third.entry is not None
    assert third.entry.kind is EntryKind.CALLED


async def test_a_watcher_slower_than_the_room_loses_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_events, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(room_events, "MOST_HELD", 2)
    async with aclosing(room.events("0-0")) as slow, aclosing(room.events("0-0")) as quick:
        await room.call("list_files", {})
        begun = [await take(slow, 2), await take(quick, 2)]
        for _ in range(20):
            await room.call("list_files", {})
            await take(quick, 1)
        got = await take(slow, 20)
    assert begun[0] == begun[1]
    ids = [event.id for event in [*begun[0], *got]]
    assert ids == sorted(set(ids))
    assert [event.entry.seq for event in got if event.entry] == list(range(2, 22))


async def test_a_watcher_behind_what_is_kept_is_told_to_look_anew(room: Room) -> None:
    await room.call("list_files", {})
    for wrong in (EventId(0, 10_000), "0-10000"):
        with pytest.raises(ToolError) as refused:
            await take(room.events(wrong), 1)
        assert refused.value.code is Code.NOT_KEPT
    with pytest.raises(ToolError) as refused:
        room.events("yesterday")
    assert refused.value.code is Code.INVALID_ARGUMENTS


async def test_watchers_that_come_and_go_share_one_reader_that_ends_with_the_last(tmp_path: Path) -> None:
    async with Room.in_memory(tmp_path) as room:
        before = len(asyncio.all_tasks())
        for _ in range(3):
            async with aclosing(room.events("0-0")) as one, aclosing(room.events("0-0")) as two:
                await room.call("list_files", {})
                assert await take(one, 2) == await take(two, 2)
                assert len(asyncio.all_tasks()) == before + 1
        async with asyncio.timeout(PATIENCE):
            while len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 - a task that was cancelled needs a few rounds
                await asyncio.sleep(0)


@confines
async def test_what_a_program_prints_is_shown_to_other_processes_while_it_runs(
    make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_recorder, "RECORD_SECONDS", 0.01)
    monkeypatch.setattr(output, "MOST_ROWS", 3)
    project = make_project()
    async with (
        Room.open(project) as watching,
        Room.open(project) as working,
        aclosing(watching.events(await watching.newest_event())) as events,
    ):
        code = "import time\nfor n in range(9):\n    print(n, flush=True)\n    time.sleep(0.2)\n"
        running = asyncio.create_task(working.call("run_code", {"language": "python", "code": code}))
        printed = ""
        while "0" not in printed or "3" not in printed:
            (event,) = await take(events, 1)
            if event.topic == "output":
                assert (event.payload["tool"], event.payload["stream"]) == ("run_code", "stdout")
                assert not running.done(), "it is shown before the call has ended"
                printed += event.payload["text"]
        assert isinstance(await running, Done)
        kept = await asyncio.to_thread(watching.store.read, lambda view: events_since(view, EventId()))
        assert len([event for event in kept if event.topic == "output"]) <= 3


@confines
async def test_a_call_that_ends_soon_needs_no_commit_for_what_it_printed(room: Room) -> None:
    outcome = await room.call("run_code", {"language": "python", "code": "print(1)"})
    assert isinstance(outcome, Done)
    (call_id,) = {entry.call_id for entry in await room.timeline() if entry.call_id}
    piece = PrintedPiece(room.task_id, call_id, "run_code", "stdout", "1\n")
    await asyncio.to_thread(room.store.record_output, [piece])
    kept = await asyncio.to_thread(room.store.read, lambda view: events_since(view, EventId()))
    assert {event.topic for event in kept} == {"entry"}


def test_of_a_long_piece_the_end_is_kept_and_the_rest_is_counted() -> None:
    piece = PrintedPiece("task", "call", "shell", "stdout", "a" * 10 + "b" * output.LONGEST, left_out=5)
    assert piece.payload()["text"] == "b" * output.LONGEST
    assert piece.payload()["left_out"] == 15
