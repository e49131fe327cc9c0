"""A patch of what did not land is one that `git apply` takes, whatever the files are called and hold."""

import os
import subprocess
from pathlib import Path

from brasstag.engine.calls.patches import keep_patch
from brasstag.store.contents.blobs import Blobs
from brasstag.words.previews import ABSENT, DIRECTORY, Change, file_state, link_state

ODD = 'sp "q\n\t é'
LONG = "".join(f"{number}\n" for number in range(4000))
OLD = {
    "a": "one\ftwo\u2028x\rthree\nend",
    "gone": "x\n",
    "run": "r\n",
    "open": "o\n",
    "to link": "file\n",
    ODD: "old\n",
    "long": LONG,
}


def test_git_applies_a_patch_of_every_kind_of_change(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    data = tmp_path / "data"
    data.mkdir()
    for name, text in OLD.items():
        (data / name).write_text(text, newline="")
    (data / "link").symlink_to("a")

    def file(text: str) -> str:
        return file_state(blobs.put(text.encode()))

    def link(target: str) -> str:
        return link_state(blobs.put(target.encode()))

    changes = [
        Change("d", ABSENT, DIRECTORY, mode=0o755),
        Change("d/new", ABSENT, file("first\nno end"), mode=0o755),
        Change("empty", ABSENT, file(""), mode=0o644),
        Change("a", file(OLD["a"]), file("one\ftwo\u2028x\rTHREE\nend\n"), before_mode=0o644),
        Change("gone", file("x\n"), ABSENT, before_mode=0o644),
        Change("run", file("r\n"), file("r\n"), mode=0o755, before_mode=0o644),
        Change("open", file("o\n"), file("o\n"), mode=0o777, before_mode=0o644),
        Change("gate", DIRECTORY, DIRECTORY, mode=0o777, before_mode=0o755),
        Change("link", link("a"), link("run")),
        Change("to link", file("file\n"), link("a"), before_mode=0o644),
        Change(ODD, file("old\n"), file("new\n"), mode=0o644, before_mode=0o644),
        Change("binary", ABSENT, file("\0"), mode=0o644),
        Change("long", file(LONG), file(LONG[::-1]), before_mode=0o644),
    ]
    (tmp_path / "state").mkdir()
    name = keep_patch(tmp_path / "state" / "patches", "call:1", changes, blobs)
    subprocess.run(["git", "apply", str(tmp_path / name)], cwd=data, check=True)
    found = {path.name: path.read_bytes().decode() for path in data.rglob("*") if path.is_file()}
    assert found["new"] == "first\nno end"
    assert found["a"] == found["to link"] == "one\ftwo\u2028x\rTHREE\nend\n"
    assert (found["empty"], found[ODD], found["long"]) == ("", "new\n", LONG[::-1])
    assert {"gone", "binary"}.isdisjoint(found)
    assert (os.readlink(data / "link"), os.readlink(data / "to link")) == ("run", "a")
    assert [(data / one).stat().st_mode & 0o777 for one in ("run", "d/new")] == [0o755, 0o755]
    patch = (tmp_path / name).read_text()
    assert "# not shown here: binary" in patch
    assert "# open: mode 644 → 777\ndiff --git a/open b/open\nold mode 100644\nnew mode 100755\n" in patch
    assert "# not shown here: gate, directory becomes directory with mode 755 → 777\n" in patch
    assert "new file mode 120000\n" in patch
