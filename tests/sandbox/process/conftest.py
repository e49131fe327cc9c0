"""One runner a user for the whole session; a project a test."""

from collections.abc import Iterator

import pytest

from brasstag.sandbox.process.detect import programs
from tests.sandbox.process.support import REPOSITORY, USERS, Project, Runner
from tests.sandbox.process.witnesses import Witness, witness

# What holds for an ordinary user is tried as root, too, which takes as long again.
AS_EACH = [pytest.param(user, marks=() if user == "ordinary" else pytest.mark.slow) for user in USERS]


@pytest.fixture(scope="session", params=AS_EACH)
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
