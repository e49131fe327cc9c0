"""A project with a workspace, over both ways to reach the kernel."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from brasstag.sandbox.workspace.workspace import Workspace
from tests.sandbox.support import open_workspace


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose workspace is data/, with something outside it that must never be seen."""
    project = tmp_path / "project"
    (project / "data").mkdir(parents=True)
    (project / "outside").mkdir()
    (project / "outside" / "secret.txt").write_text("SECRET")
    return project


@pytest.fixture
def data(project: Path) -> Path:
    """The workspace directory, for tests to prepare and inspect with plain functions."""
    return project / "data"


@pytest.fixture(params=[False, True], ids=["native", "portable"])
def portable(request: pytest.FixtureRequest) -> bool:
    """Whether the kernel's newer calls are left unused."""
    return bool(request.param)


@pytest.fixture
def workspace(project: Path, portable: bool) -> Iterator[Workspace]:
    """The same directory as Brasstag holds it."""
    with open_workspace(project, portable) as workspace:
        yield workspace
