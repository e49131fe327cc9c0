import os
from pathlib import Path

from brasstag.sandbox.workspace.recover import sweep
from brasstag.sandbox.workspace.renames import call_in, private_name
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.ids import new_id
from tests.sandbox.support import contents


def test_a_private_name_tells_its_call() -> None:
    call_id = new_id("call")
    assert call_in(private_name(call_id, 12, "old")) == call_id
    for name in (".brasstag-notes.txt", ".brasstag-x-1.tmp~", "x.brasstag-a-1.tmp", ".brasstag"):
        assert call_in(name) is None


def test_sweeping_removes_what_dead_calls_left_and_keeps_what_they_had_taken(
    workspace: Workspace, data: Path
) -> None:
    (data / "d" / "e").mkdir(parents=True)
    (data / "d" / "e" / "file").write_text("file")
    (data / "d" / ".brasstag-dead-0.tmp").write_text("half")
    (data / "d" / "e" / ".brasstag-dead-1.old").write_text("taken")
    (data / ".brasstag-dead-2.src").symlink_to("somewhere")
    (data / ".brasstag-live-0.old").write_text("in use")
    (data / ".brasstag-mine.txt").write_text("not a private name")
    (data / ".git").mkdir()
    (data / ".git" / ".brasstag-dead-0.tmp").write_text("not ours to sweep")
    (data / ".brasstag-dead-3.old").mkdir()
    os.mkfifo(data / ".brasstag-dead-4.old")
    Path(os.fsdecode(os.fsencode(data) + b"/\xff")).mkdir()
    assert sweep(workspace, lambda call_id: call_id == "live") == 3
    left = {path for path in contents(data) if "brasstag" in path}
    assert left == {
        ".brasstag-live-0.old",
        ".brasstag-mine.txt",
        ".git/.brasstag-dead-0.tmp",
        ".brasstag-dead-3.old",
        ".brasstag-dead-4.old",
    }
    assert workspace.blobs.get(sha256(b"taken")) == b"taken"
    assert workspace.blobs.get(sha256(b"somewhere")) == b"somewhere"
    assert not workspace.blobs.has(sha256(b"half"))
