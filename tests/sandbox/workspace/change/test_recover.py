"""Processes killed at every step, then recovery: modules recover and scene."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.change.apply import apply_changes
from brasstag.sandbox.workspace.change.recover import recover_changes
from brasstag.sandbox.workspace.change.renames import private_name
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace
from brasstag.words.canonical import sha256
from brasstag.words.previews import Change
from tests.sandbox.support import DieAt, Snapshot, change, contents, ended, fork, open_workspace, snapshot
from tests.sandbox.workspace.change.test_apply import (
    CREATE,
    DELETE,
    DELETE_TREE,
    MOVE,
    MOVE_OVER,
    MOVE_TREE,
    OVERWRITE,
    directory_to_file,
    file_to_directory,
    save,
)

Action = Callable[[Draft], object]
End = Callable[[Callable[[Callable[[str], None]], object], int], bool]
CALL = "call_1"


def everything(draft: Draft) -> None:
    draft.write_text("new/file.txt", "created")
    draft.write_text("c.txt", "overwritten")
    draft.move("a.txt", "b.txt", overwrite=True)
    draft.move("d", "x/y")
    draft.remove("gone.txt")


def same_bytes(draft: Draft) -> None:
    draft.write_text("a.txt", "at a.txt")


def modes_and_links(draft: Draft) -> None:
    draft.set_directory_mode("d", 0o700)
    draft.make_link("c.txt", "b.txt")
    draft.make_link("new/link", "nowhere")
    descriptor = os.memfd_create("same")
    os.write(descriptor, b"at a.txt")
    draft.write_from("a.txt", descriptor, 0o755)
    os.close(descriptor)


SCENARIOS = [
    CREATE,
    OVERWRITE,
    DELETE,
    MOVE,
    MOVE_OVER,
    DELETE_TREE,
    MOVE_TREE,
    file_to_directory,
    directory_to_file,
    same_bytes,
    modes_and_links,
    everything,
]


def plant(data: Path) -> None:
    (data / "d" / "e").mkdir(parents=True)
    for path in ("a.txt", "b.txt", "c.txt", "gone.txt", "d/one", "d/e/two"):
        (data / path).write_text(f"at {path}")
    (data / "d" / "link").symlink_to("one")


@contextmanager
def fresh(portable: bool) -> Iterator[tuple[Workspace, Path]]:
    """A workspace of its own, where nothing has to wait for a disk."""
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=place) as root:
        data = Path(root, "data")
        data.mkdir()
        plant(data)
        with open_workspace(Path(root), portable) as workspace:
            yield workspace, data


def kill(work: Callable[[Callable[[str], None]], object], step: int) -> bool:
    """Do some work in a child that is killed at a step; say whether it came that far."""
    status = ended(fork(lambda: work(DieAt(step))))
    assert status in (0, -signal.SIGKILL), status
    return status != 0


class Cut(BaseException):
    """Ends some work where it stands: nothing in it catches this, so the disk is as after a kill."""


def cut(work: Callable[[Callable[[str], None]], object], step: int) -> bool:
    """Do some work that ends where it stands at a step; say whether it came that far."""
    left = iter(range(step, -1, -1))

    def at(_step: str) -> None:
        if next(left) == 0:
            raise Cut

    try:
        work(at)
    except Cut:
        return True
    return False


def wanted(portable: bool, action: Action) -> Snapshot:
    with fresh(portable) as (workspace, data):
        apply_changes(workspace, CALL, change(workspace, action).changes)
        return snapshot(data)


def finished_by_recovery(end: End, portable: bool, action: Action) -> None:
    after = wanted(portable, action)
    step = 0
    crashed = True
    while crashed:
        with fresh(portable) as (workspace, data):
            changes = change(workspace, action).changes
            crashed = end(partial(apply_changes, workspace, CALL, changes), step)
            assert recover_changes(workspace, CALL, changes).state == "applied"
            assert snapshot(data) == after
        step += 1
    assert step > 2


@pytest.mark.parametrize("action", SCENARIOS)
def test_work_that_ends_at_any_step_is_finished_by_recovery(portable: bool, action: Action) -> None:
    finished_by_recovery(cut, portable, action)


# Each kill is a fork of this process, which is large.
@pytest.mark.parametrize(
    "action", [pytest.param(one, marks=() if one is OVERWRITE else pytest.mark.slow) for one in SCENARIOS]
)
def test_a_process_killed_at_any_step_is_finished_by_recovery(portable: bool, action: Action) -> None:
    finished_by_recovery(kill, portable, action)


@pytest.mark.parametrize(("action", "stride"), [(OVERWRITE, 1), (MOVE_OVER, 1), (everything, 4)])
def test_recovery_may_be_cut_short_too(portable: bool, action: Action, stride: int) -> None:
    after = wanted(portable, action)
    first, crashed = 0, True
    while crashed:
        second, crashed_again = 0, True
        while crashed_again:
            with fresh(portable) as (workspace, data):
                changes = change(workspace, action).changes
                crashed = cut(partial(apply_changes, workspace, CALL, changes), first)
                crashed_again = cut(partial(recover_changes, workspace, CALL, changes), second)
                assert recover_changes(workspace, CALL, changes).state == "applied"
                assert snapshot(data) == after
            second += stride
        first += stride


def with_a_conflict(workspace: Workspace, data: Path, action: Action) -> tuple[Change, ...]:
    (data / "z.txt").write_text("last")
    first = change(workspace, action).changes
    last = change(workspace, lambda draft: draft.write_text("z.txt", "never")).changes
    save(data / "z.txt", "edited")
    return (*first, *last)


@pytest.mark.parametrize("action", [action for action in SCENARIOS if action is not same_bytes])
def test_what_is_cut_short_while_it_takes_changes_back_leaves_nothing_of_them(
    portable: bool, action: Action
) -> None:
    step, crashed = 0, True
    while crashed:
        with fresh(portable) as (workspace, data):
            changes = with_a_conflict(workspace, data, action)
            before = snapshot(data)
            crashed = cut(partial(_ignoring_failure, workspace, changes), step)
            recovery = recover_changes(workspace, CALL, changes)
            assert recovery.state == "not_applied", recovery
            assert recovery.details["code"] == "CHANGED"
            assert snapshot(data) == before
        step += 1


def _ignoring_failure(workspace: Workspace, changes: tuple[Change, ...], at: Callable[[str], None]) -> None:
    try:
        apply_changes(workspace, CALL, changes, at)
    except Exception:
        return


TOUCHED = {
    CREATE: ["new/file.txt"],
    OVERWRITE: ["a.txt"],
    DELETE: ["a.txt"],
    MOVE: ["a.txt", "moved.txt"],
    MOVE_OVER: ["a.txt", "b.txt"],
    DELETE_TREE: ["d/one", "d/e/two"],
    MOVE_TREE: ["d/one", "x/y/one"],
    everything: ["c.txt", "b.txt", "x/y/e/two"],
}


@pytest.mark.parametrize("action", TOUCHED)
def test_what_somebody_saves_between_crash_and_recovery_is_never_lost(portable: bool, action: Action) -> None:
    for path in TOUCHED[action]:
        step, crashed = 0, True
        while crashed:
            with fresh(portable) as (workspace, data):
                before = snapshot(data)
                changes = change(workspace, action).changes
                crashed = cut(partial(apply_changes, workspace, CALL, changes), step)
                saved = _save_if_possible(data / path)
                recovery = recover_changes(workspace, CALL, changes)
                after = snapshot(data)
                assert not [one for one in after if ".brasstag" in one] or recovery.state == "unknown"
                if saved:
                    assert after[path][1] == b"saved by somebody" or workspace.blobs.has(
                        sha256(b"saved by somebody")
                    )
                _is_all_or_nothing(recovery.state, changes, before, after, {path})
            step += 1


def _save_if_possible(path: Path) -> bool:
    try:
        save(path, "saved by somebody")
    except OSError:
        return False
    return True


def _is_all_or_nothing(
    state: str, changes: tuple[Change, ...], before: Snapshot, after: Snapshot, touched: set[str]
) -> None:
    """Check every path nobody else touched against what recovery said."""
    for one in changes:
        if touched & {one.path, one.source} or any(path.startswith(f"{one.path}/") for path in touched):
            continue
        if state == "not_applied":
            assert all(after.get(path) == before.get(path) for path in one.paths), one
        if state == "applied":
            assert (one.path in after) == (one.after != "absent"), one


def test_a_change_that_is_neither_and_leaves_no_trace_is_for_a_person(
    workspace: Workspace, data: Path
) -> None:
    plant(data)
    changes = change(workspace, OVERWRITE).changes
    save(data / "a.txt", "somebody else's")
    recovery = recover_changes(workspace, CALL, changes)
    assert recovery.state == "unknown"
    assert recovery.details["paths"] == ["a.txt"]
    assert contents(data)["a.txt"] == b"somebody else's"


def test_what_is_on_disk_already_is_applied(workspace: Workspace, data: Path) -> None:
    plant(data)
    changes = change(workspace, OVERWRITE).changes
    (data / "a.txt").write_text("overwritten")
    assert recover_changes(workspace, CALL, changes) == ("applied", {})


def test_ours_waiting_under_its_private_name_over_a_foreign_file_is_not_applied(
    workspace: Workspace, data: Path
) -> None:
    plant(data)
    changes = change(workspace, OVERWRITE).changes
    save(data / "a.txt", "edited")
    (data / private_name(CALL, 0, "old")).write_text("overwritten")
    before = contents(data)
    recovery = recover_changes(workspace, CALL, changes)
    assert recovery.state == "not_applied"
    assert recovery.details["code"] == "CHANGED"
    del before[private_name(CALL, 0, "old")]
    assert contents(data) == before


def test_a_foreign_file_that_came_out_is_put_back_on_top(project: Path, data: Path) -> None:
    plant(data)
    with open_workspace(project) as workspace:
        changes = change(workspace, OVERWRITE).changes
        (data / "a.txt").write_text("overwritten")
        (data / private_name(CALL, 0, "old")).write_text("edited just before")
        assert recover_changes(workspace, CALL, changes).state == "not_applied"
        assert contents(data)["a.txt"] == b"edited just before"


def test_a_move_cut_short_between_its_link_and_its_unlink_is_done(workspace: Workspace, data: Path) -> None:
    plant(data)
    changes = change(workspace, MOVE).changes
    (data / "a.txt").rename(data / "moved.txt")
    os.link(data / "moved.txt", data / private_name(CALL, 0, "src"))
    assert recover_changes(workspace, CALL, changes).state == "applied"
    assert "a.txt" not in contents(data)
    assert (data / "moved.txt").stat().st_nlink == 1


def test_half_written_bytes_are_thrown_away(workspace: Workspace, data: Path) -> None:
    plant(data)
    changes = change(workspace, OVERWRITE).changes
    (data / private_name(CALL, 0, "tmp")).write_text("overwr")
    assert recover_changes(workspace, CALL, changes).state == "applied"
    assert contents(data)["a.txt"] == b"overwritten"
    assert private_name(CALL, 0, "tmp") not in contents(data)


def test_a_missing_blob_leaves_everything_as_it_was(workspace: Workspace, data: Path) -> None:
    plant(data)
    changes = change(workspace, CREATE, OVERWRITE).changes
    workspace.blobs.drop(sha256(b"overwritten"))
    before = snapshot(data)
    recovery = recover_changes(workspace, CALL, changes)
    assert recovery.state == "not_applied"
    assert recovery.details["code"] == "INTERNAL_ERROR"
    assert snapshot(data) == before
