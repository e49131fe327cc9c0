"""A crew for tests of the task graph, on each kind of database."""

from pathlib import Path

import pytest

from tests.conftest import MakeProject
from tests.engine.crews import CREW


@pytest.fixture(params=["sqlite", "postgres"])
def crew(request: pytest.FixtureRequest, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same crew, and the same behaviour, on either database."""
    if request.param == "postgres":
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
    return make_project(CREW)
