"""What killed processes left in a room's state is swept by the next opening; what living ones use stays."""

import asyncio
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brasstag import Room
from brasstag.app.state import open_state
from brasstag.app.workers import WorkerMarks
from brasstag.store.tasks.processes import YOUNG_SECONDS
from brasstag.surfaces.cli.commands.project import gc
from tests.processes import KILLED, _context, end, start


def leave_files(project: Path, ready: Any, go_on: Any) -> None:
    """Say that this process serves, take in a file, and be killed before it is kept."""
    room_state = open_state(project)
    WorkerMarks(room_state).begin("task_a")
    with room_state.store.blobs.batch() as batch:
        descriptor = os.open(project / "brasstag.toml", os.O_RDONLY)
        batch.put_from(descriptor)
        ready.set()
        go_on.wait(300)
        os.kill(os.getpid(), signal.SIGKILL)


def files_in(project: Path) -> dict[str, int]:
    state = project / ".brasstag"
    names = ("blobs/incoming", "serving", "boots")
    return {name: len(list((state / name).iterdir())) for name in names if (state / name).exists()}


@pytest.fixture
def processes(project: Path) -> Iterator[list[tuple[Any, Any]]]:
    """Two processes that have left files, and what lets each of them die."""
    started = []
    for _ in range(2):
        ready, go_on = _context.Event(), _context.Event()
        process = start(leave_files, project, ready, go_on)
        assert ready.wait(300)
        started.append((process, go_on))
    yield started
    for process, _ in started:
        process.kill()
        process.join()


async def test_an_opening_sweeps_what_the_dead_left_and_nothing_that_the_living_use(
    project: Path, processes: list[tuple[Any, Any]]
) -> None:
    (first, let_first_die), (second, let_second_die) = processes
    let_first_die.set()
    assert end(first) == KILLED
    assert files_in(project) == {"blobs/incoming": 2, "serving": 2, "boots": 2}
    async with Room.open(project):
        assert files_in(project) == {"blobs/incoming": 1, "serving": 1, "boots": 2}
    let_second_die.set()
    assert end(second) == KILLED
    async with Room.open(project):
        assert files_in(project) == {"blobs/incoming": 0, "serving": 0, "boots": 1}


async def test_gc_sweeps_what_the_dead_left_and_nothing_that_the_living_use(
    project: Path, processes: list[tuple[Any, Any]]
) -> None:
    (first, let_first_die), _ = processes
    let_first_die.set()
    assert end(first) == KILLED
    await asyncio.to_thread(gc, grace_days=0, output=None, project=project)
    assert files_in(project) == {"blobs/incoming": 1, "serving": 1, "boots": 1}


async def test_files_that_earlier_releases_left_without_an_owner_go_when_they_are_old(project: Path) -> None:
    incoming = project / ".brasstag" / "blobs" / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    old, young = incoming / "4711-0123456789abcdef", incoming / "4711-fedcba9876543210"
    for file in (old, young):
        file.touch()
    long_ago = time.time() - 2 * YOUNG_SECONDS
    os.utime(old, (long_ago, long_ago))
    async with Room.open(project):
        assert list(incoming.iterdir()) == [young]


def put_on_a_full_disk(project: Path, results: Any) -> None:
    """Put contents where the file system takes only ten bytes of each file."""
    room_state = open_state(project)
    blobs = room_state.store.blobs
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
    try:
        blobs.put(b"x" * 100_000)
    except OSError as error:
        results.put((type(error).__name__, [file.name for file in blobs.incoming.iterdir()]))


def test_a_content_that_does_not_fit_on_the_disk_leaves_no_file(project: Path) -> None:
    results = _context.Queue()
    assert end(start(put_on_a_full_disk, project, results)) == 0
    assert results.get(timeout=60) == ("OSError", [])
