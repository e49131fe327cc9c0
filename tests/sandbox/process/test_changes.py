"""What a run changed lands exactly, or not at all and with a reason."""

import hashlib
import os
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.process.support import Project, until
from tests.sandbox.support import snapshot

MB = 1 << 20


def sh(confined: Project, script: str, **asked: Any) -> dict[str, Any]:
    confined.own()
    return confined.run("/bin/bash", "-ec", script, land=True, **asked)


@pytest.fixture
def tree(confined: Project) -> Project:
    confined.write("a.txt", "a")
    confined.write("b.txt", "b")
    confined.write("d/one", "one")
    confined.write("d/e/two", "two")
    (confined.data / "link").symlink_to("a.txt")
    confined.own()
    return confined


CASES = {
    "nothing": ("cat a.txt; touch a.txt; cp -p b.txt /tmp; cp -p /tmp/b.txt b.txt", []),
    "create": ("echo new > new; mkdir -p x/y; echo deep > x/y/z", ["new", "x", "x/y", "x/y/z"]),
    "overwrite": ("echo more >> a.txt; echo other > d/e/two", ["a.txt", "d/e/two"]),
    "delete": ("rm a.txt link; rm -r d/e", ["a.txt", "d/e", "d/e/two", "link"]),
    "delete all": ("rm -r *", ["a.txt", "b.txt", "d", "d/e", "d/e/two", "d/one", "link"]),
    "rename": ("mv a.txt c.txt", ["a.txt", "c.txt"]),
    "rename over": ("mv a.txt b.txt", ["a.txt", "b.txt"]),
    "rename a directory": ("mv d f", ["d", "d/e", "d/e/two", "d/one", "f", "f/e", "f/e/two", "f/one"]),
    "chmod": ("chmod 755 a.txt; chmod 700 d", ["a.txt", "d"]),
    "chmod and back": ("chmod 755 a.txt d; chmod 644 a.txt; chmod 755 d", []),
    "write and chmod": ("echo '#!/bin/sh' > run; chmod 750 run", ["run"]),
    "link": ("ln -s d/one inner; ln -s nowhere dangling; ln -sfn b.txt link", ["dangling", "inner", "link"]),
    "file to link": ("rm a.txt; ln -s b.txt a.txt", ["a.txt"]),
    "link to file": ("rm link; echo plain > link", ["link"]),
    "file to directory": ("rm a.txt; mkdir a.txt; echo x > a.txt/x", ["a.txt", "a.txt/x"]),
    "directory to file": ("rm -r d; echo plain > d", ["d", "d/e", "d/e/two", "d/one"]),
    "directory made anew": ("rm -r d; mkdir d; echo 1 > d/new", ["d/e", "d/e/two", "d/new", "d/one"]),
    "directory made anew as it was": ("cp -r d /tmp; rm -r d; cp -r /tmp/d d", []),
    "through a link": ("echo through > link", ["a.txt"]),
    "saved by renaming": ("echo saved > .tmp; mv .tmp a.txt", ["a.txt"]),
    "hard links": ("echo 1 > one; ln one two; ln a.txt three", ["one", "three", "two"]),
    "linked and unlinked": ("echo saved > .tmp; ln .tmp new; rm .tmp", ["new"]),
    "made and removed": ("echo x > x; mkdir y; rm -r x y", []),
    "sparse": ("truncate -s 20M sparse; echo end >> sparse", ["sparse"]),
    "odd names": (
        "touch -- -dash 'a b' $'new\\nline' $'\\t' '\"' \"'\" '\\' '*' é 中 " + "x" * 255,
        sorted(["-dash", "a b", "new\nline", "\t", '"', "'", "\\", "*", "é", "中", "x" * 255]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_set_lands_exactly(tree: Project, name: str, tmp_path: Path) -> None:
    script, paths = CASES[name]
    # The same script on a plain copy says what has to come out.
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", str(tree.data), str(copy)], check=True)
    subprocess.run(
        ["bash", "-ec", script.replace("/tmp", str(tmp_path))], cwd=copy, check=True, capture_output=True
    )

    answer = sh(tree, script)

    assert answer.get("made") is not None, answer
    assert sorted(path for path, _ in answer["made"]) == paths, answer
    assert snapshot(tree.data) == snapshot(copy)
    assert answer["left"] == []


def test_nothing_has_happened_before_it_lands(tree: Project) -> None:
    before = snapshot(tree.data)
    answer = tree.run("/bin/sh", "-c", "rm -r *; echo new > new; chmod 777 .")
    assert sorted(answer["entries"]) == [
        ["a.txt", "gone"],
        ["b.txt", "gone"],
        ["d", "gone"],
        ["link", "gone"],
        ["new", "file"],
    ]
    assert snapshot(tree.data) == before


def test_large_files_land_in_bounded_memory_and_sparse_ones_stay_sparse(confined: Project) -> None:
    before = confined.run("/bin/true")["largest"]
    answer = sh(
        confined,
        "truncate -s 120M sparse; printf x | dd of=sparse bs=1 seek=60M conv=notrunc status=none;"
        "head -c 60M /dev/urandom > dense; sha256sum dense sparse",
    )
    assert [path for path, _ in answer["made"]] == ["dense", "sparse"], answer
    assert answer["largest"] - before < 40 * MB
    sparse, dense = confined.data / "sparse", confined.data / "dense"
    assert (sparse.stat().st_size, dense.stat().st_size) == (120 * MB, 60 * MB)
    assert sparse.stat().st_blocks * 512 < 16 * MB
    for line in answer["stdout"].splitlines():
        digest, name = line.split()
        with (confined.data / name).open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == digest


def test_a_deep_tree_lands_or_is_refused_for_its_length(confined: Project) -> None:
    deep = "/".join(["deep"] * 100)
    answer = sh(confined, f"mkdir -p {deep}; echo bottom > {deep}/file")
    assert len(answer["made"]) == 101, answer
    assert (confined.data / deep / "file").read_text() == "bottom\n"
    too_deep = confined.python(
        """
        for _ in range(30):
            os.mkdir("n" * 200)
            os.chdir("n" * 200)
        open("file", "w").close()
        """,
        land=True,
    )
    assert too_deep["raised"] == "ToolError", too_deep
    assert "longer than" in too_deep["message"]
    assert sorted(os.listdir(confined.data)) == ["deep"]


REFUSED = {
    "pipe": ("mkfifo pipe", "NOT_SUPPORTED", "pipe"),
    "socket": (
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'",
        "NOT_SUPPORTED",
        "socket",
    ),
    "setuid": ("cp /bin/true t; chmod u+s t", "NOT_SUPPORTED", "setuid"),
    "sticky": ("mkdir -m 1777 t", "NOT_SUPPORTED", "sticky"),
    "name": ("touch $'bad\\xff'", "NOT_SUPPORTED", "UTF-8"),
    "link out": ("mkdir x; ln -s ../../outside x/out", "NOT_SUPPORTED", "out of the workspace"),
    "absolute link": ("ln -s /etc/passwd out", "NOT_SUPPORTED", "absolute"),
    "link to control": ("ln -s .git/config x", "NOT_SUPPORTED", "control file"),
    "new git": ("mkdir .git; echo evil > .git/config", "CONTROL_FILE", "control file"),
    "nested git": ("mkdir -p sub/.git; echo evil > sub/.git/config", "CONTROL_FILE", "control file"),
    "shouted git": ("mkdir .GIT", "CONTROL_FILE", "control file"),
    "settings": ("echo evil > brasstag.toml", "CONTROL_FILE", "control file"),
    "state": ("mkdir .brasstag", "CONTROL_FILE", "control file"),
    "environment": ("mkdir x; touch x/pyvenv.cfg", "CONTROL_FILE", "control file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_land_refuses_the_whole_set(tree: Project, name: str) -> None:
    script, code, word = REFUSED[name]
    before = snapshot(tree.data)
    answer = sh(tree, f"echo innocent > innocent; {script}")
    assert answer.get("raised") in ("ToolError", "SecurityError"), answer
    assert answer["code"] == code, answer
    assert word in answer["message"], answer
    assert answer["details"]["refused"]
    assert snapshot(tree.data) == before


def test_control_files_that_are_there_are_read_only_or_hidden(confined: Project) -> None:
    confined.write(".brasstag/state.db", "the state")
    confined.write("brasstag.toml", "the rules")
    confined.write("sub/.git/config", "nested")
    confined.write("env/pyvenv.cfg", "home = /usr/bin")
    confined.own()
    found = confined.attack(
        """
        attempt("state", lambda: open(".brasstag/state.db").read())
        attempt("new state", lambda: open(".brasstag/new", "w").close())
        attempt("rules", lambda: open("brasstag.toml").read()[0])
        attempt("new rules", lambda: open("brasstag.toml", "w").close())
        attempt("away", lambda: os.rename("brasstag.toml", "elsewhere"))
        attempt("remove", lambda: os.unlink("brasstag.toml"))
        attempt("state away", lambda: os.rename(".brasstag", "elsewhere"))
        attempt("environment", lambda: open("env/new", "w").close())
        """
    )
    assert not [name for name, what in found.items() if what.startswith("open")], found
    nested = sh(confined, "echo evil > sub/.git/config; cat sub/.git/config")
    assert nested["code"] == "CONTROL_FILE", nested
    moved = sh(confined, "mv sub other")
    assert moved["code"] == "CONTROL_FILE", moved
    assert (confined.data / "sub/.git/config").read_text() == "nested"


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(tree: Project) -> None:
    tree.runner.send(
        "run",
        project=str(tree.path),
        argv=[
            "/bin/sh",
            "-c",
            "echo from the code > a.txt; until grep -q now b.txt; do sleep 0.05; done",
        ],
        stdin="",
        land=True,
        limits={"wall_seconds": 20.0},
    )
    until(lambda: any((tree.path / "scratch").glob("run-*/upper/a.txt")))
    tree.write("a.txt", "from somebody else")
    tree.write("b.txt", "now")
    answer = tree.runner.answer()
    assert answer["code"] == "CHANGED", answer
    assert (tree.data / "a.txt").read_text() == "from somebody else"


def test_files_of_another_group_are_changed_all_the_same(tree: Project) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files to another group")
    for name in ("a.txt", "d"):
        os.chown(tree.data / name, -1, 100)
    answer = tree.run(
        "/bin/sh", "-ec", "echo changed >> a.txt; echo new > d/new; rm d/one; chmod 700 d/e", land=True
    )
    assert answer["confinement"]["overlay"] == ("overlay" if tree.runner.user == "root" else "copy"), answer
    assert sorted(answer["made"]) == [
        ["a.txt", "overwrites"],
        ["d/e", "overwrites"],
        ["d/new", "creates"],
        ["d/one", "deletes"],
    ]
    assert (tree.data / "a.txt").read_text() == "achanged\n"
    assert stat.S_IMODE((tree.data / "d/e").stat().st_mode) == 0o700
    if tree.runner.user == "root":
        assert (tree.data / "a.txt").stat().st_gid == 100


def test_a_copy_shows_the_same_changes_as_an_overlay(tree: Project) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files to another group")
    tree.write(".git/config", "kept")
    tree.own()
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(tree.data / "s"))
    tree.own()
    script = "rm -r d; mkdir d; echo x > d/one; mv a.txt c.txt; ln -sfn c.txt link; chmod 600 b.txt; cat .git/config"
    overlay = tree.run("/bin/bash", "-ec", script)
    os.chown(tree.data / "b.txt", -1, 100)
    copy = tree.run("/bin/bash", "-ec", script, land=True)
    if tree.runner.user == "ordinary":
        assert (overlay["confinement"]["overlay"], copy["confinement"]["overlay"]) == ("overlay", "copy")
    assert copy["stdout"] == overlay["stdout"] == "kept"
    assert sorted(path for path, _ in copy["made"]) == [
        "a.txt",
        "b.txt",
        "c.txt",
        "d/e",
        "d/e/two",
        "d/one",
        "link",
    ]
    evil = tree.run("/bin/bash", "-c", "echo evil > .git/config || mkdir -p x/.git", land=True)
    assert evil["code"] == "CONTROL_FILE", evil
    assert (tree.data / ".git/config").read_text() == "kept"
