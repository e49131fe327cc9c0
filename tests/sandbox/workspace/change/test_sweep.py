import os
from pathlib import Path

from brasstag.sandbox.workspace.change.recover import sweep
from brasstag.sandbox.workspace.change.renames import call_in, private_name
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.ids import TurnCall, new_id
from tests.sandbox.support import contents


def test_a_private_name_tells_its_call() -> None:
    for call_id in (new_id("call"), TurnCall(new_id("task"), 3, 11).id):
        assert call_in(private_name(call_id, 12, "old")) == call_id
    for name in (".brasstag-notes.txt", ".brasstag-x-1.tmp~", "x.brasstag-a-1.tmp", ".brasstag"):
        assert call_in(name) is None


def test_sweeping_removes_what_dead_calls_left_unless_it_is_the_only_copy(
    workspace: Workspace, data: Path
) -> None:
    for known in (b"taken", b"somewhere"):
        workspace.blobs.put(known)
    (data / "d" / "e").mkdir(parents=True)
    (data / "d" / "e" / "file").write_text("file")
    (data / "d" / ".brasstag-dead-0.tmp").write_text("half")
    (data / "d" / "e" / ".brasstag-dead-1.old").write_text("taken")
    (data / ".brasstag-dead-2.src").symlink_to("somewhere")
    (data / ".brasstag-dead-0.run").write_text("")
    kept = {
        ".brasstag-live-0.old": "taken",
        ".brasstag-dead-5.old": "nobody else has this",
        ".brasstag-mine.txt": "not a private name",
        ".git/.brasstag-dead-0.tmp": "not ours to sweep",
    }
    (data / ".git").mkdir()
    for path, text in kept.items():
        (data / path).write_text(text)
    (data / ".brasstag-dead-3.old").mkdir()
    os.mkfifo(data / ".brasstag-dead-4.old")
    Path(os.fsdecode(os.fsencode(data) + b"/\xff")).mkdir()
    assert sweep(workspace, lambda call_id: call_id == "live") == 4
    left = {path for path in contents(data) if "brasstag" in path}
    assert left == {*kept, ".brasstag-dead-3.old", ".brasstag-dead-4.old"}
    assert contents(data)["d/e/file"] == b"file"
