"""All or nothing: modules effects, steps, supplies, site and renames."""

import errno
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.change.apply import Unsettled, apply_changes
from brasstag.sandbox.workspace.change.renames import private_name
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.errors import Code, ToolError
from brasstag.words.previews import ABSENT, Change, file_state
from tests.sandbox.support import carry_out, change, contents, fails, open_workspace, snapshot

Action = Callable[[Draft], object]

CREATE: Action = lambda draft: draft.write_text("new/file.txt", "created")  # noqa: E731
OVERWRITE: Action = lambda draft: draft.write_text("a.txt", "overwritten")  # noqa: E731
DELETE: Action = lambda draft: draft.remove("a.txt")  # noqa: E731
MOVE: Action = lambda draft: draft.move("a.txt", "moved.txt")  # noqa: E731
MOVE_OVER: Action = lambda draft: draft.move("a.txt", "b.txt", overwrite=True)  # noqa: E731
DELETE_TREE: Action = lambda draft: draft.remove("d", recursive=True)  # noqa: E731
MOVE_TREE: Action = lambda draft: draft.move("d", "x/y")  # noqa: E731


def file_to_directory(draft: Draft) -> None:
    draft.remove("a.txt")
    draft.write_text("a.txt/below", "below")


def directory_to_file(draft: Draft) -> None:
    draft.remove("d", recursive=True)
    draft.write_text("d", "a file now")


def own_file_over_directory(draft: Draft) -> None:
    draft.move("d/one", "aside")
    draft.remove("d", recursive=True)
    draft.move("aside", "d")


EVERY = [
    own_file_over_directory,
    CREATE,
    OVERWRITE,
    DELETE,
    MOVE,
    MOVE_OVER,
    DELETE_TREE,
    MOVE_TREE,
    file_to_directory,
    directory_to_file,
]


@pytest.fixture(autouse=True)
def tree(data: Path) -> Path:
    (data / "d" / "e").mkdir(parents=True)
    for path in ("a.txt", "b.txt", "d/one", "d/e/two"):
        (data / path).write_text(f"at {path}")
    (data / "d" / "link").symlink_to("one")
    return data


def save(path: Path, text: str) -> None:
    """Save as editors do: write another file, rename it into place."""
    beside = path.with_name(path.name + "~")
    beside.write_text(text)
    beside.replace(path)


def when(moment: str, act: Callable[[], object]) -> Callable[[str], None]:
    """Return a watcher that acts once, at the first step whose name ends like this."""
    pending = [act]

    def at(step: str) -> None:
        if pending and step.endswith(moment):
            pending.pop()()

    return at


def in_turn(*moments: tuple[str, Callable[[], object]]) -> Callable[[str], None]:
    """Return a watcher that acts at several steps, one after the other."""
    left = list(moments)

    def at(step: str) -> None:
        if left and step.endswith(left[0][0]):
            left.pop(0)[1]()

    return at


@pytest.mark.parametrize("action", EVERY)
def test_what_was_previewed_is_what_happens_and_nothing_is_left_behind(
    workspace: Workspace, data: Path, action: Action
) -> None:
    for step in carry_out(workspace, action):
        place = data / step.path
        if step.after == ABSENT:
            assert not place.exists()
        elif step.after.startswith("file:"):
            assert file_state(sha256(place.read_bytes())) == step.after
        assert not step.source or not (data / step.source).exists()
    assert not [path for path in snapshot(data) if ".brasstag" in path]


@pytest.mark.parametrize(
    ("action", "spoil"),
    [
        (CREATE, lambda data: (data / "new").mkdir()),
        (CREATE, lambda data: (data / "new").write_text("x")),
        (OVERWRITE, lambda data: save(data / "a.txt", "edited")),
        (OVERWRITE, lambda data: (data / "a.txt").write_text("edited in place")),
        (OVERWRITE, lambda data: (data / "a.txt").unlink()),
        (OVERWRITE, lambda data: ((data / "a.txt").unlink(), (data / "a.txt").mkdir())),
        (OVERWRITE, lambda data: ((data / "a.txt").unlink(), (data / "a.txt").symlink_to("b.txt"))),
        (DELETE, lambda data: save(data / "a.txt", "edited")),
        (DELETE, lambda data: (data / "a.txt").unlink()),
        (MOVE, lambda data: save(data / "a.txt", "edited")),
        (MOVE, lambda data: save(data / "moved.txt", "in the way")),
        (MOVE, lambda data: (data / "a.txt").unlink()),
        (MOVE_OVER, lambda data: save(data / "a.txt", "edited")),
        (MOVE_OVER, lambda data: save(data / "b.txt", "edited")),
        (MOVE_OVER, lambda data: (data / "b.txt").unlink()),
        (DELETE_TREE, lambda data: (data / "d" / "e" / "three").write_text("new")),
        (DELETE_TREE, lambda data: save(data / "d" / "e" / "two", "edited")),
        (DELETE_TREE, lambda data: (data / "d" / "e").rename(data / "f")),
        (MOVE_TREE, lambda data: (data / "d" / "e" / "three").write_text("new")),
        (MOVE_TREE, lambda data: (data / "d" / "link").unlink()),
        (MOVE_TREE, lambda data: (data / "x").symlink_to("../outside")),
        (file_to_directory, lambda data: save(data / "a.txt", "edited")),
        (directory_to_file, lambda data: (data / "d" / "three").write_text("new")),
    ],
)
def test_if_somebody_else_was_there_first_nothing_happens(
    workspace: Workspace, data: Path, action: Action, spoil: Callable[[Path], object]
) -> None:
    changes = change(workspace, lambda draft: draft.write_text("first.txt", "first"), action).changes
    spoil(data)
    spoilt = snapshot(data)
    with fails(Code.CHANGED):
        apply_changes(workspace, "call_1", changes)
    assert snapshot(data) == spoilt


@pytest.mark.parametrize("moment", ["written", "ready", "checked", "exchanged", "taken", "placed", "synced"])
def test_a_save_at_any_moment_of_an_overwrite_stays(workspace: Workspace, data: Path, moment: str) -> None:
    changes = change(workspace, OVERWRITE).changes
    reached = []

    def edit() -> None:
        reached.append(moment)
        save(data / "a.txt", "edited")

    with suppress(ToolError):
        apply_changes(workspace, "call_1", changes, when(moment, edit))
    assert contents(data)["a.txt"] == (b"edited" if reached else b"overwritten")
    assert not [path for path in snapshot(data) if ".brasstag" in path]


def test_an_editor_that_saves_between_all_our_exchanges_keeps_its_newest_version(
    project: Path, data: Path
) -> None:
    with open_workspace(project) as workspace:
        changes = change(workspace, OVERWRITE).changes
        editor = in_turn(
            ("checked", lambda: save(data / "a.txt", "version 1")),
            ("exchanged", lambda: save(data / "a.txt", "version 2")),
            ("swapped back", lambda: save(data / "a.txt", "version 3")),
            ("swapped back", lambda: save(data / "a.txt", "version 4")),
        )
        with fails(Code.CHANGED) as caught:
            apply_changes(workspace, "call_1", changes, editor)
        assert contents(data)["a.txt"] == b"version 4"
        kept = caught.value.details["kept"]
        assert all(one["path"] == "a.txt" and workspace.blobs.has(one["sha256"]) for one in kept)
        assert not [path for path in snapshot(data) if ".brasstag" in path]


@pytest.mark.parametrize(
    ("action", "moment"), [(DELETE, "taken"), (MOVE, "source taken"), (MOVE_OVER, "source taken")]
)
def test_what_cannot_be_put_back_because_something_newer_is_there_is_kept(
    workspace: Workspace, data: Path, action: Action, moment: str
) -> None:
    changes = change(workspace, action).changes
    save(data / "a.txt", "older edit")
    with fails(Code.CHANGED) as caught:
        apply_changes(workspace, "call_1", changes, when(moment, lambda: save(data / "a.txt", "newer edit")))
    assert contents(data)["a.txt"] == b"newer edit"
    assert caught.value.details["kept"] == [{"path": "a.txt", "sha256": sha256(b"older edit")}]
    assert workspace.blobs.get(sha256(b"older edit")) == b"older edit"


def test_a_file_deleted_while_it_is_swapped_back_is_not_lost(project: Path, data: Path) -> None:
    with open_workspace(project) as workspace:
        changes = change(workspace, OVERWRITE).changes
        editor = in_turn(
            ("checked", lambda: save(data / "a.txt", "edited")), ("exchanged", (data / "a.txt").unlink)
        )
        with fails(Code.CHANGED):
            apply_changes(workspace, "call_1", changes, editor)
        assert contents(data)["a.txt"] == b"edited"


def test_without_an_exchange_the_old_file_comes_back_if_the_new_one_cannot_be_placed(
    project: Path, data: Path
) -> None:
    with open_workspace(project, portable=True) as workspace:
        changes = change(workspace, OVERWRITE).changes
        written = data / private_name("call_1", 0, "tmp")
        with fails(Code.CHANGED):
            apply_changes(workspace, "call_1", changes, when("taken", written.unlink))
        assert contents(data)["a.txt"] == b"at a.txt"


def test_an_overwrite_is_never_absent_for_a_reader(project: Path, data: Path) -> None:
    with open_workspace(project) as workspace:
        changes = change(workspace, OVERWRITE).changes
        apply_changes(workspace, "call_1", changes, lambda _step: (data / "a.txt").read_text())


def with_a_last_change_that_fails(workspace: Workspace, data: Path, action: Action) -> tuple[Change, ...]:
    """Return the changes of an action and, after them, one somebody else gets in the way of."""
    (data / "z.txt").write_text("last")
    first = change(workspace, action).changes
    last = change(workspace, lambda draft: draft.write_text("z.txt", "never")).changes
    save(data / "z.txt", "edited")
    return (*first, *last)


@pytest.mark.parametrize("action", EVERY)
def test_when_a_later_change_fails_the_earlier_ones_are_taken_back(
    workspace: Workspace, data: Path, action: Action
) -> None:
    changes = with_a_last_change_that_fails(workspace, data, action)
    before = snapshot(data)
    with fails(Code.CHANGED) as caught:
        apply_changes(workspace, "call_1", changes)
    assert caught.value.details["path"] == "z.txt"
    assert snapshot(data) == before


@pytest.mark.parametrize(
    ("action", "path"), [(CREATE, "new/file.txt"), (OVERWRITE, "a.txt"), (DELETE, "a.txt"), (MOVE, "a.txt")]
)
def test_a_save_over_what_is_then_taken_back_stays(
    workspace: Workspace, data: Path, action: Action, path: str
) -> None:
    changes = with_a_last_change_that_fails(workspace, data, action)
    index = len(changes) - 1
    with fails(Code.CHANGED):
        apply_changes(
            workspace, "call_1", changes, when(f"{index}: written", lambda: save(data / path, "saved"))
        )
    assert contents(data)[path] == b"saved"
    assert not [path for path in snapshot(data) if ".brasstag" in path]


def test_a_moved_file_that_was_replaced_at_its_new_place_cannot_be_taken_back(
    workspace: Workspace, data: Path
) -> None:
    changes = with_a_last_change_that_fails(workspace, data, MOVE)
    with pytest.raises(Unsettled, match=r"a\.txt was moved to moved\.txt") as caught:
        apply_changes(
            workspace, "call_1", changes, when("1: written", lambda: save(data / "moved.txt", "saved"))
        )
    assert contents(data)["moved.txt"] == b"saved"
    assert caught.value.details["paths"][0]["source"] == "a.txt"


def test_a_directory_somebody_used_meanwhile_stays_when_its_making_is_taken_back(
    workspace: Workspace, data: Path
) -> None:
    changes = with_a_last_change_that_fails(workspace, data, CREATE)
    theirs = data / "new" / "theirs.txt"
    with fails(Code.CHANGED):
        apply_changes(workspace, "call_1", changes, when("placed", lambda: theirs.write_text("theirs")))
    assert contents(data)["new/theirs.txt"] == b"theirs"
    assert "new/file.txt" not in contents(data)


def test_what_an_earlier_run_left_must_be_recovered_first(workspace: Workspace, data: Path) -> None:
    changes = change(workspace, OVERWRITE).changes
    left = data / private_name("call_1", 0, "old")
    left.write_text("somebody's only copy")
    with fails(Code.BUSY):
        apply_changes(workspace, "call_1", changes)
    assert left.read_text() == "somebody's only copy"
    apply_changes(workspace, "call_2", changes)


def test_a_link_swapped_in_for_a_directory_redirects_nothing(
    workspace: Workspace, project: Path, data: Path
) -> None:
    changes = change(
        workspace,
        lambda draft: draft.write_text("d/secret.txt", "stolen"),
        lambda draft: draft.write_text("d/one", "stolen"),
    ).changes
    (data / "d").rename(data / "away")
    (data / "d").symlink_to("../outside")
    before = snapshot(project / "outside")
    with fails(Code.CHANGED):
        apply_changes(workspace, "call_1", changes)
    assert snapshot(project / "outside") == before


@pytest.mark.parametrize("path", [".git/config", "brasstag.toml", "d/.venv/x"])
def test_a_change_of_a_control_file_is_refused_wherever_it_comes_from(
    workspace: Workspace, path: str
) -> None:
    digest = workspace.blobs.put(b"stolen")
    with fails(Code.CONTROL_FILE):
        apply_changes(workspace, "call_1", [Change(path, ABSENT, file_state(digest))])


def test_a_blob_that_is_gone_or_altered_fails_and_changes_nothing(
    workspace: Workspace, project: Path, data: Path
) -> None:
    changes = change(workspace, lambda draft: draft.write_text("first.txt", "1"), OVERWRITE).changes
    before = snapshot(data)
    digest = sha256(b"overwritten")
    (project / ".brasstag" / "blobs" / digest[:2] / digest).write_bytes(b"altered")
    with fails(Code.INTERNAL_ERROR):
        apply_changes(workspace, "call_1", changes)
    workspace.blobs.drop(digest)
    with fails(Code.INTERNAL_ERROR):
        apply_changes(workspace, "call_1", changes)
    assert snapshot(data) == before


def test_a_file_system_without_exchange_or_noreplace_is_served_too(
    project: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_arguments: object) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(syscalls, "renameat2", unsupported)
    with open_workspace(project, portable=False) as workspace:
        carry_out(workspace, OVERWRITE, lambda draft: draft.move("b.txt", "c.txt"), DELETE_TREE, CREATE)
        assert contents(data) == {
            "a.txt": b"overwritten",
            "c.txt": b"at b.txt",
            "new": None,
            "new/file.txt": b"created",
        }
        changes = change(workspace, OVERWRITE, lambda draft: draft.write_text("a.txt", "more")).changes
        save(data / "a.txt", "edited")
        with fails(Code.CHANGED):
            apply_changes(workspace, "call_1", changes)
        assert contents(data)["a.txt"] == b"edited"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A project on a file system of 256 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this account may not mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_fails_and_changes_nothing(small_disk: Path, tmp_path: Path, portable: bool) -> None:
    (tmp_path / "data").symlink_to(small_disk)
    (small_disk / "a.txt").write_text("small")
    with open_workspace(tmp_path, portable) as workspace:
        changes = change(
            workspace,
            lambda draft: draft.write_text("first.txt", "first"),
            lambda draft: draft.write_bytes("a.txt", b"x" * 500_000),
        ).changes
        before = snapshot(small_disk)
        with fails(Code.NO_SPACE):
            apply_changes(workspace, "call_1", changes)
        assert snapshot(small_disk) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not")
def test_a_directory_that_may_not_be_written_fails_and_changes_nothing(
    workspace: Workspace, project: Path, data: Path
) -> None:
    for place in (project, *project.parents[:4]):
        place.chmod(0o755)
    (data / "d").chmod(0o777)
    changes = change(workspace, lambda draft: draft.write_text("d/first.txt", "first"), OVERWRITE).changes
    before = snapshot(data)
    os.seteuid(65534)
    try:
        with fails(Code.PERMISSION_DENIED):
            apply_changes(workspace, "call_1", changes)
    finally:
        os.seteuid(0)
    assert snapshot(data) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_an_overwritten_file_keeps_its_owner(workspace: Workspace, data: Path) -> None:
    os.chown(data / "a.txt", 1234, 5678)
    carry_out(workspace, OVERWRITE)
    status = (data / "a.txt").stat()
    assert (status.st_uid, status.st_gid) == (1234, 5678)


def test_a_move_between_two_names_of_one_file_leaves_one(workspace: Workspace, data: Path) -> None:
    (data / "b.txt").unlink()
    os.link(data / "a.txt", data / "b.txt")
    carry_out(workspace, MOVE_OVER)
    assert not (data / "a.txt").exists()
    assert contents(data)["b.txt"] == b"at a.txt"
    assert not [path for path in snapshot(data) if ".brasstag" in path]


def test_temporary_files_cannot_be_read_before_they_have_their_mode(workspace: Workspace, data: Path) -> None:
    (data / "a.txt").chmod(0o600)
    modes: set[int] = set()
    changes = change(workspace, OVERWRITE).changes
    apply_changes(
        workspace,
        "call_1",
        changes,
        lambda _step: modes.update(path.stat().st_mode & 0o777 for path in data.glob(".brasstag-*")),
    )
    assert modes == {0o600}


@pytest.mark.parametrize("action", [DELETE_TREE, MOVE_TREE, directory_to_file])
def test_a_file_put_into_a_directory_after_the_look_refuses_its_removal(
    workspace: Workspace, data: Path, action: Action
) -> None:
    changes = change(workspace, action).changes
    (data / "d" / "late.txt").write_text("precious")
    before = snapshot(data)
    with fails(Code.CHANGED):
        apply_changes(workspace, "call_1", changes)
    assert snapshot(data) == before


def test_no_file_of_many_has_its_name_before_the_bytes_of_all_are_on_disk(
    workspace: Workspace, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_many(draft: Draft) -> None:
        draft.write_text("a.txt", "overwritten")
        for number in range(40):
            draft.write_text(f"many/{number}", f"{number}")

    changes = change(workspace, write_many).changes
    before = snapshot(data)
    synced: list[int] = []

    def fsync(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            named = [path for path in snapshot(data) if path.startswith("many/") and ".brasstag" not in path]
            assert named == []
            synced.append(descriptor)
            if len(synced) == 41:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch, fails(Code.EXECUTION_ERROR):
        patch.setattr(os, "fsync", fsync)
        apply_changes(workspace, "call_1", changes)
    assert snapshot(data) == before
    apply_changes(workspace, "call_2", changes)
    assert contents(data)["many/39"] == b"39"
