"""Drafts that change: module draft, staging, trees and keeping."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code
from brasstag.words.previews import ABSENT, DIRECTORY, Change, Fact, file_state, link_state
from tests.sandbox.support import carry_out, contents, fails, open_workspace, snapshot


def state(data: bytes) -> str:
    return file_state(sha256(data))


@pytest.fixture
def draft(workspace: Workspace) -> Draft:
    return Draft(workspace, writable=True)


@pytest.fixture
def tree(data: Path) -> Path:
    """Some files, directories and links."""
    (data / "d" / "e").mkdir(parents=True)
    (data / "d" / "e" / "deep.txt").write_text("deep")
    (data / "d" / "one.txt").write_text("one")
    (data / "d" / "link").symlink_to("one.txt")
    (data / "file.txt").write_text("file")
    (data / "other.txt").write_text("other")
    (data / "dangling").symlink_to("nowhere/at/all.txt")
    return data


WRITES: list[Callable[[Draft], object]] = [
    lambda draft: draft.write_bytes("file.txt", b"x"),
    lambda draft: draft.write_text("new.txt", "x"),
    lambda draft: draft.make_directory("new"),
    lambda draft: draft.remove("file.txt"),
    lambda draft: draft.move("file.txt", "moved.txt"),
    lambda draft: draft.take_back(Change("file.txt", ABSENT, state(b"file"))),
]


@pytest.mark.parametrize("write", WRITES)
def test_a_draft_that_may_only_look_stages_nothing_and_says_what_to_declare(
    workspace: Workspace, tree: Path, write: Callable[[Draft], object]
) -> None:
    draft = Draft(workspace, writable=False)
    with fails(Code.NOT_SUPPORTED) as caught:
        write(draft)
    assert '"effects"' in caught.value.message
    assert draft.preview().changes == ()


@pytest.mark.parametrize("write", WRITES)
def test_a_closed_draft_stages_nothing(draft: Draft, tree: Path, write: Callable[[Draft], object]) -> None:
    draft.write_text("before.txt", "x")
    draft.close()
    with fails(Code.CANCELLED):
        write(draft)
    assert [change.path for change in draft.preview().changes] == ["before.txt"]
    draft.persist()


def test_nothing_staged_reaches_the_disk_by_itself(draft: Draft, tree: Path) -> None:
    before = snapshot(tree)
    for write in WRITES[:3]:
        write(draft)
    draft.move("d", "elsewhere/d")
    draft.remove("other.txt")
    draft.preview()
    draft.persist()
    assert snapshot(tree) == before


def test_a_new_file_names_the_directories_it_needs(draft: Draft, data: Path) -> None:
    assert draft.write_text("./a/b/../c/new.txt", "new") == "a/c/new.txt"
    assert draft.preview().changes == (
        Change("a", ABSENT, DIRECTORY),
        Change("a/c", ABSENT, DIRECTORY),
        Change("a/c/new.txt", ABSENT, state(b"new"), size=3),
    )
    with fails(Code.FILE_NOT_FOUND) as caught:
        draft.write_text("x/y.txt", "", create_dirs=False)
    assert "x does not exist" in caught.value.message
    assert len(draft.preview().changes) == 3


def test_an_overwrite_remembers_what_was_there(draft: Draft, tree: Path) -> None:
    (tree / "file.txt").chmod(0o600)
    draft.write_text("file.txt", "newer")
    (change,) = draft.preview().changes
    assert change == Change(
        "file.txt", state(b"file"), state(b"newer"), before_mode=0o600, size=5, before_size=4
    )
    assert change.fact is Fact.OVERWRITES


def test_writing_the_same_bytes_is_still_an_overwrite(draft: Draft, tree: Path) -> None:
    draft.write_text("file.txt", "file")
    assert draft.preview().facts == {Fact.OVERWRITES}


def test_reads_see_what_was_staged(draft: Draft, tree: Path) -> None:
    draft.write_text("file.txt", "staged")
    draft.move("d/one.txt", "moved/one.txt")
    draft.remove("other.txt")
    draft.write_text("moved/two.txt", "two")
    assert draft.read_text("file.txt") == "staged"
    assert draft.read_text("moved/one.txt") == "one"
    assert draft.look("moved/one.txt").size == 3
    assert not draft.exists("d/one.txt")
    assert not draft.exists("other.txt")
    with fails(Code.FILE_NOT_FOUND):
        draft.read_text("d/one.txt")
    with fails(Code.TOO_LARGE):
        draft.read_text("file.txt", limit=5)
    with fails(Code.NOT_A_FILE):
        draft.read_text("moved")
    listed = [entry.path for entry in draft.entries(recursive=True)]
    assert listed[:5] == ["d", "d/e", "d/e/deep.txt", "d/link", "dangling"]
    assert listed[5:] == ["file.txt", "moved", "moved/one.txt", "moved/two.txt"]
    assert {path: file.read() for path, file in draft.open_files()} == {
        "d/e/deep.txt": b"deep",
        "file.txt": b"staged",
        "moved/one.txt": b"one",
        "moved/two.txt": b"two",
    }


def test_links_are_followed_through_what_was_staged(draft: Draft, tree: Path) -> None:
    draft.move("d/link", "link2")
    draft.write_text("one.txt", "found by the moved link")
    assert draft.read_text("link2") == "found by the moved link"
    draft.remove("d", recursive=True)
    draft.write_text("d/link/below.txt", "a directory now")
    assert draft.read_text("d/link/below.txt") == "a directory now"


def test_writing_through_a_link_changes_what_it_points_to(workspace: Workspace, tree: Path) -> None:
    carry_out(
        workspace,
        lambda draft: draft.write_text("d/link", "new one"),
        lambda draft: draft.write_text("dangling", "made"),
    )
    assert (tree / "d" / "one.txt").read_text() == "new one"
    assert (tree / "d" / "link").is_symlink()
    assert (tree / "nowhere" / "at" / "all.txt").read_text() == "made"


def test_removing_or_moving_a_link_leaves_what_it_points_to(workspace: Workspace, tree: Path) -> None:
    changes = carry_out(
        workspace,
        lambda draft: draft.remove("d/link"),
        lambda draft: draft.move("dangling", "d/dangling"),
    )
    assert [change.fact for change in changes] == [Fact.DELETES, Fact.MOVES]
    assert (tree / "d" / "one.txt").read_text() == "one"
    assert os.readlink(tree / "d" / "dangling") == "nowhere/at/all.txt"


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (
            [lambda d: d.write_text("n", "1"), lambda d: d.write_text("n", "2")],
            [("n", ABSENT, state(b"2"), "")],
        ),
        ([lambda d: d.write_text("n", "1"), lambda d: d.remove("n")], []),
        (
            [lambda d: d.remove("file.txt"), lambda d: d.write_text("file.txt", "2")],
            [("file.txt", state(b"file"), state(b"2"), "")],
        ),
        (
            [lambda d: d.write_text("file.txt", "2"), lambda d: d.remove("file.txt")],
            [("file.txt", state(b"file"), ABSENT, "")],
        ),
        (
            [lambda d: d.move("file.txt", "a"), lambda d: d.move("a", "b")],
            [("b", ABSENT, state(b"file"), "file.txt")],
        ),
        ([lambda d: d.move("file.txt", "a"), lambda d: d.move("a", "file.txt")], []),
        (
            [lambda d: d.move("file.txt", "a"), lambda d: d.write_text("a", "2")],
            [("a", ABSENT, state(b"2"), ""), ("file.txt", state(b"file"), ABSENT, "")],
        ),
        (
            [lambda d: d.move("file.txt", "a"), lambda d: d.remove("a")],
            [("file.txt", state(b"file"), ABSENT, "")],
        ),
        (
            [lambda d: d.move("file.txt", "a"), lambda d: d.write_text("file.txt", "2")],
            [("a", ABSENT, state(b"file"), ""), ("file.txt", state(b"file"), state(b"2"), "")],
        ),
        (
            [lambda d: d.move("file.txt", "other.txt", overwrite=True)],
            [("other.txt", state(b"other"), state(b"file"), "file.txt")],
        ),
        (
            [
                lambda d: d.move("file.txt", "t"),
                lambda d: d.move("other.txt", "file.txt"),
                lambda d: d.move("t", "other.txt"),
            ],
            [
                ("file.txt", state(b"file"), state(b"other"), ""),
                ("other.txt", state(b"other"), state(b"file"), ""),
            ],
        ),
        ([lambda d: d.make_directory("x/y"), lambda d: d.remove("x", recursive=True)], []),
        ([lambda d: d.make_directory("d/e")], []),
    ],
)
def test_many_operations_on_a_path_become_one_change(
    draft: Draft,
    tree: Path,
    actions: list[Callable[[Draft], object]],
    expected: list[tuple[str, str, str, str]],
) -> None:
    for action in actions:
        action(draft)
    changes = draft.preview().changes
    assert sorted((change.path, change.before, change.after, change.source) for change in changes) == expected


def test_a_recursive_delete_lists_every_path_and_directories_last(draft: Draft, tree: Path) -> None:
    with fails(Code.DIRECTORY_NOT_EMPTY):
        draft.remove("d")
    assert draft.remove("d", recursive=True) == ["d", "d/e", "d/e/deep.txt", "d/link", "d/one.txt"]
    changes = draft.preview().changes
    assert [(change.path, change.before) for change in changes] == [
        ("d/link", link_state(sha256(b"one.txt"))),
        ("d/one.txt", state(b"one")),
        ("d/e/deep.txt", state(b"deep")),
        ("d/e", DIRECTORY),
        ("d", DIRECTORY),
    ]
    assert {change.after for change in changes} == {ABSENT}


def test_an_empty_directory_is_removed_without_asking_for_recursion(draft: Draft, tree: Path) -> None:
    (tree / "empty").mkdir()
    assert draft.remove("empty") == ["empty"]


def test_a_directory_move_is_a_list_of_moves(workspace: Workspace, tree: Path) -> None:
    (tree / "d" / "e").chmod(0o700)
    inode = (tree / "d" / "one.txt").stat().st_ino
    changes = carry_out(workspace, lambda draft: draft.move("d", "new/place"))
    assert [(change.path, change.source, change.fact) for change in changes] == [
        ("new", "", Fact.CREATES),
        ("new/place", "", Fact.CREATES),
        ("new/place/e", "", Fact.CREATES),
        ("new/place/link", "d/link", Fact.MOVES),
        ("new/place/one.txt", "d/one.txt", Fact.MOVES),
        ("new/place/e/deep.txt", "d/e/deep.txt", Fact.MOVES),
        ("d/e", "", Fact.MOVES),
        ("d", "", Fact.MOVES),
    ]
    assert not (tree / "d").exists()
    assert (tree / "new" / "place" / "e" / "deep.txt").read_text() == "deep"
    assert (tree / "new" / "place" / "one.txt").stat().st_ino == inode
    assert stat.S_IMODE((tree / "new" / "place" / "e").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("source", "target", "overwrite", "code"),
    [
        ("none", "x", False, Code.FILE_NOT_FOUND),
        ("file.txt", "other.txt", False, Code.ALREADY_EXISTS),
        ("file.txt", "file.txt", True, Code.ALREADY_EXISTS),
        ("file.txt", "d", True, Code.ALREADY_EXISTS),
        ("d", "file.txt", True, Code.ALREADY_EXISTS),
        ("d", "d/e/f", True, Code.INVALID_ARGUMENTS),
        ("file.txt", "other.txt/x", False, Code.NOT_A_DIRECTORY),
        (".", "x", False, Code.INVALID_PATH),
        ("file.txt", "..", False, Code.INVALID_PATH),
        ("file.txt", ".", True, Code.INVALID_PATH),
    ],
)
def test_moves_that_make_no_sense_are_refused_whole(
    draft: Draft, tree: Path, source: str, target: str, overwrite: bool, code: Code
) -> None:
    with fails(code):
        draft.move(source, target, overwrite)
    assert draft.preview().changes == ()


@pytest.mark.parametrize(
    ("action", "code"),
    [
        (lambda d: d.write_bytes("d", b""), Code.NOT_A_FILE),
        (lambda d: d.write_bytes(".", b""), Code.NOT_A_FILE),
        (lambda d: d.write_bytes("file.txt/x", b""), Code.NOT_A_DIRECTORY),
        (lambda d: d.write_bytes("../x", b""), Code.INVALID_PATH),
        (lambda d: d.write_bytes("pipe", b""), Code.NOT_A_FILE),
        (lambda d: d.write_text("x", "\udc80"), Code.INVALID_ARGUMENTS),
        (lambda d: d.make_directory("file.txt"), Code.ALREADY_EXISTS),
        (lambda d: d.make_directory("file.txt/x"), Code.NOT_A_DIRECTORY),
        (lambda d: d.remove("none"), Code.FILE_NOT_FOUND),
        (lambda d: d.remove("."), Code.INVALID_PATH),
        (lambda d: d.remove("pipe"), Code.NOT_A_FILE),
        (lambda d: d.remove("holds_pipe", recursive=True), Code.NOT_A_FILE),
        (lambda d: d.move("holds_pipe", "x"), Code.NOT_A_FILE),
        (lambda d: d.move("file.txt", "pipe", overwrite=True), Code.NOT_A_FILE),
        (lambda d: d.remove("unnamed", recursive=True), Code.INVALID_PATH),
    ],
)
def test_what_cannot_be_done_is_refused_whole(
    draft: Draft, tree: Path, action: Callable[[Draft], object], code: Code
) -> None:
    os.mkfifo(tree / "pipe")
    (tree / "holds_pipe").mkdir()
    os.mkfifo(tree / "holds_pipe" / "pipe")
    (tree / "holds_pipe" / "a.txt").write_text("a")
    (tree / "unnamed").mkdir()
    Path(os.fsdecode(os.fsencode(tree) + b"/unnamed/\xff")).write_text("bad")
    with fails(code):
        action(draft)
    assert draft.preview().changes == ()


def test_a_failed_operation_leaves_earlier_ones_staged(draft: Draft, tree: Path) -> None:
    os.mkfifo(tree / "d" / "e" / "pipe")
    draft.write_text("d/new.txt", "new")
    with fails(Code.NOT_A_FILE):
        draft.move("d", "a/b/c")
    assert [change.path for change in draft.preview().changes] == ["d/new.txt"]
    assert not draft.exists("a")


def test_a_write_counts_from_what_was_read_not_from_what_came_since(draft: Draft, tree: Path) -> None:
    draft.read_text("file.txt")
    assert not draft.exists("made.txt")
    (tree / "file.txt").write_text("saved by somebody else")
    (tree / "made.txt").write_text("made by somebody else")
    draft.write_text("file.txt", "built on the old text")
    draft.write_text("made.txt", "thought to be new")
    assert [change.before for change in draft.preview().changes] == [state(b"file"), ABSENT]
    with fails(Code.CHANGED):
        draft.persist()


@pytest.mark.parametrize(
    ("action", "spoil"),
    [
        (lambda d: d.write_text("file.txt", "new"), lambda tree: (tree / "file.txt").write_text("other")),
        (lambda d: d.write_text("file.txt", "new"), lambda tree: (tree / "file.txt").unlink()),
        (lambda d: d.write_text("new.txt", "new"), lambda tree: (tree / "new.txt").mkdir()),
        (lambda d: d.remove("d", recursive=True), lambda tree: (tree / "d/one.txt").write_text("two")),
        (lambda d: d.remove("d/link"), lambda tree: (tree / "d/link").unlink()),
        (lambda d: d.move("file.txt", "moved"), lambda tree: (tree / "file.txt").write_text("two")),
        (lambda d: d.move("file.txt", "moved"), lambda tree: (tree / "moved").write_text("there")),
    ],
)
def test_persist_notices_that_the_disk_is_no_longer_as_it_was_seen(
    draft: Draft, tree: Path, action: Callable[[Draft], object], spoil: Callable[[Path], object]
) -> None:
    action(draft)
    spoil(tree)
    with fails(Code.CHANGED):
        draft.persist()


def test_persist_keeps_new_and_old_bytes(workspace: Workspace, draft: Draft, tree: Path) -> None:
    draft.write_text("file.txt", "new")
    draft.remove("d/link")
    draft.move("d/one.txt", "copied.txt")
    draft.write_text("d/one.txt", "another")
    draft.persist()
    for kept in (b"file", b"new", b"one.txt", b"one", b"another"):
        assert workspace.blobs.get(sha256(kept)) == kept


def test_what_is_too_large_to_keep_is_said_to_be_lost_for_undo(
    project: Path, tree: Path, portable: bool
) -> None:
    with open_workspace(project, portable, undo_limit=7) as workspace:
        draft = Draft(workspace, writable=True)
        draft.write_text("file.txt", "x" * 100)
        draft.remove("other.txt")
        draft.remove("d/one.txt")
        draft.move("d/e/deep.txt", "deep.txt")
        draft.persist()
        changes = draft.preview().changes
        assert [(change.path, change.undoable) for change in changes] == [
            ("file.txt", True),
            ("other.txt", False),
            ("d/one.txt", True),
            ("deep.txt", True),
        ]
        assert not draft.preview().undoable
        assert workspace.blobs.has(sha256(b"file"))
        assert not workspace.blobs.has(sha256(b"other"))
        (tree / "other.txt").write_text("spoilt")
        with fails(Code.CHANGED):
            draft.persist()


def test_a_mode_is_kept_moved_along_or_set(workspace: Workspace, tree: Path) -> None:
    (tree / "file.txt").chmod(0o750)
    (tree / "other.txt").chmod(0o604)
    carry_out(
        workspace,
        lambda draft: draft.write_text("other.txt", "keeps its mode"),
        lambda draft: draft.write_text("file.txt", "rewritten"),
        lambda draft: draft.move("file.txt", "moved.txt"),
        lambda draft: draft.write_text("script.sh", "#!/bin/sh", mode=0o755),
        lambda draft: draft.write_text("default.txt", ""),
        lambda draft: draft.make_directory("made"),
    )
    umask = os.umask(0)
    os.umask(umask)
    modes = {path: mode for path, (_, _, mode) in snapshot(tree).items()}
    assert modes["other.txt"] == 0o604
    assert modes["moved.txt"] == 0o750
    assert modes["script.sh"] == 0o755
    assert modes["default.txt"] == 0o644 & ~umask
    assert modes["made"] == 0o755 & ~umask


def test_writing_a_hard_linked_file_leaves_the_other_name_alone(workspace: Workspace, tree: Path) -> None:
    os.link(tree / "file.txt", tree / "twin.txt")
    carry_out(workspace, lambda draft: draft.write_text("file.txt", "changed"))
    assert contents(tree)["twin.txt"] == b"file"
    assert contents(tree)["file.txt"] == b"changed"


def test_messages_never_name_the_host(draft: Draft, project: Path, tree: Path) -> None:
    (tree / "up").symlink_to("../outside")
    (tree / "absolute").symlink_to(project / "outside")
    for path in ("up/secret.txt", "absolute/x", "file.txt/x", "/etc/passwd", "a\0"):
        for use in (draft.read_bytes, draft.remove, draft.make_directory, lambda path: draft.move(path, "x")):
            with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is
                use(path)
            assert str(project) not in f"{caught.value!r} {getattr(caught.value, 'details', '')}"


def test_a_draft_that_may_only_look_says_what_it_annotates_and_changes_nothing(
    workspace: Workspace, data: Path
) -> None:
    (data / "a.md").write_text("one")
    os.symlink("a.md", data / "b.md")
    before = snapshot(data)
    draft = Draft(workspace, writable=False)
    assert [draft.annotate(path) for path in ("b.md", "./a.md")] == ["a.md", "a.md"]
    with fails(Code.FILE_NOT_FOUND):
        draft.annotate("nothing.md")
    preview = draft.preview()
    assert (preview.annotates, preview.changes) == (("a.md",), ())
    assert preview.facts == {Fact.READS, Fact.ANNOTATES}
    assert snapshot(data) == before
