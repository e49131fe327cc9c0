import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from brasstag.sandbox import syscalls
from brasstag.sandbox.workspace.change.renames import (
    UNREADABLE,
    Renames,
    discard,
    exists,
    identity,
    state_at,
)
from brasstag.words.canonical import sha256
from brasstag.words.previews import ABSENT, DIRECTORY, file_state, link_state


@pytest.fixture
def renames(portable: bool) -> Renames:
    return Renames(native=not portable)


@pytest.fixture
def here(data: Path) -> Iterator[int]:
    (data / "a").write_text("a")
    (data / "b").write_text("b")
    (data / "link").symlink_to("a")
    (data / "d").mkdir()
    directory = os.open(data, os.O_RDONLY)
    yield directory
    os.close(directory)


@pytest.mark.parametrize("name", ["a", "link", "d"])
def test_taking_and_placing_move_anything_there_is(renames: Renames, here: int, name: str) -> None:
    before = state_at(here, name)
    renames.take(here, name, here, "private")
    assert not exists(here, name)
    renames.place(here, "private", here, name)
    assert state_at(here, name) == before
    assert not exists(here, "private")


def test_taking_never_replaces_what_is_under_the_private_name(
    renames: Renames, here: int, data: Path
) -> None:
    with pytest.raises(FileExistsError):
        renames.take(here, "a", here, "b")
    assert [(data / name).read_text() for name in "ab"] == ["a", "b"]


def test_placing_never_replaces_what_is_there(renames: Renames, here: int, data: Path) -> None:
    for name in ("b", "link"):
        with pytest.raises(FileExistsError):
            renames.place(here, "a", here, name)
    assert [(data / name).read_text() for name in "ab"] == ["a", "b"]


def test_an_exchange_is_one_step_or_none(renames: Renames, here: int, data: Path, portable: bool) -> None:
    if portable:
        with pytest.raises(OSError, match="not implemented") as caught:
            renames.exchange(here, "a", "b")
        assert caught.value.errno in syscalls.MISSING
        assert (data / "a").read_text() == "a"
    else:
        renames.exchange(here, "a", "b")
        assert (data / "a").read_text() == "b"


def test_states_tell_one_thing_from_another(here: int, data: Path) -> None:
    os.mkfifo(data / "pipe")
    assert state_at(here, "a") == file_state(sha256(b"a"))
    assert state_at(here, "link") == link_state(sha256(b"a"))
    assert state_at(here, "d") == DIRECTORY
    assert state_at(here, "none") == ABSENT
    assert state_at(here, "pipe") == UNREADABLE
    assert identity(here, "none") is None
    (data / "copy").write_text("a")
    assert identity(here, "a") != identity(here, "copy")


def test_discarding_what_is_not_there_is_no_error(here: int) -> None:
    discard(here, "a")
    discard(here, "a")
    assert not exists(here, "a")
