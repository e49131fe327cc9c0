"""One runner a user for the whole session; a project a test."""

from collections.abc import Iterator

import pytest

from brasstag.sandbox.process.detecting import programs
from tests.sandbox.process.support import REPOSITORY, USERS, Project, Runner
from tests.sandbox.process.witnesses import Witness, witness


@pytest.fixture(scope="session", params=USERS)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if next(programs(REPOSITORY, ""), None) is None:
        pytest.skip("no bubblewrap here; scripts/bubblewrap.sh installs it")
    runner = Runner(request.param)
    yield runner
    runner.close()


@pytest.fixture
def confined(runner: Runner) -> Project:
    return runner.project()


@pytest.fixture
def server() -> Iterator[Witness]:
    with witness() as seen:
        yield seen
