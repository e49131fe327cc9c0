import errno
import os
from pathlib import Path

import pytest

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.draft import Draft
from brasstag.sandbox.workspace.workspace import Workspace, kernel_support
from brasstag.words.errors import Code
from tests.sandbox.support import fails, open_workspace


def test_a_directory_is_opened_only_by_a_path_without_links(workspace: Workspace, data: Path) -> None:
    (data / "a" / "b").mkdir(parents=True)
    (data / "file").write_text("")
    (data / "link").symlink_to("a")
    for path in (".", "a", "a/b"):
        with workspace.directory(path) as directory:
            assert os.fstat(directory).st_ino == (data / path).stat().st_ino
    for path, number in [
        ("link", errno.ELOOP),
        ("link/b", errno.ELOOP),
        ("file", errno.ENOTDIR),
        ("file/x", errno.ENOTDIR),
        ("none", errno.ENOENT),
        ("none/x", errno.ENOENT),
    ]:
        with pytest.raises(OSError, match=os.strerror(number)) as caught:
            workspace.open_directory(path)
        assert caught.value.errno == number, path


def test_a_workspace_stays_what_it_was_when_its_name_is_given_to_another(
    workspace: Workspace, project: Path, data: Path
) -> None:
    (data / "f").write_text("mine")
    data.rename(project / "renamed")
    data.mkdir()
    (data / "f").write_text("other")
    assert Draft(workspace, writable=False).read_text("f") == "mine"


def test_a_closed_workspace_reaches_nothing(project: Path, data: Path) -> None:
    (data / "f").write_text("f")
    workspace = open_workspace(project)
    workspace.close()
    workspace.close()
    with fails(Code.EXECUTION_ERROR):
        Draft(workspace, writable=False).read_text("f")


def test_where_the_kernel_has_no_openat2_it_is_done_without(
    project: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_arguments: object) -> int:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    (data / "d").mkdir()
    (data / "d" / "f").write_text("f")
    assert kernel_support(data) == "opened by openat2; overwritten files are exchanged"
    monkeypatch.setattr(syscalls, "openat2", refused)
    with open_workspace(project) as workspace:
        assert Draft(workspace, writable=False).read_text("d/f") == "f"
    assert "name by name" in kernel_support(data)
