"""changes_of and undo_run: what a run changed as one diff, and all of it taken back by one judged call."""

from pathlib import Path

import pytest

from brasstag import (
    ApprovalResponse,
    Approver,
    Done,
    Failed,
    Outcome,
    Room,
    ToolError,
    Verdict,
    Waiting,
    tool,
)
from brasstag.words.errors import Code

ADA = Approver("ada", "token")


@tool(effects="external")
def send_letter(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


async def do(room: Room, name: str, **arguments: object) -> Outcome:
    """Make a call, and approve it where that is asked."""
    outcome = await room.call(name, arguments)
    if isinstance(outcome, Waiting):
        await room.decide(outcome.approval_id, ApprovalResponse(approved=True), ADA)
        outcome = await room.resume(outcome.approval_id)
    assert isinstance(outcome, Done), outcome
    return outcome


async def end_of_run(room: Room) -> str:
    """End the desk of the room, whose calls are a run for us, and return its id."""
    run = room.task_id
    await do(room, "handoff", result="done")
    assert room.task_id != run
    return run


def files(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else "/"
        for path in sorted(root.rglob("*"))
    }


async def changed_room(room: Room) -> tuple[str, dict[str, str]]:
    """Let a run create, overwrite twice, delete, move and make directories; return it and the files before."""
    root = room.workspace
    (root / "old").mkdir()
    for name in ("kept.md", "edited.md", "gone.md", "old/moved.md"):
        (root / name).write_text(f"{name} as it was\n")
    before = files(root)
    await do(room, "write_file", path="edited.md", content="first\n")
    await do(room, "write_file", path="edited.md", content="second\n")
    await do(room, "write_file", path="new/deep/made.md", content="made\n")
    await do(room, "delete_file", path="gone.md")
    await do(room, "move_file", source="old/moved.md", target="here.md")
    await do(room, "delete_file", path="old", recursive=True)
    await do(room, "write_file", path="kept.md", content="other\n")
    await do(room, "write_file", path="kept.md", content="kept.md as it was\n")
    return await end_of_run(room), before


async def test_the_changes_of_a_run_are_one_diff_from_before_it_to_after_it(room: Room) -> None:
    run, _ = await changed_room(room)
    found = await room.changes_of(run[-8:])
    assert found.run == run
    assert [(one.change.path, one.change.fact.value, len(one.calls)) for one in found.changes] == [
        ("edited.md", "overwrites", 2),
        ("gone.md", "deletes", 1),
        ("here.md", "creates", 1),
        ("new", "creates", 1),
        ("new/deep", "creates", 1),
        ("new/deep/made.md", "creates", 1),
        ("old", "deletes", 1),
        ("old/moved.md", "deletes", 1),
    ]
    assert "-edited.md as it was\n+second\n" in found.diff
    assert "first" not in found.diff
    assert "kept.md" not in found.diff
    assert found.outside == ()


async def test_a_run_is_taken_back_whole_by_one_call_that_is_judged(room: Room) -> None:
    run, before = await changed_room(room)
    waiting = await room.undo_run(run)
    assert isinstance(waiting, Waiting), "it overwrites and deletes, so the careful profile asks"
    after = files(room.workspace)
    await room.decide(waiting.approval_id, ApprovalResponse(approved=True), ADA)
    outcome = await room.resume(waiting.approval_id)
    assert isinstance(outcome, Done)
    assert files(room.workspace) == before != after
    assert set(outcome.value["restored"]) == {"edited.md", "gone.md", "old", "old/moved.md"}
    assert set(outcome.value["removed"]) == {"here.md", "new", "new/deep", "new/deep/made.md"}
    assert (outcome.value["left"], outcome.value["outside"]) == ([], [])
    assert {one.since for one in (await room.changes_of(run)).changes} == {"operator"}


async def test_what_others_changed_stays_and_is_named(room: Room) -> None:
    root = room.workspace
    for name in ("since.md", "meanwhile.md", "mine.md"):
        await do(room, "write_file", path=name, content="one\n")
    await do(room, "write_file", path="folder/mine.md", content="one\n")
    (root / "meanwhile.md").write_text("of a person\n")
    await do(room, "write_file", path="meanwhile.md", content="two\n")
    run = await end_of_run(room)
    (root / "folder" / "theirs.md").write_text("of a person\n")
    (root / "since.md").write_text("of a person\n")
    await do(room, "undo_run", run=run)
    assert files(root) == {
        "folder": "/",
        "folder/theirs.md": "of a person\n",
        "meanwhile.md": "two\n",
        "since.md": "of a person\n",
    }
    (entry,) = [
        one for one in await room.timeline() if one.kind == "settled" and one.payload["tool"] == "undo_run"
    ]
    left = {one["path"]: one["because"] for one in entry.payload["result"]["left"]}
    assert set(left) == {"folder", "meanwhile.md", "since.md"}
    assert left["meanwhile.md"] == "outside changed it during the run, too"


async def test_what_a_run_did_outside_is_named(room: Room) -> None:
    room.register(send_letter)
    room.add_rule(lambda _call, _preview: Verdict("allow", "letters", "a test"))
    await do(room, "send_letter", to="Bob")
    await do(room, "write_file", path="a.md", content="a\n")
    run = await end_of_run(room)
    outcome = await do(room, "undo_run", run=run)
    assert [(one["tool"], one["outcome"]) for one in outcome.value["outside"]] == [("send_letter", "done")]
    assert [one.tool for one in (await room.changes_of(run)).outside] == ["send_letter"]


async def test_a_run_that_changed_nothing_or_is_not_there_is_refused(room: Room) -> None:
    await do(room, "list_files")
    run = await end_of_run(room)
    refused = await room.undo_run(run)
    assert isinstance(refused, Failed)
    assert refused.code is Code.CANNOT_UNDO
    unknown = await room.undo_run("nowhere")
    assert isinstance(unknown, Failed)
    assert unknown.code is Code.TASK_NOT_FOUND
    with pytest.raises(ToolError) as raised:
        await room.changes_of("nowhere")
    assert raised.value.code is Code.TASK_NOT_FOUND
