"""Undo: what a call changed is as it was, or nothing is touched."""

from pathlib import Path

import pytest

from brasstag import Approval, ApprovalResponse, Approver, Done, Failed, Outcome, Room, Waiting
from brasstag.words.errors import Code

ADA = Approver("ada", "terminal")


async def approved(room: Room, outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Waiting):
        return outcome
    approval: Approval = await room.approval(outcome.approval_id)
    await room.decide(approval.id, ApprovalResponse(True), ADA)
    return await room.resume(approval.id)


async def done(room: Room, name: str, **arguments: object) -> str:
    outcome = await approved(room, await room.call(name, arguments))
    assert isinstance(outcome, Done), outcome
    assert outcome.tag is not None
    return outcome.tag.id


def snapshot(root: Path) -> dict[str, tuple[str, int, bytes]]:
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        kind = "link" if path.is_symlink() else "dir" if path.is_dir() else "file"
        data = (
            str(path.readlink()).encode() if kind == "link" else b"" if kind == "dir" else path.read_bytes()
        )
        found[str(path.relative_to(root))] = (kind, status.st_mode if kind != "link" else 0, data)
    return found


@pytest.fixture
def tree(room: Room) -> Path:
    root = room.workspace
    (root / "d" / "e").mkdir(parents=True)
    (root / "a.md").write_text("a")
    (root / "a.md").chmod(0o640)
    (root / "d" / "b.sh").write_text("b")
    (root / "d" / "b.sh").chmod(0o755)
    (root / "d" / "e" / "c.bin").write_bytes(b"\0\xff")
    (root / "d" / "link").symlink_to("b.sh")
    return root


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", {"path": "new/deep/n.md", "content": "n"}),
        ("write_file", {"path": "a.md", "content": "other"}),
        ("edit_file", {"path": "d/b.sh", "search_text": "b", "replace_text": "B"}),
        ("delete_file", {"path": "a.md"}),
        ("delete_file", {"path": "d", "recursive": True}),
        ("delete_file", {"path": "d/link"}),
        ("move_file", {"from": "a.md", "to": "z/a.md"}),
        ("move_file", {"from": "a.md", "to": "d/b.sh", "overwrite": True}),
        ("move_file", {"from": "d", "to": "moved"}),
    ],
)
async def test_undo_brings_everything_back(
    room: Room, tree: Path, name: str, arguments: dict[str, object]
) -> None:
    before = snapshot(tree)
    tag = await done(room, name, **arguments)
    after = snapshot(tree)
    assert after != before
    undone = await approved(room, await room.undo(tag))
    assert isinstance(undone, Done), undone
    assert snapshot(tree) == before
    assert undone.tag is not None
    redone = await approved(room, await room.undo(undone.tag.id))
    assert isinstance(redone, Done), redone
    assert snapshot(tree) == after
    assert (await room.verify()).ok


async def test_any_tag_of_a_call_names_it(room: Room, tree: Path) -> None:
    await done(room, "write_file", path="a.md", content="other")
    for entry in [entry for entry in await room.timeline() if entry.call_id]:
        assert isinstance(await room.undo(entry.tag), Waiting)


async def test_undo_is_judged_like_any_other_call(room: Room, tree: Path) -> None:
    tag = await done(room, "write_file", path="a.md", content="other")
    assert isinstance(await room.undo(tag), Waiting)


async def test_undo_refuses_after_later_edits(room: Room, tree: Path) -> None:
    tag = await done(room, "write_file", path="a.md", content="other")
    (tree / "a.md").write_text("edited since")
    outcome = await room.undo(tag)
    assert isinstance(outcome, Failed)
    assert outcome.code in (Code.CHANGED, Code.CANNOT_UNDO)
    assert (tree / "a.md").read_text() == "edited since"


async def test_undoing_twice_is_refused(room: Room, tree: Path) -> None:
    tag = await done(room, "write_file", path="a.md", content="other")
    assert isinstance(await approved(room, await room.undo(tag)), Done)
    assert isinstance(await room.undo(tag), Failed)


async def test_a_call_that_changed_nothing_cannot_be_undone(room: Room, tree: Path) -> None:
    reading = await done(room, "read_file", path="a.md")
    for tag, code in ((reading, Code.CANNOT_UNDO), ("tag_nothing", Code.TAG_NOT_FOUND)):
        outcome = await room.undo(tag)
        assert isinstance(outcome, Failed)
        assert outcome.code is code
