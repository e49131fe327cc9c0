"""An approved call whose target has changed is asked anew, with what it would do now; the first approval says so."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from brasstag import ApprovalResponse, Code, Done, Failed, Outcome, Room, Waiting
from brasstag.words.approvals import Approval, ApprovalState
from brasstag.words.events import EntryKind
from tests.conftest import MakeProject
from tests.engine.crews import ADA
from tests.processes import _context, end, start

ASKS = """
[[rules]]
ask = "edit_file(**)"
because = "a person looks at edits"
match = ["edit_file(a.md)"]
not_match = ["write_file(a.md)"]
"""
YES = ApprovalResponse(True)


def edit(old: str, new: str) -> dict[str, Any]:
    return {"path": "a.md", "search_text": old, "replace_text": new}


async def approved(room: Room, old: str, new: str) -> Approval:
    """Let a person approve an edit."""
    waiting = await room.call("edit_file", edit(old, new))
    assert isinstance(waiting, Waiting)
    return await room.decide(waiting.approval_id, YES, ADA)


def change_while_judged(room: Room, *texts: str) -> None:
    """Let another program write each of these texts as soon as a call has looked at the file."""
    left = list(texts)

    def rule(_call: Any, _preview: Any) -> None:
        if left:
            (room.workspace / "a.md").write_text(left.pop(0))

    room.add_rule(rule)


@pytest.fixture
def asking(make_project: MakeProject) -> Path:
    project = make_project(ASKS, profile="trusted")
    (project / "data" / "a.md").write_text("one two")
    return project


@pytest.mark.parametrize("changes", [["one 2", "one 3"], ["one 2", "one 3", "one 4"]], ids=["once", "twice"])
async def test_a_file_that_changes_while_it_is_asked_anew_is_asked_about_as_it_is_then(
    asking: Path, changes: list[str]
) -> None:
    async with Room.open(asking) as room:
        first = await approved(room, "one", "1")
        (room.workspace / "a.md").write_text(changes[0])
        change_while_judged(room, *changes[1:])
        again = await room.resume(first.id)
        assert isinstance(again, Waiting), again
        second = await room.approval(again.approval_id)
        assert second.state is ApprovalState.OPEN
        (change,) = second.preview.changes
        kept = room.store.blobs.get
        texts = [kept(state.removeprefix("file:")).decode() for state in (change.before, change.after)]
        assert texts == [changes[-1], changes[-1].replace("one", "1")]
        assert "it is asked anew" in second.reason
        assert isinstance(await _go_on(room, again), Done)
        assert (room.workspace / "a.md").read_text() == texts[1]
        assert (await room.verify()).ok


async def test_who_resumes_while_another_process_asks_anew_waits_for_the_new_approval(asking: Path) -> None:
    loop = asyncio.get_running_loop()
    async with Room.open(asking) as room, Room.open(asking) as other:
        first = await approved(room, "one", "1")
        (room.workspace / "a.md").write_text("one 2")
        proven = room.store.proven
        asked: list[Outcome] = []

        def withdrawn_before(task_id: str) -> Any:
            if not asked:
                asked.append(asyncio.run_coroutine_threadsafe(other.resume(first.id), loop).result(60))
            return proven(task_id)

        room.store.proven = withdrawn_before  # type: ignore[method-assign]
        again = await room.wait(Waiting(first.id, first.reason))
        assert isinstance(asked[0], Waiting)
        assert isinstance(again, Waiting), again
        assert again.approval_id == asked[0].approval_id


async def test_the_first_approval_names_the_one_that_took_its_place(asking: Path) -> None:
    async with Room.open(asking) as room:
        first = await approved(room, "one", "1")
        (room.workspace / "a.md").write_text("one 2")
        again = await room.resume(first.id)
        assert isinstance(again, Waiting)
        first = await room.approval(first.id)
        assert first.state is ApprovalState.VOID
        assert first.note == f"what was approved has changed since; it is asked anew as {again.approval_id}"
        told = await room.resume(first.id)
        assert isinstance(told, Failed)
        assert told.code is Code.APPROVAL_CLOSED
        assert again.approval_id in told.message
        entries = await room.timeline()
        said = [(entry.kind, (entry.payload or {}).get("note")) for entry in entries[-2:]]
        assert said == [(EntryKind.DECIDED, first.note), (EntryKind.ASKED, None)]


async def test_what_a_person_changed_in_the_arguments_is_still_told_after_it_was_asked_anew(
    asking: Path,
) -> None:
    async with Room.open(asking) as room:
        waiting = await room.call("edit_file", edit("one", "1"))
        assert isinstance(waiting, Waiting)
        first = await room.approval(waiting.approval_id)
        edited = await room.preview_edit(first, edit("one", "I"))
        response = ApprovalResponse(True, modified_args=edit("one", "I"))
        await room.decide(first.id, response, ADA, seen=edited.preview.digest)
        (room.workspace / "a.md").write_text("one 2")
        again = await room.resume(first.id)
        assert isinstance(again, Waiting)
        done = await _go_on(room, again)
        assert isinstance(done, Done)
        assert done.meta["edited"]["arguments"]["replace_text"] == "I"
        assert (room.workspace / "a.md").read_text() == "I 2"


async def test_a_caller_who_waits_is_told_of_the_new_request(asking: Path) -> None:
    async with Room.open(asking) as room:
        waiting = await room.call("edit_file", edit("one", "1"))
        assert isinstance(waiting, Waiting)
        (room.workspace / "a.md").write_text("one 2")
        change_while_judged(room, "one 3")
        await room.decide(waiting.approval_id, YES, ADA)
        again = await room.wait(waiting)
        assert isinstance(again, Waiting)
        assert again.approval_id != waiting.approval_id
        assert isinstance(await _go_on(room, again), Done)


async def _go_on(room: Room, waiting: Waiting) -> Outcome:
    await room.decide(waiting.approval_id, YES, ADA)
    return await room.resume(waiting.approval_id)


EDITORS = 2
EDITS = 8


async def test_approved_edits_of_two_processes_at_one_file_are_all_made(asking: Path, tmp_path: Path) -> None:
    numbers = range(EDITORS * EDITS)
    (asking / "data" / "a.md").write_text("".join(f"<{number}->" for number in numbers))
    results = _context.Queue()
    editors = [
        start(edit_with_approvals, asking, list(numbers)[one::EDITORS], results) for one in range(EDITORS)
    ]
    told = [code for _ in editors for code in results.get(timeout=300)]
    assert [end(editor) for editor in editors] == [0] * EDITORS
    assert set(told) <= {"Waiting", "Done"}
    assert told.count("Done") == len(numbers)
    assert (asking / "data" / "a.md").read_text() == "".join(f"<{number}+>" for number in numbers)


def edit_with_approvals(project: Path, share: list[int], results: Any) -> None:
    """Make edits, and approve each of them as often as it is asked about."""
    results.put(asyncio.run(_edit_with_approvals(project, share)))


async def _edit_with_approvals(project: Path, share: list[int]) -> list[str]:
    told: list[str] = []
    async with Room.open(project) as room:
        for number in share:
            outcome = await room.call("edit_file", edit(f"<{number}->", f"<{number}+>"))
            while isinstance(outcome, Waiting):
                told.append("Waiting")
                outcome = await _go_on(room, outcome)
            told.append(outcome.code.value if isinstance(outcome, Failed) else type(outcome).__name__)
    return told
