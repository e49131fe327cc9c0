"""Rooms for tests: one in memory, and real projects on disk, each with a user directory of its own."""

import gc
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from brasstag.app.project.create import create_project
from brasstag.app.room import Room
from tests.postgres import NOT_HERE, Server, find_binaries

MakeProject = Callable[..., Path]

# Thousands of collected tests stay in memory to the end. A search for garbage goes through them, and with the
# threshold of 700 new objects these searches took an eighth of the processor's time.
gc.set_threshold(20_000)

# No law says how long something takes: on a busy machine that would say nothing.
_untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", _untimed, max_examples=100)
settings.register_profile("quick", _untimed, max_examples=20)
settings.load_profile("thorough")

_shortened: set[object] = set()


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of every later search for garbage: it stays to the end."""
    gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let a law that asks for a number of examples of its own try the share of them that the profile tries."""
    law = getattr(item, "obj", None)
    law = getattr(law, "__func__", law)
    asked = getattr(law, "_hypothesis_internal_use_settings", None)
    # A law that asks for nothing has the profile's number already; one with parameters comes here once for each.
    if asked is not None and asked.max_examples != settings.default.max_examples and law not in _shortened:
        law._hypothesis_internal_use_settings = settings(asked, max_examples=examples(asked.max_examples))
        _shortened.add(law)


def examples(thorough: int) -> int:
    """Return how many examples to try where the thorough profile tries so many."""
    return max(thorough * settings.default.max_examples // 100, min(thorough, 8))


@pytest.fixture(autouse=True)
def _own_user_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the keys of whoever runs it."""
    monkeypatch.setenv("BRASSTAG_USER_DIR", str(tmp_path / "user"))
    monkeypatch.delenv("BRASSTAG_APPROVER_TOKEN", raising=False)
    monkeypatch.delenv("BRASSTAG_DATABASE_URL", raising=False)


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Make a project as `brasstag init` does, with more settings where wanted."""

    def make(
        settings: str = "", *, profile: str = "careful", workspace: str = "data", name: str = "project"
    ) -> Path:
        project = tmp_path / name
        create_project(project, workspace, profile)  # type: ignore[arg-type]
        if settings:
            rooms = f'[room]\nworkspace = "{workspace}"\nprofile = "{profile}"\n'
            (project / "brasstag.toml").write_text(f"{rooms}\n{settings}")
            accept(project)
        return project

    return make


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    return make_project()


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    """A room in memory over a real directory."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with Room.in_memory(workspace) as opened:
        yield opened


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this machine stand in Tokyo, nine hours before Greenwich all year."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A Postgres for this process's tests; each keeps to a schema of its own, and may restart the server."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(NOT_HERE)
    server = Server(binaries)
    yield server
    server.remove()


def accept(project: Path) -> None:
    """Accept the control files as they are, as a person would with `brasstag trust`."""
    from brasstag.app.project.trust import Trust
    from brasstag.app.state import open_state, require_same_room

    room_state = open_state(project)
    trust = Trust(project, room_state.folder)
    trust.accept(trust.changes())
    require_same_room(project, room_state, accept=True)
    room_state.close()
