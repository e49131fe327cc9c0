"""What code changes lands exactly as it would have without a sandbox, or nothing does and the reason is told.

Every script runs twice: in a room, and by the same user in a plain copy of the same workspace.
"""

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brasstag.sandbox.process.detect import programs
from tests.sandbox.process.support import REPOSITORY, USERS, Project, Runner
from tests.sandbox.support import Snapshot, snapshot

MB = 1 << 20
STRANGER = 12345
LAYERS = [(user, "overlay") for user in USERS]
# Where files belong to others, neither an ordinary user nor root in a container can lay a layer over them.
COPIES = [("ordinary", "copy"), ("weak root", "copy")] if os.geteuid() == 0 else []
FOOTINGS = LAYERS + COPIES[:1]
"""A copy is made and compared alike whoever makes it."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Whose rooms they are, and what code stands on in them."""

    runner: Runner
    footing: str
    project: Project
    """One for all its tests: what a machine can do is tried once for each."""


def standing_on(stands: Sequence[Any]) -> pytest.MarkDecorator:
    """Run a test only on these."""
    return pytest.mark.parametrize("stand", stands, indirect=True, ids=" on ".join)


# What holds for an ordinary user is tried as root, too, which takes as long again.
MARKED = [pytest.param(stand, marks=pytest.mark.slow if stand[0] == "root" else ()) for stand in FOOTINGS]


@pytest.fixture(scope="module", params=MARKED, ids=" on ".join)
def stand(request: pytest.FixtureRequest) -> Iterator[Stand]:
    if next(programs(REPOSITORY, ""), None) is None:
        pytest.skip("no bubblewrap here; scripts/bubblewrap.sh installs it")
    user, footing = request.param
    runner = Runner(user)
    yield Stand(runner, footing, runner.project())
    runner.close()


class Room:
    """A project with a workspace full of things to change, and the room over it."""

    def __init__(self, stand: Stand, project: Project | None = None) -> None:
        self.stand = stand
        self.project = project or stand.project
        self.data = self.project.data
        self.copy = self.project.path.with_name(f"{self.project.path.name}-copy")
        for place in (self.data, self.copy):
            subprocess.run(["chmod", "-Rf", "u+rwx", str(place)], check=False)
            subprocess.run(["rm", "-rf", str(place)], check=True)
        self.data.mkdir()
        for name in ("a.txt", "b.txt", "d/one", "d/e/two", "closed/in", "shared/old", "pair"):
            self.project.write(name, f"{name}\n")
        os.link(self.data / "pair", self.data / "other")
        (self.data / "empty").mkdir()
        (self.data / "link").symlink_to("a.txt")
        (self.data / "outward").symlink_to("/etc/passwd")
        os.mkfifo(self.data / "pipe")
        (self.data / "odd").mkdir()
        Path(os.fsdecode(bytes(self.data / "odd") + b"/\xff")).touch()
        self.project.own()
        (self.data / "closed").chmod(0o555)
        (self.data / "shared").chmod(0o2775)
        if stand.footing == "copy":
            self.project.write("of others", "theirs\n", 0o644)
            self.project.write("secret of others", "theirs\n", 0o600)
            for name in ("of others", "secret of others"):
                os.chown(self.data / name, STRANGER, STRANGER)

    def call(self, tool: str, **asked: Any) -> dict[str, Any]:
        approve = asked.pop("approve", True)
        return self.stand.runner.ask(
            "call",
            project=str(self.project.path),
            tool=tool,
            arguments=asked.pop("arguments"),
            approve=approve,
            **asked,
        )

    def bash(self, script: str, **asked: Any) -> dict[str, Any]:
        arguments = {"language": "bash", "code": f"set -e\n{script}"}
        return self.call("run_code", arguments=arguments, **asked)

    def left(self) -> list[str]:
        """Return what runs have left beside the workspace."""
        user = self.project.path.with_name(f"{self.project.path.name}-user")
        return [
            str(path) for place in (user, self.project.path / ".brasstag") for path in place.rglob("run-*")
        ]

    def would_be(self, script: str) -> Snapshot:
        """Return what the script makes of a copy of the workspace, run plainly by the same user."""
        subprocess.run(["cp", "-a", str(self.data), str(self.copy)], check=True)
        user: dict[str, Any] = {}
        if self.stand.runner.uid != os.geteuid():
            user = {"user": self.stand.runner.uid, "group": self.stand.runner.uid, "extra_groups": []}
        subprocess.run(["bash", "-ec", script], cwd=self.copy, check=True, capture_output=True, **user)
        return snapshot(self.copy)


@pytest.fixture
def room(stand: Stand) -> Room:
    return Room(stand)


EXACT = {
    "create": "echo new > new; mkdir -p x/y; echo deep > x/y/z; touch nothing; mkdir hollow",
    "overwrite": "echo other > a.txt; echo other > d/e/two",
    "append and cut": "echo more >> a.txt; : > b.txt; truncate -s 2 d/one",
    "delete": "rm a.txt link outward; rmdir empty; rm -r d",
    "rename": "mv a.txt c.txt; mv d/one 'd/e/one more'",
    "rename a directory": "mv d f",
    "rename over a file": "mv a.txt b.txt; mv link d/one",
    "rename by case": "mv a.txt A.TXT; mv d D",
    "file to directory": "rm a.txt; mkdir a.txt; echo in > a.txt/in",
    "directory to file": "rm -r d; echo plain > d",
    "chmod": "chmod +x a.txt; chmod 600 b.txt; chmod 700 d; chmod 2755 shared",
    "chmod and change": "chmod 700 d; echo x >> d/one; rm d/e/two; chmod 500 d/e",
    "links": "ln -s d/one inner; ln -s ../a.txt d/up; ln -s nowhere dangling; ln -sfn b.txt link; ln -s d dir",
    "file to link and back": "rm a.txt; ln -s b.txt a.txt; rm link; echo plain > link",
    "through a link": "echo through > link",
    "hard links": "echo 1 > one; ln one two; echo 2 >> two; ln a.txt three",
    "closed directories": "mkdir -p m/n; echo x > m/n/f; chmod 555 m/n; chmod 500 m; mkdir z; echo z > z/z; chmod 0 z",
    "opened directory": "chmod 755 closed; echo new > closed/new; echo more >> closed/in",
    "in a shared directory": "mkdir shared/sub; echo x > shared/sub/f; echo y > shared/old",
    "sparse": "truncate -s 64M sparse; echo end >> sparse",
    "deep": "mkdir -p deep$(printf '/d%.0s' {1..200}); echo x > deep$(printf '/d%.0s' {1..200})/f",
    "odd names": "touch -- -dash 'a b' ' ' 'x.' $'new\\nline' $'e\\u0301' $'\\u00e9' 😀 '*' '\\' '\"' "
    + "n" * 255,
    "times and attributes": "touch -d 2001-01-01 a.txt; echo x >> a.txt; touch b.txt",
    "all at once": "rm -r d; mkdir d; echo x > d/one; mv a.txt d; ln -s d/a.txt a.txt; chmod 700 d; rm link",
}
NOTED = {"hard links": 2}


@pytest.mark.parametrize("name", EXACT)
def test_what_code_changes_is_what_it_would_have_changed_plainly(room: Room, name: str) -> None:
    expected = room.would_be(EXACT[name])
    answer = room.bash(EXACT[name])
    assert (answer.get("outcome"), answer.get("exit_code")) == ("done", 0), answer
    assert snapshot(room.data) == expected
    assert answer["confinement"]["overlay"] == room.stand.footing
    assert len(answer.get("notes", ())) == NOTED.get(name, 0), answer
    assert answer["findings"] == []
    assert room.left() == []


REFUSED = {
    "absolute link": ('ln -s "$PWD/a.txt" bad', "NOT_SUPPORTED", "bad", "make it relative"),
    "link out": ("ln -s ../../outside bad", "NOT_SUPPORTED", "bad", "out of the workspace"),
    "moved link out": ("mv outward bad", "NOT_SUPPORTED", "bad", "absolute"),
    "pipe": ("mkfifo bad", "NOT_SUPPORTED", "bad", "pipe"),
    "socket": (
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"bad\")'",
        "NOT_SUPPORTED",
        "bad",
        "socket",
    ),
    "setuid": ("cp /bin/true bad; chmod u+s bad", "NOT_SUPPORTED", "bad", "setuid"),
    "setgid": ("mkdir bad; chmod g+s bad", "NOT_SUPPORTED", "bad", "setgid"),
    "not UTF-8": ("touch $'bad\\xff'", "NOT_SUPPORTED", "bad", "not UTF-8"),
    "not UTF-8 below": ("rm -r odd", "INVALID_PATH", "odd", "not UTF-8"),
    "control file": ("mkdir .git", "CONTROL_FILE", ".git", "control file"),
    "environment": ("mkdir bad; touch bad/pyvenv.cfg", "CONTROL_FILE", "bad", "control file"),
    "too deep": (
        # Deeper than may be, and then longer than any path the kernel takes.
        'python3 -c \'import os\nfor name in ["bad"] * 260 + ["bad" * 80] * 40: os.mkdir(name); os.chdir(name)\'',
        "NOT_SUPPORTED",
        "bad",
        "directories deep",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_land_keeps_everything_else_from_landing(room: Room, name: str) -> None:
    script, code, path, words = REFUSED[name]
    before = snapshot(room.data)
    answer = room.bash(f"echo said; echo innocent > innocent; {script}")
    assert answer.get("code") == code, answer
    assert words in answer["message"], answer
    details = answer["details"]
    assert any(refused["path"].startswith(path) for refused in details["refused"]), answer
    assert details["ran"]["stdout"] == "said\n"
    assert "+innocent" in (room.project.path / details["patch"]).read_text()
    assert snapshot(room.data) == before
    assert answer["findings"] == []
    assert room.left() == []


def test_a_pipe_of_somebody_else_is_left_alone(room: Room) -> None:
    before = snapshot(room.data)
    answer = room.bash("rm -f pipe")
    if room.stand.footing == "copy":
        # There is none in a copy.
        assert (answer["outcome"], answer["changes"]) == ("done", []), answer
    else:
        assert answer.get("code") == "NOT_A_FILE", answer
    assert snapshot(room.data) == before


def test_one_of_several_names_of_a_file_changes_alone_and_that_is_said(room: Room) -> None:
    answer = room.bash("echo more >> pair")
    assert answer["outcome"] == "done", answer
    assert (room.data / "pair").read_text() == "pair\nmore\n"
    assert (room.data / "other").read_text() == "pair\n"
    assert answer["notes"] == ["pair has other names (hard links); they keep what they hold"]


def test_a_rename_the_layer_cannot_make_is_an_error_of_the_code(room: Room) -> None:
    before = snapshot(room.data)
    answer = room.bash('python3 -c \'import os; os.rename("d", "f")\'')
    if room.stand.footing == "copy":
        assert (room.data / "f/e/two").exists()
    else:
        assert (answer["outcome"], answer["exit_code"], answer["changes"]) == ("done", 1, [])
        assert "cross-device" in answer["stderr"]
        assert snapshot(room.data) == before


def test_a_file_larger_than_code_may_write_is_an_error_of_the_code(room: Room) -> None:
    answer = room.bash("truncate -s 10G huge")
    assert (answer["outcome"], answer["exit_code"]) == ("done", 1), answer
    assert "File too large" in answer["stderr"]


@standing_on([*COPIES[:1], pytest.param(LAYERS[0], marks=pytest.mark.slow if COPIES else ())])
def test_too_many_names_of_a_large_file_are_refused(room: Room) -> None:
    answer = room.bash("head -c 40M /dev/urandom > bad; for i in {1..30}; do ln bad bad$i; done")
    assert answer.get("code") == "NOT_SUPPORTED", answer
    assert "hard link" in answer["message"]
    assert not (room.data / "bad").exists()


def test_changes_are_asked_about_and_land_exactly(stand: Stand) -> None:
    room = Room(stand, stand.runner.project())
    script = EXACT["all at once"]
    expected = room.would_be(script)
    before = snapshot(room.data)
    waiting = room.bash(script, profile="careful", approve=False)
    assert waiting["outcome"] == "waiting", waiting
    assert snapshot(room.data) == before
    done = room.bash(script, approve=True)
    assert (done["outcome"], done["waited"] >= 1) == ("done", True), done
    assert snapshot(room.data) == expected


@standing_on([stand for stand in FOOTINGS if stand[0] == "ordinary"])
def test_what_may_not_be_changed_where_it_lies_changes_nothing(room: Room) -> None:
    before = snapshot(room.data)
    answer = room.bash("echo said; echo x > new; chmod 755 closed; rm closed/in; chmod 555 closed")
    assert answer.get("code") == "PERMISSION_DENIED", answer
    assert answer["details"]["ran"]["stdout"] == "said\n"
    assert "+x" in (room.project.path / answer["details"]["patch"]).read_text()
    assert snapshot(room.data) == before


# Only root can give files to others.
if COPIES:

    @standing_on(COPIES)
    def test_what_belongs_to_others_stays_theirs(room: Room) -> None:
        ours = "rm 'of others'; echo ours > 'of others'"
        answer = room.bash(f"cat 'of others'; cat 'secret of others' || echo closed; {ours}")
        assert answer["outcome"] == "done", answer
        assert (room.data / "of others").read_text() == "ours\n"
        assert (room.data / "secret of others").read_text() == "theirs\n"
        if room.stand.runner.user == "ordinary":
            assert answer["stdout"] == "theirs\nclosed\n"
            stolen = room.bash("chmod 600 'secret of others'; echo x > 'secret of others'")
            assert stolen.get("code") == "NOT_SUPPORTED", stolen
            assert (room.data / "secret of others").read_text() == "theirs\n"


@standing_on(LAYERS[:1])
def test_a_large_file_lands_in_bounded_memory(stand: Stand) -> None:
    lands_in_bounded_memory(stand, 192)


@pytest.mark.slow
@standing_on(LAYERS[:1])
def test_a_gigabyte_lands_in_bounded_memory(stand: Stand) -> None:
    if shutil.disk_usage(stand.runner.home).free < 8 << 30:
        pytest.skip("the disk is too full")
    lands_in_bounded_memory(stand, 1024)


def lands_in_bounded_memory(stand: Stand, pieces: int) -> None:
    room = Room(stand)
    before = room.bash("true")["largest"]
    # The same bytes over and over are as dense as others, and made faster.
    made = f"head -c 1M /dev/urandom > /tmp/m; for i in {{1..{pieces}}}; do cat /tmp/m; done > huge"
    answer = room.bash(made)
    assert answer["outcome"] == "done", answer
    assert answer["largest"] - before < 100 * MB
    huge = room.data / "huge"
    assert huge.stat().st_size == pieces * MB <= huge.stat().st_blocks * 512
    with huge.open("rb") as file:
        piece = file.read(MB)
        whole = hashlib.sha256()
        for _ in range(pieces):
            whole.update(piece)
        file.seek(0)
        assert hashlib.file_digest(file, "sha256").digest() == whole.digest()
    assert stat.S_IMODE(huge.stat().st_mode) == 0o644
