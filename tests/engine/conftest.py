"""A crew for tests of the task graph, on each kind of database."""

from pathlib import Path

import pytest

from tests.conftest import MakeProject
from tests.engine.crews import CREW


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a crew does is fast on SQLite; on Postgres the first test of each file is fast, and all others are slow."""
    seen: set[Path] = set()
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if parameters.get("crew") == "postgres":
            if item.path in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(item.path)


@pytest.fixture(params=["sqlite", "postgres"])
def crew(request: pytest.FixtureRequest, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same crew, and the same behaviour, on either database."""
    if request.param == "postgres":
        monkeypatch.setenv("BRASSTAG_DATABASE_URL", request.getfixturevalue("postgres").url)
    return make_project(CREW)
