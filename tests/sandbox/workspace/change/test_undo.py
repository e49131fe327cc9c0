from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code
from brasstag.words.previews import Change
from tests.sandbox.support import carry_out, contents, fails, snapshot


@pytest.fixture(autouse=True)
def tree(data: Path) -> Path:
    (data / "d").mkdir()
    (data / "d" / "one").write_text("one")
    (data / "a.txt").write_text("a")
    (data / "a.txt").chmod(0o640)
    (data / "link").symlink_to("a.txt")
    return data


def take_back(draft: Draft, changes: tuple[Change, ...]) -> list[str]:
    return [path for change in reversed(changes) for path in draft.take_back(change)]


@pytest.mark.parametrize(
    "action",
    [
        lambda draft: draft.write_text("a.txt", "changed", mode=0o600),
        lambda draft: draft.write_text("new/file", "new"),
        lambda draft: draft.remove("a.txt"),
        lambda draft: draft.remove("link"),
        lambda draft: draft.remove("d", recursive=True),
        lambda draft: draft.move("a.txt", "d/one", overwrite=True),
        lambda draft: draft.move("d", "x/y"),
    ],
)
def test_a_call_taken_back_leaves_everything_as_it_was(
    workspace: Workspace, data: Path, action: Callable[[Draft], object]
) -> None:
    before = snapshot(data)
    changes = carry_out(workspace, action)
    assert snapshot(data) != before
    undone = carry_out(workspace, lambda draft: take_back(draft, changes))
    assert snapshot(data) == before
    carry_out(workspace, lambda draft: take_back(draft, undone))
    assert snapshot(data) != before


def test_the_paths_that_come_back_are_named(workspace: Workspace) -> None:
    changes = carry_out(
        workspace, lambda draft: draft.move("a.txt", "b.txt"), lambda draft: draft.remove("link")
    )
    assert take_back(Draft(workspace, writable=True), changes) == ["link", "a.txt", "b.txt"]


@pytest.mark.parametrize(
    ("action", "edit"),
    [
        (lambda d: d.write_text("a.txt", "changed"), lambda data: (data / "a.txt").write_text("again")),
        (lambda d: d.write_text("a.txt", "changed"), lambda data: (data / "a.txt").unlink()),
        (lambda d: d.remove("a.txt"), lambda data: (data / "a.txt").write_text("new")),
        (lambda d: d.move("a.txt", "b.txt"), lambda data: (data / "a.txt").write_text("new")),
        (lambda d: d.move("a.txt", "b.txt"), lambda data: (data / "b.txt").write_text("new")),
        (lambda d: d.remove("d", recursive=True), lambda data: (data / "d").write_text("new")),
    ],
)
def test_after_later_edits_it_is_refused(
    workspace: Workspace, data: Path, action: Callable[[Draft], object], edit: Callable[[Path], object]
) -> None:
    changes = carry_out(workspace, action)
    edit(data)
    draft = Draft(workspace, writable=True)
    with fails(Code.CANNOT_UNDO):
        take_back(draft, changes)


def test_a_directory_that_others_use_now_stays(workspace: Workspace, data: Path) -> None:
    changes = carry_out(workspace, lambda draft: draft.write_text("new/deep/file", "new"))
    (data / "new" / "theirs").write_text("theirs")
    carry_out(workspace, lambda draft: take_back(draft, changes))
    assert {path for path in contents(data) if path.startswith("new")} == {"new", "new/theirs"}


def test_what_was_not_kept_cannot_be_given_back(workspace: Workspace) -> None:
    (change,) = carry_out(workspace, lambda draft: draft.remove("a.txt"))
    draft = Draft(workspace, writable=True)
    with fails(Code.CANNOT_UNDO):
        draft.take_back(replace(change, undoable=False))
    workspace.blobs.drop(sha256(b"a"))
    with fails(Code.CANNOT_UNDO):
        draft.take_back(change)
    assert draft.preview().changes == ()
