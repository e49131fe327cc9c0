"""Ignore rules: as git has them, held against git itself."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brasstag.documents.scan.ignore import LARGEST_FILE, Ignoring
from brasstag.documents.scan.walk import Walk, hides_nothing
from brasstag.sandbox.workspace.control import ControlFiles
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.store.contents.blobs import Blobs

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here to compare with")

NAMES = st.sampled_from(["a", "b", "c.log", "d.txt", "build"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PATTERNS = st.tuples(
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "/", "**/"]),
    st.sampled_from(
        ["a", "b", "*.log", "*", "build", "a/b", "a/*", "**", "a/**", "?", "[ab]", "d.t?t", "b/**/a"]
    ),
    st.sampled_from(["", "", "/"]),
).map("".join)
LINES = st.lists(st.one_of(PATTERNS, st.sampled_from(["# note", "", "  ", "\\!a", "a ", "b\\ "])), max_size=5)


def met(folder: Path, ignore: tuple[str, ...] = ()) -> list[str]:
    """Return what a walk of a folder meets."""
    with Workspace(folder, ControlFiles(folder, folder), Blobs(folder.parent / "blobs")) as workspace:
        walk = Walk(workspace, Ignoring(workspace, ignore), hides_nothing, lambda trouble: None)
        return [sight.path for sight in walk.below(".")]


def asked_one_by_one(folder: Path, paths: list[str]) -> list[str]:
    """Return the paths that are not ignored, each asked about by itself."""
    with Workspace(folder, ControlFiles(folder, folder), Blobs(folder.parent / "blobs")) as workspace:
        ignoring = Ignoring(workspace)
        return [path for path in paths if not ignoring.ignores(path)]


def known_to_git(folder: Path) -> list[str]:
    """Return what git would add."""
    command = ["git", "-C", str(folder), "ls-files", "--others", "--exclude-per-directory=.gitignore", "-z"]
    told = subprocess.run(command, capture_output=True, check=True).stdout
    return sorted(told.decode().split("\0")[:-1])


@needs_git
@settings(max_examples=60, deadline=None)
@given(
    paths=st.sets(PATHS, min_size=1, max_size=12),
    rules=st.dictionaries(st.sampled_from(["", "a", "a/b", "b"]), LINES, min_size=1, max_size=3),
)
def test_what_is_met_is_what_git_would_add(paths: set[str], rules: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "tree")
        folder.mkdir()
        subprocess.run(["git", "init", "-q", str(folder)], check=True, capture_output=True)
        for path in sorted(paths):
            place = folder / path
            if all(not above.is_file() for above in place.parents) and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(path)
        for directory, lines in rules.items():
            if (folder / directory).is_dir():
                (folder / directory / ".gitignore").write_text("\n".join(lines) + "\n")
        expected = known_to_git(folder)
        files = sorted(
            str(place.relative_to(folder))
            for place in folder.rglob("*")
            if place.is_file() and ".git" not in place.relative_to(folder).parts
        )
        assert met(folder) == expected
        assert asked_one_by_one(folder, files) == expected


def test_a_file_with_marks_carriage_returns_and_nonsense_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("a.log", "b.tmp", "c"):
        (folder / name).write_text("")
    (folder / ".gitignore").write_bytes(b"\xef\xbb\xbf*.log\r\n!\n/\n\xff\xfe\n*.tmp\r\n")
    assert met(folder) == [".gitignore", "c"]


def test_an_ignore_file_that_is_a_link_or_too_large_says_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    (folder / "large").mkdir(parents=True)
    (tmp_path / "rules").write_text("*\n")
    (folder / ".gitignore").symlink_to("../rules")
    (folder / "large/.gitignore").write_text("*\n" * LARGEST_FILE)
    (folder / "large/a").write_text("")
    assert met(folder) == [".gitignore", "large/.gitignore", "large/a"]


def test_the_settings_hold_in_every_directory(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    (folder / "a/node_modules").mkdir(parents=True)
    (folder / "a/node_modules/x").write_text("")
    (folder / "a/y").write_text("")
    (folder / "top").write_text("")
    assert met(folder, ("node_modules/", "/top")) == ["a/y"]


def test_what_is_met_comes_in_the_order_of_paths(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    for path in ("a/b", "a.txt", "a-b/c", "a0", "a/b.c/d", "Z", "é", "𐐀", "z/\U0001f4da", "z/\uffff"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / path).is_dir():
            (folder / path).write_text("")
    found = met(folder)
    assert found == sorted(found)
    assert len(found) == 10
