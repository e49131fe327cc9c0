"""What others do to the workspace while code runs, and links that would lead out of it: neither is lost, nor lands."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brasstag.sandbox.process.changes.changes import MOST_CHANGES, ChangeSet
from brasstag.sandbox.process.changes.changes_reader import changes_in_copy
from brasstag.sandbox.process.changes.copy import Bounds, copy_tree
from brasstag.sandbox.process.changes.stage import stage
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.errors import Code
from tests.sandbox.process.support import SECRET, Project, until
from tests.sandbox.support import fails, open_workspace, snapshot

OTHERS_GROUP = 100


@pytest.fixture(params=["all its own", "with files of others"])
def tree(request: pytest.FixtureRequest, confined: Project) -> Project:
    confined.write("f", "one\n")
    confined.write("go", "wait")
    confined.write("d/a", "a")
    confined.write("d/e/deep", "deep")
    confined.own()
    if os.geteuid() == 0 and request.param == "with files of others":
        # An ordinary user now works on a copy.
        os.chown(confined.data / "go", -1, OTHERS_GROUP)
    return confined


def run_while(tree: Project, script: str, others: Callable[[Path], object]) -> dict[str, Any]:
    """Run a script, let others work once it is through, and land what it changed."""
    waits = "echo > started; until grep -q now go; do sleep 0.02; done"
    tree.runner.send(
        "run",
        project=str(tree.path),
        argv=["/bin/bash", "-ec", f"{script}; {waits}"],
        stdin="",
        land=True,
        limits={"wall_seconds": 30.0},
    )
    upper: list[Path] = []
    until(lambda: bool(upper.extend((tree.path / "scratch").glob("run-*/upper/started")) or upper))
    others(tree.data)
    copied = upper[0].with_name("go")
    (copied if copied.exists() else tree.data / "go").write_text("now")
    return tree.runner.answer()


def paths_refused(answer: dict[str, Any]) -> list[str]:
    assert answer.get("code") == "CHANGED", answer
    assert "while the code ran" in answer["message"]
    return [refused["path"] for refused in answer["details"]["refused"]]


def test_what_a_person_wrote_meanwhile_is_not_lost(tree: Project) -> None:
    def append(data: Path) -> None:
        with (data / "f").open("a") as file:
            file.write("person's line\n")

    answer = run_while(tree, "s=$(cat f); printf '%s\\nagent\\n' \"$s\" > f", append)
    assert paths_refused(answer) == ["f"]
    assert (tree.data / "f").read_text() == "one\nperson's line\n"


REMOVALS = {
    "removed": "rm -r d",
    "made anew": "rm -r d; mkdir d",
    "renamed": "mv d moved",
    "a file now": "rm -r d; echo plain > d",
    "a link now": "rm -r d; ln -s f d",
}


@pytest.mark.parametrize("name", REMOVALS)
def test_no_file_goes_with_its_directory_that_the_code_never_saw(tree: Project, name: str) -> None:
    answer = run_while(tree, REMOVALS[name], lambda data: (data / "d/e/person.txt").write_text("precious"))
    assert paths_refused(answer) == ["d/e/person.txt"]
    assert (tree.data / "d/e/person.txt").read_text() == "precious"
    assert (tree.data / "d/a").read_text() == "a"


def test_a_file_moved_into_a_directory_that_goes_stays(tree: Project) -> None:
    outside = tree.write("../outside/old", "old and precious")
    answer = run_while(tree, "rm -r d", lambda data: outside.rename(data / "d/old"))
    assert paths_refused(answer) == ["d/old"]
    assert (tree.data / "d/old").read_text() == "old and precious"


def test_a_file_that_both_made_is_the_persons(tree: Project) -> None:
    answer = run_while(tree, "echo code > new", lambda data: (data / "new").write_text("person"))
    assert paths_refused(answer) == ["new"]
    assert (tree.data / "new").read_text() == "person"


def test_what_others_do_elsewhere_is_no_reason_to_refuse(tree: Project) -> None:
    answer = run_while(tree, "rm -r d/e; echo x > d/new", lambda data: (data / "d/theirs").write_text("1"))
    assert "made" in answer, answer
    assert sorted(os.listdir(tree.data / "d")) == ["a", "new", "theirs"]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "data/d").mkdir(parents=True)
    (tmp_path / "data/d/a").write_text("a")
    return open_workspace(tmp_path)


def changes_of(workspace: Workspace, copy: Path, work: Callable[[], object]) -> ChangeSet:
    copy.mkdir()
    with workspace.directory(".", os.O_RDONLY) as root:
        before = copy_tree(root, copy, Bounds(workspace.control.covers))
    work()
    return changes_in_copy(workspace, copy, before)


def test_what_comes_between_a_look_at_the_changes_and_their_staging_refuses_them(
    workspace: Workspace, tmp_path: Path
) -> None:
    def remove() -> None:
        (tmp_path / "copy/d/a").unlink()
        (tmp_path / "copy/d").rmdir()

    with workspace:
        changes = changes_of(workspace, tmp_path / "copy", remove)
        (tmp_path / "data/d/late").write_text("late")
        with fails(Code.CHANGED) as caught:
            stage(changes, Draft(workspace, writable=True))
        assert "d/late" in caught.value.message


def test_no_more_paths_change_at_once_than_land_in_bounded_time(workspace: Workspace, tmp_path: Path) -> None:
    def make() -> None:
        for number in range(MOST_CHANGES + 1):
            (tmp_path / "copy" / f"{number}").touch()

    with workspace:
        changes = changes_of(workspace, tmp_path / "copy", make)
        assert changes.entries == ()
        with fails(Code.TOO_LARGE) as caught:
            stage(changes, Draft(workspace, writable=True))
        assert str(MOST_CHANGES) in caught.value.message


DEEP = "mkdir -p a/b/c; cd a/b/c; ln -s ../../.. s"
THEIRS = {
    "theirs": "../outside",
    "lower": "d",
    "climbs": "lower/../outside/secret.txt",
    "falls": "empty/../outside/secret.txt",
}
LED_OUT = {
    "through a link of the set": (f"{DEEP}; ln -s s/../outside/secret.txt t", "a/b/c/t"),
    "in the other order": (
        f"mkdir -p a/b/c; cd a/b/c; ln -s z/../outside/secret.txt t; cd - >/dev/null; {DEEP.replace(' s', ' z')}",
        "a/b/c/t",
    ),
    "to the directory above": (f"{DEEP}; ln -s s/.. cfg", "a/b/c/cfg"),
    "through a directory, later a link": ("mkdir s; ln -s s/../outside t", "t"),
    "through a link of a person": ("ln -s theirs/secret.txt t", "t"),
    "through a link to that": ("ln -s theirs t; ln -s t/secret.txt u", "u"),
    "by a link that leads elsewhere now": ("ln -sfn . lower", "climbs"),
    "by a link in place of a directory": ("rmdir empty; ln -s . empty", "falls"),
}


@pytest.mark.parametrize("name", LED_OUT)
def test_no_link_lands_that_leads_out_through_another(tree: Project, name: str) -> None:
    script, path = LED_OUT[name]
    (tree.data / "empty").mkdir()
    for link, target in THEIRS.items():
        (tree.data / link).symlink_to(target)
    for place in ("empty", *THEIRS):
        os.chown(tree.data / place, tree.runner.uid, -1, follow_symlinks=False)
    before = snapshot(tree.data)
    answer = tree.run("/bin/bash", "-ec", f"echo innocent > innocent; {script}", land=True)
    assert answer.get("code") == "NOT_SUPPORTED", answer
    named = {refused["path"]: refused["reason"] for refused in answer["details"]["refused"]}
    assert "link" in named[path], named
    assert snapshot(tree.data) == before
    assert not [place for place in tree.data.rglob("*") if place.is_file() and SECRET in place.read_text()]


def test_links_that_stay_inside_land_whatever_they_lead_through(tree: Project) -> None:
    script = "ln -s d lower; ln -s lower/e/deep t; ln -s round round; mkdir x; ln -s ../lower x/up; ln -s not/yet nowhere"
    answer = tree.run("/bin/bash", "-ec", script, land=True)
    assert "made" in answer, answer
    assert (tree.data / "t").read_text() == "deep"
    assert (tree.data / "x/up/a").read_text() == "a"
    assert stat.S_ISLNK((tree.data / "round").lstat().st_mode)
