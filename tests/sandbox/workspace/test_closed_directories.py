"""Directories that are closed to their owner: what is in them lands, and survives kill -9, for ordinary users too."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.change.apply import apply_changes
from brasstag.sandbox.workspace.change.recover import recover_changes
from brasstag.sandbox.workspace.draft import Draft
from tests.sandbox.support import DieAt, change, ended, fork, open_workspace, snapshot

ORDINARY = 65534
KILLED = -9

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can look into what is closed to its owner"
)


@pytest.fixture
def project() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="closing-"))
    yield place
    shutil.rmtree(place)


def fill(project: Path) -> None:
    data = project / "data"
    shutil.rmtree(data, ignore_errors=True)
    (data / "was open").mkdir(parents=True)
    (data / "was open" / "old").write_text("old")
    for place in (project, data, data / "was open", data / "was open" / "old"):
        os.chown(place, ORDINARY, ORDINARY)


def draw(draft: Draft) -> None:
    draft.make_directory("new", 0o500)
    draft.make_directory("new/shut", 0)
    draft.write_text("new/shut/in", "in")
    draft.write_text("was open/old", "new")
    draft.set_directory_mode("was open", 0o500)


def as_ordinary_user(project: Path, step: int) -> None:
    os.setgroups([])
    os.setresgid(ORDINARY, ORDINARY, ORDINARY)
    os.setresuid(ORDINARY, ORDINARY, ORDINARY)
    with open_workspace(project) as workspace:
        changes = change(workspace, draw).changes
        child = fork(lambda: apply_changes(workspace, "call_test", changes, DieAt(step)))
        died = ended(child) == KILLED
        assert recover_changes(workspace, "call_test", changes).state == "applied"
        # Seen by who asks: the last step is the one at which nobody died.
        os._exit(1 if died else 0)


def test_killed_at_any_step_what_is_in_closed_directories_lands(project: Path) -> None:
    steps = 0
    code = 1
    while code == 1:
        fill(project)
        code = ended(fork(lambda: as_ordinary_user(project, steps)))  # noqa: B023 - ended before the next
        found = {name: (data, mode) for name, (_, data, mode) in snapshot(project / "data").items()}
        assert found == {
            "new": (b"", 0o500),
            "new/shut": (b"", 0),
            "new/shut/in": (b"in", 0o644),
            "was open": (b"", 0o500),
            "was open/old": (b"new", 0o644),
        }, (steps, code)
        steps += 1
    assert code == 0
    assert steps > 10
