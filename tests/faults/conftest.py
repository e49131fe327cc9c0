"""Worlds for the fault tests, on either database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.crews import Script
from tests.faults.harness import World
from tests.faults.mill import WHOLE, Mill
from tests.postgres import Server

MakeWorld = Callable[..., World]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of every fault the first point is fast, on SQLite where it can be; all others, and Postgres, take long."""
    seen: set[str] = set()
    for item in items:
        if Path(__file__).parent in item.path.parents:
            law = item.nodeid.partition("[")[0]
            if law in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(law)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the room keeps its state: an empty text means SQLite."""
    if request.param == "sqlite":
        return ""
    server: Server = request.getfixturevalue("postgres")
    monkeypatch.setenv("BRASSTAG_DATABASE_URL", server.url)
    return server.url


@pytest.fixture
def make_world(tmp_path: Path, url: str) -> Iterator[MakeWorld]:
    """Make worlds, and end their workers with the test."""
    worlds: list[World] = []

    def make(script: Script = WHOLE, name: str = "mill") -> World:
        worlds.append(World(Mill.build(tmp_path / name, script), url))
        return worlds[-1]

    yield make
    for world in worlds:
        world.kill()
