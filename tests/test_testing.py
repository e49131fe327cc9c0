"""What is shipped for tests of others."""

import os
from pathlib import Path

import pytest

from brasstag import Room
from brasstag.settings import user_directory
from brasstag.testing.accept import accepted
from brasstag.words.errors import ConfigError, UntrustedError


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A project as files alone: no room was opened in it."""
    project = tmp_path / "fresh"
    (project / "tools").mkdir(parents=True)
    (project / "brasstag.toml").write_text('[room]\nworkspace = "data"\n')
    (project / "data").mkdir()
    return project


async def test_control_files_count_as_accepted_while_the_block_runs(fresh: Path) -> None:
    own = user_directory()
    with accepted(fresh) as folder:
        assert user_directory() == folder != own
        async with Room.open(fresh) as room:
            assert room.workspace == fresh / "data"
    assert user_directory() == own
    assert not folder.exists()
    assert not (own / "rooms").exists()
    # The account of the person has accepted nothing.
    with pytest.raises(UntrustedError):
        async with Room.open(fresh):
            pass


async def test_a_change_within_the_block_is_not_accepted_by_itself(fresh: Path) -> None:
    with accepted(fresh):
        (fresh / "brasstag.toml").write_text('[room]\nprofile = "trusted"\n')
        with pytest.raises(UntrustedError):
            async with Room.open(fresh):
                pass


def test_a_project_with_a_room_is_refused_and_stays_as_it_is(project: Path) -> None:
    before = sorted(path for path in project.rglob("*"))
    with pytest.raises(ConfigError, match="is the state of a room"), accepted(project):
        pass
    assert sorted(path for path in project.rglob("*")) == before


def test_what_does_not_load_is_refused_and_the_user_directory_is_given_back(fresh: Path) -> None:
    before = os.environ["BRASSTAG_USER_DIR"]
    (fresh / "tools" / "broken.py").write_text("import no_such_package\n")
    with pytest.raises(ConfigError, match=r"no_such_package.*line 1"), accepted(fresh):
        pass
    assert os.environ["BRASSTAG_USER_DIR"] == before
    assert not (fresh / ".brasstag").exists()
